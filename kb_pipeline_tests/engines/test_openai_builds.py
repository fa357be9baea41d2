"""What a build asks of a model, what it asks again, and what stands where nobody answers."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kb_pipeline import prompts
from kb_pipeline.errors import BudgetSpent, KbError, ModelError
from kb_pipeline.records import Ask
from kb_pipeline_tests.driving import Cli, compile_all, opened, write
from kb_pipeline_tests.engines.modelled import base_of, built, modelled
from kb_pipeline_tests.fakes import ScriptedChat, honestly
from kb_pipeline_tests.project import ROOT
from kb_pipeline_tests.promises.documents import DOCUMENTS


def test_a_rebuild_asks_nothing(tmp_path: Path) -> None:
    """With kept replies nothing is asked twice: neither after a run that changed nothing, nor when all is made anew."""
    root = base_of(tmp_path / "base")
    chat = ScriptedChat(honestly)
    built(root, chat)
    assert {"extract", "tag", "questions"} <= chat.tasks().keys()
    items, asked = Cli(root).items(), len(chat.asked)
    assert not built(root, chat)
    with modelled(root, chat) as base:
        compile_all(base, full=True)
    assert len(chat.asked) == asked
    assert Cli(root).items() == items


def test_one_edited_paragraph_asks_about_its_chunk_alone(tmp_path: Path) -> None:
    """Of a long document, the edited chunk is extracted again; only new items are filed."""
    sections = [
        f"## Part {n}\n\n"
        + " ".join(f"Machine {n}-{m} of hall {n} holds {n * 7 + m} boxes of grain." for m in range(12))
        for n in range(60)
    ]
    root = base_of(tmp_path / "base", {"notes/halls.md": "# Halls\n\n" + "\n\n".join(sections)})
    chat = ScriptedChat(honestly)
    built(root, chat)
    chat.asked.clear()
    edited = "\n\n".join(sections).replace(
        "Machine 30-3 of hall 30 holds 213 boxes", "Machine 30-3 of hall 30 holds 999 boxes"
    )
    write(root, {"notes/halls.md": "# Halls\n\n" + edited})
    built(root, chat)
    assert chat.tasks()["extract"] == 1
    assert chat.tasks()["tag"] == 1
    assert sum(chat.tasks().values()) - chat.tasks()["judge"] <= 3


def test_a_renamed_document_asks_nothing(tmp_path: Path) -> None:
    """A rename or a move costs no call."""
    root = base_of(tmp_path / "base")
    chat = ScriptedChat(honestly)
    built(root, chat)
    asked = len(chat.asked)
    (root / "notes/cache.md").rename(root / "handbook/moved.md")
    built(root, chat)
    assert len(chat.asked) == asked


@pytest.fixture
def edit_prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Edits a prompt, in a copy of their folder."""
    folder = tmp_path / "prompts"
    folder.mkdir()
    for name in prompts.names():
        (folder / f"{name}.md").write_text((prompts._FOLDER / f"{name}.md").read_text())
    monkeypatch.setattr(prompts, "_FOLDER", folder)
    prompts.prompt.cache_clear()

    def edit(name: str) -> None:
        path = folder / f"{name}.md"
        path.write_text(path.read_text().replace("\n\n=== user", "\n\nBe brief.\n\n=== user"))
        prompts.prompt.cache_clear()

    yield edit
    prompts.prompt.cache_clear()


@pytest.mark.parametrize(("name", "again"), [("tag", {"tag"}), ("questions", {"questions"}), ("extract", {"extract"})])
def test_an_edited_prompt_asks_its_own_questions_again(
    tmp_path: Path, edit_prompt: Callable[[str], None], name: str, again: set[str]
) -> None:
    """An edit of the tagging prompt makes no extraction call; nor does any other prompt's edit reach further."""
    root = base_of(tmp_path / "base")
    chat = ScriptedChat(honestly)
    built(root, chat)
    chat.asked.clear()
    edit_prompt(name)
    built(root, chat)
    assert set(chat.tasks()) == again


