"""Every engine keeps the contract."""

from pathlib import Path

import pytest

from kb_pipeline.engines import ENGINES, engine_of, open_engine
from kb_pipeline.errors import SettingsError
from kb_pipeline.services.embedder import open_embedder
from kb_pipeline.settings import Endpoint, Options, Settings
from kb_pipeline.world import Engine
from kb_pipeline_tests.engines import contract
from kb_pipeline_tests.fakes import ScriptedChat, honestly


@pytest.fixture(params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each engine in turn, over the hashing embedder and an honest model."""
    settings = Settings(root=Path(), options=Options(engine=request.param))
    return open_engine(settings, open_embedder("hashing"), ScriptedChat(honestly))


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


def test_answers_with_what_carries_it(engine: Engine) -> None:
    """Sentences cite what they rest on; another subject has none."""
    contract.check_answers(engine)


def test_chooses_from_what_it_is_shown(engine: Engine) -> None:
    """Picks are in the catalogue and scores in their range."""
    contract.check_choices(engine)


def test_asks_what_can_be_asked(engine: Engine) -> None:
    """Questions promise an answer only where there is one."""
    contract.check_questions(engine)


def test_is_deterministic(engine: Engine) -> None:
    """Extraction depends on the chunk alone."""
    contract.check_determinism(engine)


def test_a_model_that_is_named_does_the_thinking() -> None:
    """Left to themselves the settings choose the model where there is one; a named engine wins over that."""
    endpoint = Endpoint(base_url="http://127.0.0.1:1/v1", model="m")
    assert engine_of(Settings(root=Path())) == "extractive"
    assert engine_of(Settings(root=Path(), endpoint=endpoint)) == "openai"
    assert engine_of(Settings(root=Path(), endpoint=endpoint, options=Options(engine="extractive"))) == "extractive"
    assert (
        engine_of(Settings(root=Path(), endpoint=Endpoint(base_url=endpoint.base_url, embed_model="e"))) == "extractive"
    )


def test_a_model_must_be_named() -> None:
    """The engine that asks one says what is missing."""
    with pytest.raises(SettingsError, match="Set KB_LLM_BASE_URL and KB_LLM_MODEL"):
        open_engine(Settings(root=Path(), options=Options(engine="openai")), open_embedder("hashing"))


def test_unknown_engine_is_refused() -> None:
    """A wrong name is an error that lists the right ones."""
    settings = Settings(root=Path(), options=Options(engine="oracle"))
    with pytest.raises(SettingsError, match=r"unknown engine 'oracle'\. Known engines: .*extractive"):
        open_engine(settings, open_embedder("hashing"))
