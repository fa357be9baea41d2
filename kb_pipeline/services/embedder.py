"""The embedders by name. Knows which there are, not how they work."""

from collections.abc import Callable

from kb_pipeline.errors import SettingsError
from kb_pipeline.services.caching import CachedEmbedder, MemoryCache, Model
from kb_pipeline.services.hashing import HashingEmbedder
from kb_pipeline.services.minilm import MiniLM
from kb_pipeline.settings import Settings
from kb_pipeline.world import VectorCache

EMBEDDERS: dict[str, Callable[[], Model]] = {
    "minilm": MiniLM,
    "hashing": HashingEmbedder,
}
ENDPOINT = "endpoint"


def embedder_of(settings: Settings) -> str:
    """The name of the embedder that the settings choose: the endpoint's where ``KB_EMBED_MODEL`` is set."""
    return ENDPOINT if settings.endpoint and settings.endpoint.embed_model else settings.options.embedder


def open_embedder(
    name: str,
    cache: VectorCache | Callable[[int], VectorCache] | None = None,
    endpoint: Callable[[], Model] | None = None,
) -> CachedEmbedder:
    """The embedder of that name over ``cache`` (by default one that lasts as long as the process), or over the one
    that ``cache`` gives for the vectors' length; ``endpoint`` makes the one of that name.

    Nothing is loaded before the first text that the cache does not hold. Raises ``SettingsError`` for other names.
    """
    known = EMBEDDERS if endpoint is None else {**EMBEDDERS, ENDPOINT: endpoint}
    if name not in known:
        cure = f"Known embedders: {', '.join(EMBEDDERS)}; KB_EMBED_MODEL chooses one of the endpoint."
        raise SettingsError(f"unknown embedder {name!r}.", where="settings.embedder", cure=cure)
    model = known[name]()
    held = cache(model.dim) if callable(cache) else cache
    return CachedEmbedder(model, MemoryCache(model.dim) if held is None else held)
