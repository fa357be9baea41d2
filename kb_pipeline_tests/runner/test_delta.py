"""The delta engine through the verbs, without Dagster: what runs, what is kept, what is published."""

import os
from pathlib import Path

import pytest

from kb_pipeline.errors import NotFound, SourceUnavailable
from kb_pipeline.records import ItemView
from kb_pipeline_tests.driving import compile_all, new_root, opened, tree, write

ALPHA = """---
title: Alpha
---
# Cache

The alpha cache holds 16 blocks of 4 KB each. The alpha scheduler runs every 20 milliseconds.

# Limits

The alpha server accepts at most 512 connections at once.
"""
BETA = "# Beta\n\nThe beta cache holds 64 blocks of 4 KB each. Beta reads its configuration from beta.toml at start.\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return new_root(tmp_path / "kb", {"notes/alpha.md": ALPHA, "notes/sub/beta.md": BETA})


def statements(root: Path) -> set[str]:
    with opened(root) as base:
        _, rows = base.sql("select text from rows where kind = 'item'")
    return {row[0] for row in rows}


def test_first_build_publishes_and_goes_live(root: Path) -> None:
    """Every stage runs once and readers are served what the documents state."""
    with opened(root) as base:
        reports, stale = compile_all(base)
        assert stale.sources == {"notes": "it was never read here"}
        assert all(f.ok for f in base.check() if f.blocking)
    assert [r.stage for r in reports[-7:]] == ["dedup", "tags", "pages", "wiki", "index", "eval", "live"]
    assert "The alpha cache holds 16 blocks of 4 KB each." in statements(root)


def test_nothing_stale_after_a_build(root: Path) -> None:
    """Once built, nothing is stale and a full check writes nothing into what git keeps."""
    with opened(root) as base:
        compile_all(base)
    before = tree(root / "kb", tracked_only=True)
    with opened(root) as base:
        assert not base.stale()
        reports, _ = compile_all(base, full=True)
    assert sum(r.embeddings for r in reports) == 0
    assert tree(root / "kb", tracked_only=True) == before


def test_edit_reruns_only_what_it_reaches(root: Path) -> None:
    """An edited sentence replaces its item; other items, their files and their dates stay."""
    with opened(root) as base:
        compile_all(base)
    before = tree(root / "kb/items")
    write(root, {"notes/alpha.md": ALPHA.replace("512", "640")})
    with opened(root) as base:
        reports, stale = compile_all(base)
    assert stale.sources == {"notes": "its files changed"}
    assert {r.stage: r.made for r in reports}["normalized"] == 1
    found = statements(root)
    assert "The alpha server accepts at most 640 connections at once." in found
    assert "The alpha server accepts at most 512 connections at once." not in found
    untouched = {k: v for k, v in tree(root / "kb/items").items() if before.get(k) == v}
    assert any("beta" in (root / "kb/items" / k).read_text() for k in untouched)


def test_whitespace_outside_of_sentences_stops_early(root: Path) -> None:
    """A change that normalizes to the same text changes nothing downstream."""
    with opened(root) as base:
        compile_all(base)
    write(root, {"notes/alpha.md": ALPHA + "\n\n"})
    with opened(root) as base:
        reports, _ = compile_all(base)
    assert {r.stage for r in reports} <= {"raw", "normalized", "chunks", "atomic_items"}


