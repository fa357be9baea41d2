"""Whatever files are called, and whatever lies between them: each is compiled or told of, none stops another."""

import os
from pathlib import Path

import pytest

from kb_pipeline_tests.driving import compile_all, new_root, opened

ODD = (
    "sp ace.md",
    " lead.md",
    "trail .md",
    "ünï-コード-😀.md",
    "e\u0301.md",
    "-rf.md",
    "a%20b.md",
    "a:b.md",
    "a\\b.md",
    "a'b\".md",
    "$(x).md",
    "[g]*?.md",
    "#.md",
    "~.md",
    "UPPER.MD",
    "upper.md",
    "x.manifest.txt",
    "noext",
    "\u202eabc.md",
    "x" * 251 + ".md",
    "x" * 250 + "y.md",
    "é" * 126 + ".md",
    "a",
    "a.md/inside.md",
    "c",
    "c.jsonl/inside.md",
    "c.meta.json/inside.md",
    f"{'deep/' * 60}d.md",
)


def told(root: Path) -> set[str]:
    with opened(root) as base:
        return {row[0] for row in base.sql("select unnest(docs) from rows where kind = 'item'")[1]}


def test_every_odd_name_is_a_document(tmp_path: Path) -> None:
    """Each file gives its item, can be shown by its id, and costs nothing when nothing changed."""
    root = new_root(
        tmp_path / "kb",
        {f"notes/{name}": f"Pump number {n} moves {n + 10} litres per second.\n" for n, name in enumerate(ODD)},
    )
    (root / "sources.yaml").write_text("version: 1\nsources:\n  - {id: notes, type: local, uri: notes}\n")
    with opened(root) as base:
        compile_all(base)
        assert [f for f in base.check() if f.blocking and not f.ok and f.stage not in {"eval", "live"}] == []
        assert not base.stale()
    docs = told(root)
    assert len(docs) == len(ODD)
    with opened(root) as base:
        assert all(base.show(doc) for doc in docs)
        reports, _ = compile_all(base, full=True)
    assert sum(report.files_written + report.embeddings for report in reports) == 0


def test_what_is_no_document_is_told_or_passed_over(tmp_path: Path) -> None:
    """Names that no terminal shows, loops, pipes, links to nowhere and empty files stop nothing and hang nothing."""
    root = new_root(tmp_path / "kb", {"notes/good.md": "The good pump moves 9 litres.\n"})
    notes = root / "notes"
    (notes / "new\nline.md").write_text("The odd pump moves 1 litre.\n")
    Path(os.fsdecode(os.fsencode(notes) + b"/bad\xff.md")).write_text("The bad pump moves 2 litres.\n")
    (notes / "self").symlink_to("self")
    (notes / "up").symlink_to("..")
    (notes / "nowhere.md").symlink_to("missing.md")
    (notes / ".hidden.md").write_text("The hidden pump moves 3 litres.\n")
    (notes / "empty.md").write_bytes(b"")
    (notes / "blank.md").write_bytes(b" \n\t\n")
    (notes / "empty.pdf").write_bytes(b"")
    (notes / "line.txt").write_text("word " * 200_000)
    os.mkfifo(notes / "pipe.md")
    with opened(root) as base:
        reports, _ = compile_all(base)
        assert [f for f in base.check() if f.blocking and not f.ok] == []
        assert not base.stale()
    warnings = "\n".join(warning for report in reports for warning in report.warnings)
    for name in (r"new\nline.md", "bad", "self", "nowhere.md", "empty.pdf"):
        assert name in warnings
    assert told(root) == {"notes/good.md"}


@pytest.mark.parametrize("uri", ["/dev/zero", "/dev/null", "pipe", "missing", "$HOME/x", "kb"])
def test_a_source_that_is_no_folder_is_unavailable(tmp_path: Path, uri: str) -> None:
    """A device, a pipe, nothing, or the knowledge base itself: told as such, at once, and no other source suffers."""
    root = new_root(tmp_path / "kb", {"notes/good.md": "The good pump moves 9 litres.\n"})
    os.mkfifo(root / "pipe")
    entries = "".join(
        f"  - {{id: {name}, type: local, uri: {path!r}}}\n" for name, path in (("odd", uri), ("ok", "notes"))
    )
    (root / "sources.yaml").write_text(f"version: 1\nsources:\n{entries}")
    with opened(root) as base:
        compile_all(base)
        odd, ok = base.status().sources
    assert (bool(odd.failed), ok.failed, ok.items) == (True, None, 1)
