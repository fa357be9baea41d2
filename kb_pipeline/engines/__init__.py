"""Who does the thinking. One table of engines; every one implements ``world.Engine`` and passes the same tests."""

from collections.abc import Callable

from kb_pipeline.engines.extractive import Extractive
from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import Settings
from kb_pipeline.world import Embedder, Engine

Factory = Callable[[Settings, Embedder], Engine]

ENGINES: dict[str, Factory] = {"extractive": Extractive}


def open_engine(settings: Settings, embedder: Embedder) -> Engine:
    """The engine that the settings name. Raises ``SettingsError`` for a name that is not in ``ENGINES``."""
    name = settings.options.engine
    if name not in ENGINES:
        known = ", ".join(sorted(ENGINES))
        raise SettingsError(
            f"unknown engine {name!r}. Known engines: {known}.",
            where="settings",
            cure="Set engine: under settings: in sources.yaml, or KB_ENGINE, to one of them.",
        )
    return ENGINES[name](settings, embedder)
