"""The embedders by name. Knows which there are, not how they work."""

from collections.abc import Callable

from kb_pipeline.errors import SettingsError
from kb_pipeline.services.caching import CachedEmbedder, MemoryCache, Model
from kb_pipeline.services.hashing import HashingEmbedder
from kb_pipeline.services.minilm import MiniLM
from kb_pipeline.world import VectorCache

EMBEDDERS: dict[str, Callable[[], Model]] = {
    "minilm": MiniLM,
    "hashing": HashingEmbedder,
}


def open_embedder(name: str, cache: VectorCache | None = None) -> CachedEmbedder:
    """The embedder of that name over ``cache`` (by default one that lasts as long as the process).

    Nothing is loaded before the first text that the cache does not hold. Raises ``SettingsError`` for other names.
    """
    if name not in EMBEDDERS:
        raise SettingsError(
            f"unknown embedder {name!r}.",
            where="settings.embedder",
            cure=f"Known embedders: {', '.join(EMBEDDERS)}.",
        )
    model = EMBEDDERS[name]()
    return CachedEmbedder(model, cache if cache is not None else MemoryCache(model.dim))