def test_same_size_and_time_is_found_by_a_full_check(root: Path) -> None:
    """An edit that keeps size and mtime is invisible to a stat and found by ``full``."""
    with opened(root) as base:
        compile_all(base)
    path = root / "notes/alpha.md"
    status = path.stat()
    path.write_text(ALPHA.replace("512", "640"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with opened(root) as base:
        assert not base.stale()
        compile_all(base, full=True)
    assert "The alpha server accepts at most 640 connections at once." in statements(root)


def test_deleted_document_is_gone_and_its_items_retired(root: Path) -> None:
    """A deleted document leaves no row; its items stay on disk as retired, with their proof."""
    with opened(root) as base:
        compile_all(base)
    (root / "notes/sub/beta.md").unlink()
    with opened(root) as base:
        compile_all(base)
        assert all(f.ok for f in base.check() if f.blocking)
        with pytest.raises(NotFound, match="deleted at its source"):
            base.show("notes/sub/beta.md")
        retired = [p.stem for p in (root / "kb/items").rglob("*.json") if '"retired"' in p.read_text()]
        assert retired
        view = base.show(retired[0])
    assert view.passages[0].proven  # type: ignore[union-attr]
    assert not any("beta" in s.lower() for s in statements(root))


def test_deletion_hides_at_once_and_return_revives(root: Path) -> None:
    """The deleted document is masked before anything is compiled; its return brings the same item back."""
    with opened(root) as base:
        compile_all(base)
    (root / "notes/sub/beta.md").unlink()
    with opened(root) as base:
        base.build_stage("raw", "notes")
    assert not any("beta" in s.lower() for s in statements(root))
    with opened(root) as base:
        compile_all(base)
    before = {p.stem for p in (root / "kb/items").rglob("*.json")}
    write(root, {"notes/sub/beta.md": BETA})
    with opened(root) as base:
        compile_all(base)
    assert {p.stem for p in (root / "kb/items").rglob("*.json")} == before
    assert any("beta cache" in s for s in statements(root))


def test_missing_source_is_unavailable_and_loses_nothing(root: Path) -> None:
    """A source whose path is gone keeps its documents; status says since when; it recovers by itself."""
    with opened(root) as base:
        compile_all(base)
    (root / "notes").rename(root / "away")
    with opened(root) as base:
        assert "unavailable" in base.stale().sources["notes"]
        with pytest.raises(SourceUnavailable):
            base.build_stage("raw", "notes")
        assert not base.stale()
        status = base.status().sources[0]
        assert (status.documents, status.failed_at is not None) == (2, True)
    assert "The alpha cache holds 16 blocks of 4 KB each." in statements(root)
    (root / "away").rename(root / "notes")
    with opened(root) as base:
        assert base.stale().sources == {"notes": "it is available again"}
        compile_all(base)
        assert not base.stale()


def test_sudden_loss_needs_a_confirmation(tmp_path: Path) -> None:
    """Losing more than half of twenty documents deletes nothing until a person accepts it."""
    names = [f"notes/d{n:02}.md" for n in range(20)]
    documents = {name: f"The item number {n} weighs {n} kg in total.\n" for n, name in enumerate(names)}
    root = new_root(tmp_path / "kb", documents)
    with opened(root) as base:
        compile_all(base)
    for name in names[:11]:
        (root / name).unlink()
    with opened(root) as base:
        report = base.build_stage("raw", "notes")
        assert (report.deleted, "--accept-deletions notes" in report.warnings[0]) == (0, True)
        assert base.build_stage("raw", "notes", accept_deletions=frozenset({"notes"})).deleted == 11


def test_renamed_file_embeds_nothing(root: Path) -> None:
    """A moved file is a new document with the same items and no new embedding."""
    with opened(root) as base:
        compile_all(base)
    before = statements(root)
    (root / "notes/alpha.md").rename(root / "notes/renamed.md")
    with opened(root) as base:
        reports, _ = compile_all(base)
    assert statements(root) == before
    assert sum(r.embeddings for r in reports) == 0


def test_removed_source_takes_its_documents_along(tmp_path: Path) -> None:
    """A source that leaves the registry leaves no live item; on return its items come back."""
    documents = {"one/alpha.md": ALPHA, "two/beta.md": BETA}
    root = new_root(tmp_path / "kb", documents, one="one", two="two")
    registry = (root / "sources.yaml").read_text()
    with opened(root) as base:
        compile_all(base)
    (root / "sources.yaml").write_text("\n".join(x for x in registry.splitlines() if "two" not in x) + "\n")
    with opened(root) as base:
        compile_all(base)
        assert all(f.ok for f in base.check() if f.blocking)
    assert not any("beta" in s.lower() for s in statements(root))
    (root / "sources.yaml").write_text(registry)
    with opened(root) as base:
        compile_all(base)
    assert any("beta cache" in s for s in statements(root))


def test_lost_untracked_files_are_made_anew(root: Path) -> None:
    """Chunks, drafts, index and caches can be deleted at any time; the next build makes them again."""
    with opened(root) as base:
        compile_all(base)
    before = tree(root / "kb", tracked_only=True)
    for folder in ("chunks", "atomic_items", "index", "cache"):
        for path in sorted((root / "kb" / folder).rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
    with opened(root) as base:
        compile_all(base)
    kept = {k: v for k, v in tree(root / "kb", tracked_only=True).items() if not k.startswith("eval/")}
    assert kept == {k: v for k, v in before.items() if not k.startswith("eval/")}
    assert "The alpha cache holds 16 blocks of 4 KB each." in statements(root)


def test_edited_item_survives_and_is_served(root: Path) -> None:
    """A person's edit of an item file is kept by every later build, and is what search finds."""
    with opened(root) as base:
        compile_all(base)
    path = next(p for p in (root / "kb/items").rglob("*.json") if "alpha cache" in p.read_text())
    path.write_text(path.read_text().replace("The alpha cache holds", "Each alpha cache holds"))
    with opened(root) as base:
        reports, _ = compile_all(base)
    assert any("edited by hand" in w for r in reports for w in r.warnings)
    assert any(s.startswith("Each alpha cache") for s in statements(root))
    write(root, {"notes/alpha.md": ALPHA.replace("20 milliseconds", "25 milliseconds")})
    with opened(root) as base:
        reports, _ = compile_all(base)
    assert "Each alpha cache holds" in path.read_text()
    assert not any("edited by hand" in w for r in reports for w in r.warnings)  # that was told before


def test_broken_edit_is_reported_and_its_last_version_stays_live(root: Path) -> None:
    """An item file that no longer parses stops nothing and is named."""
    with opened(root) as base:
        compile_all(base)
        path = next(p for p in (root / "kb/items").rglob("*.json") if "alpha cache" in p.read_text())
        shown = base.show(path.stem)
    before = statements(root)
    path.write_text(path.read_text()[:100])
    with opened(root) as base:
        reports, _ = compile_all(base)
        served = base.show(path.stem)
        compile_all(base)
        (waiting,) = base.status().quarantine
    assert statements(root) == before
    assert any(path.stem in w for r in reports for w in r.warnings)
    assert isinstance(shown, ItemView)
    assert isinstance(served, ItemView)
    left_out = {"content_hash", "note"}
    assert served.item.model_dump(exclude=left_out) == shown.item.model_dump(exclude=left_out)
    assert served.passages == shown.passages
    assert f"kb/items/unclassified/{path.name}" in served.fault
    assert (waiting.stage, waiting.reason) == ("tags", served.fault)  # until it is corrected, whatever is built


def test_decisions_are_told_in_words_once(tmp_path: Path) -> None:
    """What dedup decides is told to people with both statements, and a full check tells nothing again."""
    documents = {"notes/a.md": ALPHA, "notes/b.md": ALPHA.replace("16 blocks", "32 blocks")}
    root = new_root(tmp_path / "kb", documents)
    with opened(root) as base:
        compile_all(base)
        told = (root / "kb/logs/dedup.md").read_text()
        assert "The alpha cache holds 16 blocks of 4 KB each." in told
        assert "The alpha cache holds 32 blocks of 4 KB each." in told
        compile_all(base, full=True)
    assert (root / "kb/logs/dedup.md").read_text() == told


def test_talk_is_known_as_chat(tmp_path: Path) -> None:
    """A text file in which people talk is a chat, whatever its extension says."""
    talk = "".join(
        f"[09:{n:02}] {who}: The queue holds {n} requests now.\n" for n, who in enumerate(["Ada", "Bob"] * 4)
    )
    root = new_root(tmp_path / "kb", {"notes/talk.txt": talk})
    with opened(root) as base:
        compile_all(base)
        assert base.show("notes/talk.txt").meta.source_type == "chat"  # type: ignore[union-attr]