def test_an_outage_loses_nothing_and_is_made_good(tmp_path: Path) -> None:
    """While one chunk finds no model the rest is kept and the stage fails; then only that chunk is asked about."""
    root = base_of(tmp_path / "base")
    down = [True]

    def script(ask: Ask) -> Any:
        failed = down[0] and ask.task == "extract" and "evicted" in ask.user
        return ModelError("timed out", code="unavailable") if failed else honestly(ask)

    chat = ScriptedChat(script)
    with modelled(root, chat) as base:
        for stage in ("raw", "normalized", "chunks"):
            base.build_stage(stage, "notes")
        with pytest.raises(ModelError, match="1 documents wait"):
            base.build_stage("atomic_items", "notes")
    with modelled(root, chat) as base:
        assert base.stale().sources["notes"]
        held = base.kb.manifest("atomic_items", "notes")
        assert {entry.key for entry in held if entry.recipe} == {"notes/limits.md"}
    down[0] = False
    before = [a for a in chat.asked if a.task == "extract" and a.source_id == "notes"]
    built(root, chat)
    after = [a for a in chat.asked if a.task == "extract" and a.source_id == "notes"]
    assert len(after) == len(before) + 1
    assert Cli(root).active()


def test_a_prompt_edit_amid_an_outage_keeps_what_was_known(tmp_path: Path, edit_prompt: Callable[[str], None]) -> None:
    """Where a new extraction cannot be had, the old one of the same chunk stands until it can."""
    root = base_of(tmp_path / "base")
    built(root, ScriptedChat(honestly))
    items = set(Cli(root).active())
    edit_prompt("extract")
    down = ScriptedChat(lambda a: ModelError("down", code="unavailable") if a.task == "extract" else honestly(a))
    for source in ("notes", "handbook"):
        with modelled(root, down) as base, pytest.raises(ModelError, match="documents wait"):
            base.build_stage("atomic_items", source)
    with modelled(root, down) as base:
        for stage in base.stale().stages:
            base.build_stage(stage)
    assert set(Cli(root).active()) == items


def test_a_spent_budget_keeps_what_is_finished(tmp_path: Path) -> None:
    """A run that may spend no more stops with the way to go on; the next one asks only what was not answered."""
    root = base_of(tmp_path / "base")
    left = [2]

    def script(ask: Ask) -> Any:
        if left[0] == 0:
            raise BudgetSpent("the budget is spent.", cure="Raise it.")
        left[0] -= 1
        return honestly(ask)

    chat = ScriptedChat(script)
    with modelled(root, chat) as base:
        for stage in ("raw", "normalized", "chunks"):
            base.build_stage(stage, "handbook")
        with pytest.raises(BudgetSpent, match="Raise it"):
            base.build_stage("atomic_items", "handbook")
    with modelled(root, chat) as base:
        assert sum(entry.made for entry in base.kb.manifest("atomic_items", "handbook")) == 2
    left[0] = -1
    built(root, chat)
    answered = [(a.task, a.user) for a in chat.asked]
    assert len(answered) == len(set(answered)) + 1


def test_a_stage_over_all_sources_publishes_nothing_half(tmp_path: Path) -> None:
    """An endpoint that goes away while items are filed leaves the last good ones, and says so."""
    root = base_of(tmp_path / "base")
    built(root, ScriptedChat(honestly))
    items = Cli(root).items()
    write(
        root, {"notes/limits.md": DOCUMENTS["notes/limits.md"] + "\nThe gateway closes an idle line after 9 minutes.\n"}
    )
    down = ScriptedChat(lambda a: ModelError("down", code="unavailable") if a.task == "tag" else honestly(a))
    with modelled(root, down) as base, pytest.raises(KbError):
        compile_all(base)
    assert Cli(root).items() == items


def test_the_sample_is_compiled_by_every_engine(tmp_path: Path) -> None:
    """Over an honest model the sample passes all checks too; but for code, of which a prompt does not tell that it is
    code, the same is extracted."""
    statements = []
    for name, chat in (("extractive", None), ("openai", ScriptedChat(honestly))):
        root = tmp_path / name
        shutil.copytree(ROOT / "examples", root / "examples")
        for file in ("sources.yaml", "taxonomy.yaml"):
            shutil.copy(ROOT / file, root / file)
        with modelled(root, chat) if chat else opened(root) as base:
            compile_all(base)
            assert [f for f in base.check() if f.blocking and not f.ok] == []
            assert base.status().live
        statements.append(set(Cli(root).active()))
    by_rules, by_model = statements
    assert len(by_rules & by_model) > 0.8 * len(by_rules)
