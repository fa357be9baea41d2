"""Plays steps of a history over a knowledge base and requires after each what must be true of it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kb_pipeline.api import KnowledgeBase
from kb_pipeline.records import StageReport
from kb_pipeline_tests.driving import Cli, compile_all, new_root, opened, tree
from kb_pipeline_tests.promises.lifecycle_corpus import DOCUMENTS, TAXONOMY
from kb_pipeline_tests.promises.lifecycle_edits import Expected, Step
from kb_pipeline_tests.promises.lifecycle_state import Opener, documents, ghosts, lines, lost, quotes
from kb_pipeline_tests.promises.test_1_proven import unproven

_SOURCES = {name: name for name in ("runbooks", "notes", "releases")}
_QUESTIONS = 3  # at most, of one item


@contextmanager
def few(root: Path) -> Iterator[KnowledgeBase]:
    """The knowledge base in this process, evaluated on few items, which hold nothing back: the newest is live."""
    with opened(root, KB_EVAL_ITEMS="5", KB_EVAL_TOLERANCE="1.0", KB_EVAL_FLOOR_RECALL10="0.0") as base:
        yield base


def begin(folder: Path, open_: Opener = few) -> Path:
    """The knowledge base that every history begins with, built."""
    root = new_root(folder, DOCUMENTS, **_SOURCES)
    (root / "taxonomy.yaml").write_text(TAXONOMY)
    with open_(root) as base:
        compile_all(base)
    return root


def play(root: Path, step: Step, expected: Expected, open_: Opener = few) -> None:
    """Make the edits of ``step``, compile, and require what it expects, and no more work than it asks for."""
    held, files, cited = documents(root), tree(root / "kb"), quotes(root)
    before = Cli(root).items()
    edit(root, step)
    first = expected.after(step)
    with open_(root) as base:
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


def edit(root: Path, step: Step) -> None:
    """Make the edits of ``step``, each of which must apply."""
    for change in step.edits:
        assert change.apply(root), f"{change} does not apply"


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
    assert embedded.pop("eval", 0) <= _QUESTIONS * (len(step.new) + len(step.cites) + len(step.gone) + len(step.older))
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
                was.get(name) != now[name]
                for name in ("related_items", "superseded_by", "needs_review", "status", "valid_to")
            ]
            docs = {c["doc_id"] for item in (was, now) for c in item.get("sources", ())}
            if not any(linked) and docs.isdisjoint(touched):
                found.append(path)
        elif stage in {"normalized", "chunks", "atomic_items"} and not rest.endswith("manifest.jsonl"):
            doc = next((doc for doc in touched if rest.startswith(doc)), None)
            if doc is None and ".versions" not in rest:
                found.append(path)
    return found
