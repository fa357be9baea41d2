"""Every engine keeps the contract."""

from pathlib import Path

import pytest

from kb_pipeline.engines import ENGINES, open_engine
from kb_pipeline.errors import SettingsError
from kb_pipeline.services.embedder import open_embedder
from kb_pipeline.settings import Options, Settings
from kb_pipeline.world import Engine
from kb_pipeline_tests.engines import contract


@pytest.fixture(params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each engine in turn, over the hashing embedder."""
    settings = Settings(root=Path(), options=Options(engine=request.param))
    return open_engine(settings, open_embedder("hashing"))


def test_names_its_versions_and_modules(engine: Engine) -> None:
    """A recipe can name what decides each task."""
    contract.check_names(engine)


def test_quotes_verbatim(engine: Engine) -> None:
    """Spans are slices of the chunk and hashes follow from what is stated."""
    contract.check_spans(engine)


def test_rejects_what_states_nothing(engine: Engine) -> None:
    """Questions and navigation give no draft."""
    contract.check_rejects(engine)


def test_tags_from_closed_lists(engine: Engine) -> None:
    """Categories are closed and tags normal."""
    contract.check_tagging(engine)


def test_asks_what_can_be_asked(engine: Engine) -> None:
    """Questions promise an answer only where there is one."""
    contract.check_questions(engine)


def test_is_deterministic(engine: Engine) -> None:
    """Extraction depends on the chunk alone."""
    contract.check_determinism(engine)


def test_unknown_engine_is_refused() -> None:
    """A wrong name is an error that lists the right ones."""
    settings = Settings(root=Path(), options=Options(engine="oracle"))
    with pytest.raises(SettingsError, match=r"unknown engine 'oracle'\. Known engines: .*extractive"):
        open_engine(settings, open_embedder("hashing"))
