"""A life of a knowledge base, in chapters of edits as people make them. After every single one: what is known is what
was written down by hand, and what a build from scratch over the same sources gives; every quote stands; nothing lives
of what is gone; no citation was lost; and no more was done than the edit asked for."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kb_pipeline.records import StageReport
from kb_pipeline_tests.driving import Cli, compile_all, new_root, opened, tree
from kb_pipeline_tests.promises.lifecycle_corpus import ACTIVE, DOCUMENTS, SUPERSEDED, TAXONOMY
from kb_pipeline_tests.promises.lifecycle_edits import Expected, Step
from kb_pipeline_tests.promises.lifecycle_script_facts import VERSIONS, WITNESSES
from kb_pipeline_tests.promises.lifecycle_script_places import PLACES, REGISTRY
from kb_pipeline_tests.promises.lifecycle_script_texts import FORMS, WORDS
from kb_pipeline_tests.promises.lifecycle_state import (
    documents,
    from_scratch,
    ghosts,
    knowledge,
    lines,
    lost,
    quotes,
)
from kb_pipeline_tests.promises.test_1_proven import unproven

SOURCES = {name: name for name in ("runbooks", "notes", "releases")}
CHAPTERS = {
    "words": WORDS,
    "forms": FORMS,
    "places": PLACES,
    "witnesses": WITNESSES,
    "versions": VERSIONS,
    "registry": REGISTRY,
}
FEW = {"KB_EVAL_ITEMS": "5"}  # questions are asked of a sample; here of a small one
QUESTIONS = 3  # at most, of one item


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The knowledge base that every chapter begins with, built; not to be changed."""
    root = new_root(tmp_path_factory.mktemp("start") / "base", DOCUMENTS, **SOURCES)
    (root / "taxonomy.yaml").write_text(TAXONOMY)
    with opened(root, **FEW) as base:
        compile_all(base)
    return root


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_after_every_edit_all_is_known_and_nothing_else(start: Path, tmp_path: Path, chapter: str) -> None:
    """Each step of the script is compiled and compared with what is expected, and with a build from scratch."""
    root = Path(shutil.copytree(start, tmp_path / "base"))
    expected = Expected.of(ACTIVE, SUPERSEDED)
    agrees(root, expected)
    for step in CHAPTERS[chapter]:
        try:
            play(root, step, expected)
            assert knowledge(root) == knowledge(from_scratch(root, tmp_path / "scratch"))
        except Exception as error:
            error.add_note(f"in the step {step.name!r}")
            raise


def play(root: Path, step: Step, expected: Expected) -> None:
    """Make the edits of ``step``, compile, and require what it expects."""
    held, files, cited = documents(root), tree(root / "kb"), quotes(root)
    before = Cli(root).items()
    for edit in step.edits:
        assert edit.apply(root) or step.edits.count(edit), "the edit does not apply"
    first = expected.after(step)
    with opened(root, **FEW) as base:
        reports, _ = compile_all(base)
        assert [f for f in base.check() if f.blocking and not f.ok and f.stage != "eval"] == []
        assert not base.stale()
        assert ghosts(base, root, {*step.gone, *step.older, *step.dropped}) == []
    agrees(root, expected)
    assert [unproven(root, status) for status in ("active", "superseded", "retired")] == [[], [], []]
    assert lost(root, cited) == []
    now = documents(root)
    touched = {doc for doc in held.keys() | now.keys() if held.get(doc) != now.get(doc)}
    redone = len(touched & now.keys()) if step.redone is None else step.redone
    assert_proportional(reports, step, redone, first)
    written = {path for path, state in tree(root / "kb").items() if files.get(path) != state}
    assert stray(root, written, touched | {*step.about}, before) == []


def agrees(root: Path, expected: Expected) -> None:
    """Require that what is published is what is expected."""
    items = Cli(root).items()
    said = {key: item["statement"] for key, item in items.items()}
    active = {i["statement"]: {c["doc_id"] for c in i["sources"]} for i in items.values() if i["status"] == "active"}
    assert active == expected.active
    superseded = {i["statement"]: said[i["superseded_by"]] for i in items.values() if i["status"] == "superseded"}
    assert superseded == expected.superseded
    assert {frozenset({said[c["a"]], said[c["b"]]}) for c in lines(root, "conflicts")} == expected.clashes


def assert_proportional(reports: Sequence[StageReport], step: Step, redone: int, first: int) -> None:
    """Require that only changed documents were extracted, and only statements never seen before embedded."""
    made = {stage: sum(r.made for r in reports if r.stage == stage) for stage in ("atomic_items", "dedup")}
    embedded = {r.stage: r.embeddings for r in reports if r.embeddings}
    assert made["atomic_items"] == redone
    assert embedded.pop("dedup", 0) == first
    assert embedded.pop("tags", 0) <= step.filed
    assert embedded.pop("eval", 0) <= QUESTIONS * (len(step.new) + len(step.cites) + len(step.gone) + len(step.older))
    assert set(embedded) <= {"index"}  # chunks


def stray(root: Path, written: set[str], touched: set[str], before: dict[str, Any]) -> list[str]:
    """Files of documents and items that were written though nothing about them changed."""
    items = Cli(root).items()
    found = []
    for path in sorted(written):
        stage, _, rest = path.partition("/")
        if stage == "items" and rest.endswith(".json"):
            key = Path(rest).stem
            was, now = before.get(key, {}), items[key]
            linked = [
                was.get(name) != now[name] for name in ("related_items", "superseded_by", "needs_review", "status")
            ]
            docs = {c["doc_id"] for item in (was, now) for c in item.get("sources", ())}
            if not any(linked) and docs.isdisjoint(touched):
                found.append(path)
        elif stage in {"normalized", "chunks", "atomic_items"} and not rest.endswith("manifest.jsonl"):
            doc = next((doc for doc in touched if rest.startswith(doc)), None)
            if doc is None and ".versions" not in rest:
                found.append(path)
    return found
