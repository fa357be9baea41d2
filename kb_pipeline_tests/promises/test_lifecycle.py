"""A life of a knowledge base, in chapters of edits as people make them. After every single one: what is known is what
was written down by hand, and what a build from scratch over the same sources gives; every quote stands; nothing lives
of what is gone; no citation was lost; and no more was done than the edit asked for."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kb_pipeline_tests.driving import Cli, compile_all
from kb_pipeline_tests.engines.modelled import modelled
from kb_pipeline_tests.fakes import ScriptedChat, honestly
from kb_pipeline_tests.promises.lifecycle_corpus import ACTIVE, SUPERSEDED
from kb_pipeline_tests.promises.lifecycle_edits import Expected, Step
from kb_pipeline_tests.promises.lifecycle_playing import agrees, begin, edit, few, play
from kb_pipeline_tests.promises.lifecycle_script_facts import VERSIONS, WITNESSES
from kb_pipeline_tests.promises.lifecycle_script_people import PEOPLE
from kb_pipeline_tests.promises.lifecycle_script_places import PLACES, REGISTRY
from kb_pipeline_tests.promises.lifecycle_script_texts import FORMS, WORDS
from kb_pipeline_tests.promises.lifecycle_state import from_scratch, ghosts, knowledge

CHAPTERS = {
    "words": WORDS,
    "forms": FORMS,
    "places": PLACES,
    "witnesses": WITNESSES,
    "versions": VERSIONS,
    "registry": REGISTRY,
    "people": PEOPLE,
}
NAMED = {step.name: step for chapter in CHAPTERS.values() for step in chapter}
CHECKPOINTS = (
    "reword a sentence",
    "rename",
    "copy to another source",
    "one of two witnesses contradicts",
    "a new version",
    "deleted",
)


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The knowledge base that every chapter begins with; not to be changed."""
    return begin(tmp_path_factory.mktemp("start") / "base")


@pytest.fixture(autouse=True)
def without_a_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here survives the machine: waiting for the disk would be most of the time."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def test_the_script_is_long() -> None:
    """Sixty steps at the least, each under a name of its own."""
    assert len(NAMED) == sum(map(len, CHAPTERS.values())) >= 60


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_after_every_edit_all_is_known_and_nothing_else(start: Path, tmp_path: Path, chapter: str) -> None:
    """Each step of the script is compiled and compared with what is expected, and with a build from scratch; in the end
    a full build tells the same, and so does one of what git keeps alone."""
    root = Path(shutil.copytree(start, tmp_path / "base"))
    expected = Expected.of(ACTIVE, SUPERSEDED)
    agrees(root, expected)
    for step in CHAPTERS[chapter]:
        with told(step):
            play(root, step, expected)
            assert knowledge(root) == knowledge(from_scratch(root, tmp_path / "scratch"))
    known = knowledge(root)
    for lost in ((), ("cache", "index", "chunks", "atomic_items")):
        for folder in lost:
            shutil.rmtree(root / "kb" / folder)
        with few(root) as base:
            compile_all(base, full=True)
            assert ghosts(base, root, ()) == []
        assert knowledge(root) == known


@contextmanager
def told(step: Step) -> Iterator[None]:
    """Name the step in which something went wrong."""
    try:
        yield
    except Exception as error:
        error.add_note(f"in the step {step.name!r}")
        raise


@pytest.mark.parametrize("chapter", ["words", "witnesses"])
def test_a_model_lives_the_same_life(tmp_path: Path, chapter: str) -> None:
    """Thought through by a model that is honest, the same is known after each step; a build from scratch needs no reply
    that was not kept, and an edit asks about the chunks that changed alone."""
    chat = ScriptedChat(honestly)
    root, scratch = begin(tmp_path / "base", lambda root: modelled(root, chat)), tmp_path / "scratch"
    expected = Expected.of(ACTIVE, SUPERSEDED)
    agrees(root, expected)
    for step in CHAPTERS[chapter]:
        chat.asked.clear()
        with told(step):
            play(root, step, expected, lambda root: modelled(root, chat))
            touched = len({change.path for change in step.edits if hasattr(change, "path")})
            assert chat.tasks()["extract"] <= 2 * touched
            asked = len(chat.asked)
            assert knowledge(root) == knowledge(from_scratch(root, scratch, lambda root: modelled(root, chat)))
            assert len(chat.asked) == asked


def test_the_command_line_tells_the_same(start: Path, tmp_path: Path) -> None:
    """At a few checkpoints, built, checked and searched as people do it."""
    cli = Cli(Path(shutil.copytree(start, tmp_path / "base")))
    expected = Expected.of(ACTIVE, SUPERSEDED)
    for name in CHECKPOINTS:
        with told(NAMED[name]):
            edit(cli.root, NAMED[name])
            expected.after(NAMED[name])
            report = cli.build()
            assert report["failed"] == []
            agrees(cli.root, expected)
            for statement in (*NAMED[name].gone, *NAMED[name].older):
                assert statement not in [hit["text"] for hit in cli.hits(statement) if hit["kind"] == "item"]
    assert [f for f in cli.json("check") if f["blocking"] and not f["ok"]] == []
    assert knowledge(cli.root) == knowledge(from_scratch(cli.root, tmp_path / "scratch"))
