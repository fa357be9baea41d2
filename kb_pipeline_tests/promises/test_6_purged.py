"""Promise 6, gone means gone: a purged document leaves no byte of its words, and does not come back by itself."""

import json
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kb_pipeline.api import PER_SOURCE, KnowledgeBase
from kb_pipeline.errors import KbError, ModelError, NotFound
from kb_pipeline.world import Engine
from kb_pipeline_tests.driving import Cli, compile_all, new_root, opened, write

SECRET = "zanzibarium"
"""A word that only the purged document says."""
SHARED = "A replica needs 12 GB of disk."
JANE = f"""# Jane

The {SECRET} reactor of Jane runs at 417 degrees.

{SHARED}

Jane keeps the {SECRET} keys in the blue cabinet.
"""
OTHER = f"# Operations\n\n{SHARED}\n\nThe block cache keeps 16 pages.\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two documents, one with two earlier versions, all of it built, searched and edited."""
    first = JANE.replace("417", "400").replace("blue", "red")
    root = new_root(tmp_path / "base", {"notes/jane.md": first, "notes/other.md": OTHER})
    for text in (first, JANE.replace("blue", "green"), JANE):
        write(root, {"notes/jane.md": text})
        with opened(root) as base:
            compile_all(base)
            base.search(f"{SECRET} reactor")
    return root


def traces(root: Path, word: str = SECRET) -> list[str]:
    """Files below ``kb/`` whose bytes, unpacked or not, hold a word."""
    return [path.relative_to(root).as_posix() for path in files(root) if any(word.encode() in d for d in data(path))]


def files(root: Path) -> Iterator[Path]:
    return (path for path in sorted((root / "kb").rglob("*")) if path.is_file())


def data(path: Path) -> Iterator[bytes]:
    """The bytes of a file in lower case, and what they are compressed from."""
    raw = path.read_bytes()
    yield raw.lower()
    for magic in (b"\x78\x9c", b"\x78\xda", b"\x78\x01"):
        at = raw.find(magic)
        while at >= 0:
            with suppress(zlib.error):
                yield zlib.decompressobj().decompress(raw[at:]).lower()
            at = raw.find(magic, at + 1)


def items(root: Path) -> dict[str, str]:
    return {item["statement"]: key for key, item in Cli(root).items().items()}


def test_no_byte_is_left(root: Path) -> None:
    """After a purge no file holds its words; what another document states stays under its id, with that proof."""
    assert len(traces(root)) > 10
    shared = items(root)[SHARED]
    report = Cli(root).json("purge", "notes/jane.md", "--yes")
    assert (report["residue"], report["warnings"]) == ([], [])
    assert traces(root) == []
    assert traces(root, "jane") == []
    assert items(root).keys() == {SHARED, "The block cache keeps 16 pages."}
    assert items(root)[SHARED] == shared
    assert {c["doc_id"] for c in Cli(root).items()[shared]["sources"]} == {"notes/other.md"}
    with opened(root) as base:
        assert [f for f in base.check() if f.blocking and not f.ok] == []
        assert {h.text for h in base.search("replica disk").hits if h.kind == "item"} >= {SHARED}
        assert [h for h in base.search(f"{SECRET} reactor").hits if SECRET in h.text] == []
        with pytest.raises(NotFound):
            base.show("notes/jane.md")


def test_it_does_not_come_back_unless_wanted(root: Path) -> None:
    """The original is still there and is not read again, not even by a full build, until that is asked for."""
    cli = Cli(root)
    cli.run("purge", "notes/jane.md", "--yes")
    with opened(root) as base:
        assert not base.stale()
        compile_all(base, full=True)
    assert traces(root) == []
    assert "jane" not in (root / "kb/purged.jsonl").read_text()
    assert cli.json("purge", "notes/jane.md", "--readmit") == {"readmitted": True}
    with opened(root) as base:
        compile_all(base)
        assert any(SECRET in h.text for h in base.search(f"{SECRET} reactor").hits)
    assert cli.json("purge", "notes/jane.md", "--readmit") == {"readmitted": False}


