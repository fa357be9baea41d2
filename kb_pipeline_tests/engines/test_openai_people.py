"""A model judges, people have the last word: what that costs, and what stands."""

import json
from pathlib import Path
from typing import Any

from kb_pipeline.records import Ask
from kb_pipeline_tests.driving import Cli, compile_all
from kb_pipeline_tests.engines.modelled import base_of, built, modelled
from kb_pipeline_tests.fakes import ScriptedChat, honestly

ONE, OTHER = "The block cache keeps the hot pages in memory.", "Hot pages are kept in memory by the block cache at all."
MINE = "The block cache keeps its hot pages in memory."


def merging(ask: Ask) -> Any:
    """An honest model, but for one that finds any two statements the same."""
    same = {"decision": "merge", "target_id": 1, "reason": "the same"}
    return same if ask.task == "judge" else honestly(ask)


def caching(root: Path) -> dict[str, dict[str, Any]]:
    """Active items about the block cache by statement."""
    return {words: item for words, item in Cli(root).active().items() if "block cache" in words}


def parting(ask: Ask) -> Any:
    """An honest model, but for one that finds no two statements the same."""
    other = {"decision": "keep_both", "target_id": None, "reason": "two things"}
    return other if ask.task == "judge" else honestly(ask)


def test_a_persons_decision_outranks_the_model_and_asks_it_nothing(tmp_path: Path) -> None:
    """Merged by a person what the model keeps apart: no call, through a full build; undone, its kept reply counts."""
    root = base_of(tmp_path / "base", {"notes/a.md": f"# A\n\n{ONE}\n", "notes/b.md": f"# B\n\n{OTHER}\n"})
    chat = ScriptedChat(parting)
    built(root, chat)
    found = caching(root)
    assert found.keys() == {ONE, OTHER}
    asked = chat.tasks()["judge"]
    with modelled(root, chat) as base:
        base.decide(f"pair:{found[ONE]['id']}:{found[OTHER]['id']}", "merge", "one fact")
        for full in (False, True):
            compile_all(base, full=full)
            (merged,) = caching(root).values()
            assert {s["source_span"] for s in merged["sources"]} == {ONE, OTHER}
        base.undo()
        compile_all(base)
    assert caching(root).keys() == found.keys()
    assert chat.tasks()["judge"] == asked


def test_the_model_merges_nothing_with_what_a_person_wrote(tmp_path: Path) -> None:
    """It may say that both are the same; both stay, and a person is asked with the model's reason."""
    root = base_of(tmp_path / "base", {"notes/a.md": f"# A\n\n{ONE}\n"})
    chat = ScriptedChat(merging)
    built(root, chat)
    (root / "kb/items/mine.json").write_text(json.dumps({"statement": MINE}))
    built(root, chat)
    assert {ONE, MINE} <= caching(root).keys()
    with modelled(root, chat) as base:
        waiting = [r for r in base.reviews() if r.kind == "pair"]
        assert [{i.statement for i in r.items} for r in waiting] == [{ONE, MINE}]
        assert "written by hand" in waiting[0].why
