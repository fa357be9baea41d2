"""Who does the thinking. One table of engines; every one implements ``world.Engine`` and passes the same tests."""

from collections.abc import Callable

from kb_pipeline.engines.extractive import Extractive
from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import Settings
from kb_pipeline.world import ChatClient, Embedder, Engine, Here, Pool

AUTO = "auto"
Factory = Callable[[Settings, Embedder, ChatClient | None, Pool], Engine]


def _extractive(settings: Settings, embedder: Embedder, _: ChatClient | None, pool: Pool) -> Engine:
    return Extractive(settings, embedder, pool)


def _openai(settings: Settings, _: Embedder, client: ChatClient | None, pool: Pool) -> Engine:
    del pool  # what waits for a model needs no processor
    if client is None:
        raise SettingsError(
            "the engine 'openai' needs an endpoint.",
            where="settings",
            cure="Set KB_LLM_BASE_URL and KB_LLM_MODEL, in the environment or in .env.",
        )
    from kb_pipeline.engines.openai import OpenAi  # of no use, and 20 ms, to who asks no model

    return OpenAi(settings, client)


ENGINES: dict[str, Factory] = {"extractive": _extractive, "openai": _openai}


def engine_of(settings: Settings) -> str:
    """The name of the engine that the settings choose: left to themselves, the model's where one is named."""
    name = settings.options.engine
    if name != AUTO:
        return name
    return "openai" if settings.endpoint and settings.endpoint.model else "extractive"


def open_engine(
    settings: Settings, embedder: Embedder, client: ChatClient | None = None, pool: Pool | None = None
) -> Engine:
    """The engine that the settings name; ``client`` asks the endpoint that they name, rules work in ``pool``.

    Raises ``SettingsError`` for a name that is not in ``ENGINES``, and where a model is needed that is not named.
    """
    name = engine_of(settings)
    if name not in ENGINES:
        known = ", ".join(sorted(ENGINES))
        raise SettingsError(
            f"unknown engine {name!r}. Known engines: {known}.",
            where="settings",
            cure="Set engine: under settings: in sources.yaml, or KB_ENGINE, to one of them.",
        )
    return ENGINES[name](settings, embedder, client, pool or Here())