def test_a_purge_that_was_killed_is_taken_up(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it stops, the document can not be seen any more, and the purge that is asked for again ends clean."""
    from kb_pipeline.runner.purging import _Purge

    for step in ("drop", "remake", "forget_items", "sweep"):
        with monkeypatch.context() as patched, opened(root) as base:
            patched.setattr(_Purge, step, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                base.purge("notes/jane.md")
        with opened(root) as base:
            assert [h for h in base.search(f"{SECRET} reactor").hits if SECRET in h.text] == []
    with opened(root) as base:
        assert base.purge("notes/jane.md").residue == ()
    assert traces(root) == []


def test_a_document_that_is_gone_already_can_be_purged(root: Path) -> None:
    """Its retired items and their history go as well."""
    (root / "notes/jane.md").unlink()
    with opened(root) as base:
        compile_all(base)
        assert traces(root)
        base.purge("notes/jane.md")
    assert traces(root) == []


def test_a_gate_that_holds_back_the_next_generation_holds_no_purge(root: Path) -> None:
    """Where readers are served from an earlier generation, that too is written anew without the document."""
    gate = {"KB_EVAL_FLOOR_RECALL10": "1.0", "KB_EVAL_TOLERANCE": "0.0"}
    write(root, {"notes/noise.md": "\n\n".join(f"The gate opens valve {n} at {n} bar." for n in range(40))})
    with KnowledgeBase(root, {"KB_EMBEDDER": "hashing", **gate}) as base:
        compile_all(base)
        assert base.status().live != base.status().candidate
        base.purge("notes/jane.md")
        assert traces(root) == []
        assert any(SHARED in h.text for h in base.search("replica disk").hits)


class Silent:
    """An engine whose model can not be reached."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        if name in {"tag", "judge", "questions"}:
            raise ModelError("the model does not answer.", code="unavailable")
        return getattr(self._engine, name)


def test_a_model_that_does_not_answer_holds_no_purge(root: Path) -> None:
    """What it had to be asked for is missing until the next build; no word of the document waits for it."""
    write(root, {"notes/other.md": f"{OTHER}\n\nA valve closes at 3 bar.\n"})
    with opened(root) as base:
        for stage in PER_SOURCE:
            base.build_stage(stage, "notes")
        base.world = replace(base.world, engine=Silent(base.world.engine))
        report = base.purge("notes/jane.md")
    assert (report.residue, traces(root)) == ((), [])
    assert any("the model does not answer" in warning for warning in report.warnings)
    with opened(root) as base:
        compile_all(base)
        assert [f for f in base.check() if f.blocking and not f.ok] == []
    assert items(root).keys() == {SHARED, "The block cache keeps 16 pages.", "A valve closes at 3 bar."}


def test_what_people_and_logs_kept_of_it_goes(root: Path) -> None:
    """Decisions, questions of people and lines of logs that hold its words are erased, others are not."""
    kept = {"words": "Nothing of the kind."}
    line = json.dumps({"words": f"The {SECRET.upper()} reactor of Jane runs at 417 degrees."})
    for name in ("logs/any.jsonl", "logs/queries/2026-01-01.jsonl"):
        write(root, {f"kb/{name}": f"{json.dumps(kept)}\n{line}\n"})
    write(
        root, {"kb/replies/ab/cdef0123.json": line, "kb/wiki/answers/a.md": f"# A\n\nThe {SECRET} reactor of Jane.\n"}
    )
    (root / "kb/logs/any.md").write_text(f"## x\n\n- kept\n- Jane keeps the {SECRET} keys in the blue cabinet.\n")
    report = Cli(root).json("purge", "notes/jane.md", "--yes")
    assert not traces(root)
    assert (root / "kb/logs/any.jsonl").read_text() == f"{json.dumps(kept)}\n"
    assert (root / "kb/logs/any.md").read_text() == "## x\n\n- kept\n"
    assert not (root / "kb/replies/ab/cdef0123.json").exists()
    assert report["residue"] == []


def test_nothing_is_erased_unasked(root: Path) -> None:
    """Without a yes, for an item and for an unknown document nothing happens."""
    cli = Cli(root)
    assert "nothing is known" in cli.run("purge", "notes/nobody.md", "--yes", code=1).stderr
    assert "is no document" in cli.run("purge", items(root)[SHARED], "--yes", code=2).stderr
    assert cli.run("purge", "notes/jane.md", code=1).returncode == 1
    assert traces(root)
    with opened(root) as base, pytest.raises(KbError):
        base.purge("jane")
