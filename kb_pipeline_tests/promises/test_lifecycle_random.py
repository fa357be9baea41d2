"""Promise 4, whatever happens: any sequence of edits, built in between or killed at any change of a file, ends where a
build from scratch over the final sources does.

Few examples by default, the same each time; ``HYPOTHESIS_PROFILE=nightly`` looks at new ones, and at many.
"""

import os
import shutil
import signal
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from kb_pipeline_tests import dying
from kb_pipeline_tests.driving import compile_all
from kb_pipeline_tests.promises.lifecycle_corpus import ACTIVE, DOCUMENTS, SUPERSEDED
from kb_pipeline_tests.promises.lifecycle_edits import Copy, Edit, Move, Remove, Write
from kb_pipeline_tests.promises.lifecycle_people import Decide, HideItem, RestoreItem, RetireItem
from kb_pipeline_tests.promises.lifecycle_playing import begin, few
from kb_pipeline_tests.promises.lifecycle_script_facts import VERSIONS, WITNESSES
from kb_pipeline_tests.promises.lifecycle_script_places import PLACES, REGISTRY
from kb_pipeline_tests.promises.lifecycle_script_texts import FORMS, WORDS
from kb_pipeline_tests.promises.lifecycle_state import from_scratch, ghosts, knowledge, registered
from kb_pipeline_tests.promises.test_1_proven import unproven

_STEPS = (*WORDS, *FORMS, *PLACES, *WITNESSES, *VERSIONS, *REGISTRY)
_SENTENCES = sorted({*ACTIVE, *SUPERSEDED, *(s for step in _STEPS for s in (*step.new, *step.older))})
_PATHS = (*DOCUMENTS, "notes/new.md", "runbooks/a/new.md", "releases/tern-2.1.md", "releases/policy-2026-09.md")
# More of one pattern than a statement has neighbours on record: which of them are pairs depends on all of them.
_PATTERN = tuple(f"The scale number {n} weighs parcels of up to {n + 100} grams." for n in range(40))
_ALWAYS = settings(deadline=None, database=None, suppress_health_check=list(HealthCheck))

settings.register_profile("default", _ALWAYS, max_examples=6, derandomize=True)
settings.register_profile("nightly", _ALWAYS, max_examples=300)
PROFILE = settings.get_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@dataclass(frozen=True)
class Turn:
    """Edits, and what happens then: ``""`` nothing, ``build``, or ``kill`` at the n-th change of a file."""

    edits: tuple[Edit, ...]
    then: str
    at: int = 0


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A document of some of the sentences, under a heading or two, perhaps with a date."""
    some = draw(st.lists(st.sampled_from(_SENTENCES), max_size=6))
    more = draw(st.lists(st.sampled_from(_PATTERN), max_size=40, unique=True) if draw(st.booleans()) else st.just([]))
    date = draw(st.sampled_from(("", "---\ndate: 2025-09-01\n---\n", "---\ndate: 2026-09-01\n---\n")))
    return f"{date}# Part\n\n{' '.join(some)}\n\n## Rest\n\n{' '.join(more)}\n"


def edits() -> st.SearchStrategy[tuple[Edit, ...]]:
    """The edits of a step of the script, or one that nobody thought of, of a document or of an item."""
    path, statement = st.sampled_from(_PATHS), st.sampled_from(_SENTENCES)
    return st.one_of(
        st.sampled_from([step.edits for step in _STEPS]),
        st.tuples(st.builds(Write, path, texts())),
        st.tuples(st.builds(Move, path, path)),
        st.tuples(st.builds(Copy, path, path)),
        st.tuples(st.builds(Remove, path)),
        st.tuples(st.builds(Decide, st.sampled_from(("merge", "keep", "supersede", "retire")), statement, statement)),
        st.tuples(st.builds(HideItem, statement)),
        st.tuples(st.builds(RetireItem, statement)),
        st.tuples(st.builds(RestoreItem, statement)),
    )


def histories() -> st.SearchStrategy[list[Turn]]:
    """One to six turns."""
    then = st.sampled_from(("", "build", "kill"))
    return st.lists(st.builds(Turn, edits(), then, st.integers(1, 600)), min_size=1, max_size=6)


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The knowledge base that every history begins with; not to be changed."""
    return begin(tmp_path_factory.mktemp("start") / "base")


@settings(PROFILE)
@given(history=histories())
def test_any_history_ends_where_a_fresh_build_does(start: Path, history: list[Turn]) -> None:
    """Same active items, superseded ones and conflicts; all proven; nothing lives of what is gone; nothing is left to
    do."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(shutil.copytree(start, Path(folder) / "base"))
        for turn in history:
            live(root, turn)
        with few(root) as base:
            compile_all(base)
            assert [f for f in base.check() if f.blocking and not f.ok and f.stage != "eval"] == []
            assert not base.stale()
            assert ghosts(base, root, ()) == []
        assert [unproven(root, status) for status in ("active", "superseded", "retired")] == [[], [], []]
        assert knowledge(root) == knowledge(from_scratch(root, Path(folder) / "scratch"))


def live(root: Path, turn: Turn) -> None:
    """Make the edits that apply; then build, or die building."""
    note(str(turn))
    registry = root / "sources.yaml"
    before = registry.read_text()
    for edit in turn.edits:
        edit.apply(root)
    ids = [source["id"] for source in registered(root)]
    if len(ids) > len({*ids}):  # refused, with the line that is wrong; so it is mended
        registry.write_text(before)
    if turn.then == "build":
        with few(root) as base:
            compile_all(base)
    elif turn.then == "kill":
        killed(root, turn.at)


def killed(root: Path, at: int) -> None:
    """Build in a child that kills itself before its n-th change of a file, if there are that many."""
    if (child := os.fork()) == 0:
        status = 1
        try:
            dying.main(root, at)
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) in {0, -signal.SIGKILL}
