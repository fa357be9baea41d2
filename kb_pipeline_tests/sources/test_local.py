"""Files and folders as a source."""

import os
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from kb_pipeline.errors import SourceUnavailable
from kb_pipeline.sources import listed_once
from kb_pipeline_tests.sources.conftest import Listing, remember
from kb_pipeline_tests.sources.listings import Write, fingerprint, local, paths, states


def test_a_folder_is_listed_whole_and_in_order(listing: Listing, write: Write) -> None:
    """Every file of every folder comes once, sorted by path, with its bytes and an address the user knows."""
    for name in ("b.md", "a/z.md", "a/b/c.md", "A.md"):
        write(f"notes/{name}", name)
    lines = listing.fetch(local())
    assert paths(lines) == ["A.md", "a/b/c.md", "a/z.md", "b.md"]
    assert [line.content for line in lines] == [b"A.md", b"a/b/c.md", b"a/z.md", b"b.md"]
    assert lines[1].uri == "notes/a/b/c.md"
    assert {line.effective_date for line in lines} == {None}


def test_a_single_file_is_a_source(listing: Listing, write: Write) -> None:
    """uri may name a file, which is taken whatever include says, hidden or not."""
    write("notes/.plan.txt", "x")
    (line,) = listing.fetch(local("notes/.plan.txt", include=("*.md",)))
    assert (line.path, line.uri, line.content) == (".plan.txt", "notes/.plan.txt", b"x")


def test_absolute_paths_and_dots_work(listing: Listing, write: Write, tmp_path: Path) -> None:
    """uri may be absolute, or lead out of the root."""
    file = write("other/a.md")
    (line,) = listing.fetch(local(str(file.parent)))
    assert (line.path, line.uri) == ("a.md", str(file))
    listing.settings = type(listing.settings)(tmp_path / "kbroot")
    (tmp_path / "kbroot").mkdir()
    (line,) = listing.fetch(local("../other/"))
    assert (line.path, line.uri) == ("a.md", "../other/a.md")


def test_include_and_exclude_choose(listing: Listing, write: Write) -> None:
    """Patterns are matched against paths within the source."""
    for name in ("a.md", "a.txt", "drafts/b.md", "x/c.md"):
        write(f"notes/{name}")
    assert paths(listing.fetch(local(include=("*.md",), exclude=("drafts/",)))) == ["a.md", "x/c.md"]


def test_what_nobody_wrote_is_skipped(listing: Listing, write: Write) -> None:
    """Hidden files, dependencies, caches and virtual environments are no documents."""
    for name in (".git/config", ".x.md", "node_modules/a/readme.md", "v/pyvenv.cfg", "v/lib/a.py", "a.pyc", "a.py"):
        write(f"notes/{name}")
    assert paths(listing.fetch(local())) == ["a.py"]


def test_the_knowledge_base_never_reads_itself(listing: Listing, write: Write, tmp_path: Path) -> None:
    """kb/, .dagster/ and the root's own settings are no source, by whatever path or link they are reached."""
    for name in ("kb/items/a.json", ".dagster/x", "sources.yaml", "taxonomy.yaml", "notes/a.md", "notes/kb/fine.md"):
        write(name)
    (tmp_path / "notes/link").symlink_to("../kb")
    (tmp_path / "notes/deep").symlink_to("../kb/items/a.json")
    assert paths(listing.fetch(local("."))) == ["notes/a.md", "notes/kb/fine.md"]
    assert paths(listing.fetch(local("notes", options={"follow_links": True}))) == ["a.md", "kb/fine.md"]
    for inside in ("kb", "kb/items", "notes/link"):
        with pytest.raises(SourceUnavailable, match="own folder"):
            listing.fetch(local(inside))


def test_an_unchanged_file_is_not_read(listing: Listing, write: Write) -> None:
    """Equal size and time of change mean the same file: its bytes are not looked at."""
    file = write("notes/a.md", "one")
    known = remember(listing.fetch(local()))
    when = file.stat().st_mtime_ns
    file.write_text("two")
    os.utime(file, ns=(when, when))
    (line,) = listing.fetch(local(), known)
    assert (line.state, line.content) == ("same", None)


def test_a_full_pass_reads_everything(listing: Listing, write: Write) -> None:
    """An entry whose stat was taken away is hashed anew, which finds an edit that kept size and time."""
    file = write("notes/a.md", "one")
    write("notes/b.md", "same")
    known = remember(listing.fetch(local()))
    when = file.stat().st_mtime_ns
    file.write_text("two")
    os.utime(file, ns=(when, when))
    full = {path: entry.model_copy(update={"stat": None}) for path, entry in known.items()}
    lines = listing.fetch(local(), full)
    assert states(lines) == {"a.md": "changed", "b.md": "same"}
    assert lines[1].stat == known["b.md"].stat


def test_a_touched_file_is_the_same_with_a_new_stat(listing: Listing, write: Write) -> None:
    """A new time of change with equal bytes is no change, and the new time is told so that it is not read again."""
    file = write("notes/a.md", "one")
    known = remember(listing.fetch(local()))
    os.utime(file, ns=(1, 1))
    (line,) = listing.fetch(local(), known)
    assert (line.state, line.content, line.stat) == ("same", None, (3, 1))


def test_an_edit_an_addition_and_a_deletion_are_seen(listing: Listing, write: Write, tmp_path: Path) -> None:
    """Changed bytes travel, a new file is listed, a deleted one is not."""
    for name in ("a", "b", "c"):
        write(f"notes/{name}.md", name)
    known = remember(listing.fetch(local()))
    write("notes/a.md", "longer")
    write("notes/d.md", "d")
    (tmp_path / "notes/c.md").unlink()
    assert states(listing.fetch(local(), known)) == {"a.md": "changed", "b.md": "same", "d.md": "changed"}


def test_a_build_lists_a_source_once_and_loses_nothing(listing: Listing, write: Write) -> None:
    """Within a build fingerprint and documents are of one moment; what comes later makes the next one differ."""
    write("notes/a.md")
    with listed_once():
        seen = fingerprint(listing, local())
        write("notes/b.md")
        assert paths(listing.fetch(local())) == ["a.md"]
        assert paths(listing.fetch(local(include=("b.md",)))) == ["b.md"], "another entry is another listing"
    assert fingerprint(listing, local()) != seen
    assert paths(listing.fetch(local())) == ["a.md", "b.md"]


def test_the_fingerprint_moves_with_the_files(listing: Listing, write: Write, tmp_path: Path) -> None:
    """It is stable while nothing changes, and moves with an edit, a touch, a rename, a deletion and a permission."""
    write("notes/a.md", "one")
    write("notes/b.md", "b")
    seen = [fingerprint(listing, local())]
    assert fingerprint(listing, local()) == seen[0]
    changes: list[Callable[[], object]] = [
        lambda: write("notes/a.md", "longer"),
        lambda: os.utime(tmp_path / "notes/a.md", ns=(1, 1)),
        lambda: (tmp_path / "notes/a.md").rename(tmp_path / "notes/c.md"),
        lambda: (tmp_path / "notes/c.md").chmod(0o400),
        lambda: (tmp_path / "notes/b.md").unlink(),
        lambda: (tmp_path / "notes/x").symlink_to("nowhere"),
    ]
    for change in changes:
        change()
        seen.append(fingerprint(listing, local()))
    assert len(set(seen)) == len(seen)


def test_a_file_that_changes_while_it_is_read_is_read_again(
    listing: Listing, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is returned was the file's whole content at one time, and the stat belongs to it."""
    file = write("notes/a.md", "one")
    opened = os.open
    times: list[int] = []

    def interfere(path: str, flags: int) -> int:
        descriptor = opened(path, flags)
        if path.endswith("a.md") and not times:
            times.append(1)
            file.write_text("other text")
            os.utime(file, ns=(7, 7))
        return descriptor

    fstat = os.fstat

    def late(descriptor: int) -> os.stat_result:
        state = fstat(descriptor)
        if len(times) == 1:
            times.append(2)
            os.utime(file, ns=(9, 9))
        return state

    monkeypatch.setattr("kb_pipeline.sources.local.os.open", interfere)
    monkeypatch.setattr("kb_pipeline.sources.local.os.fstat", late)
    (line,) = listing.fetch(local())
    assert (line.content, line.stat) == (b"other text", (10, 9))


def test_a_file_that_never_stands_still_fails(listing: Listing, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """After three attempts the last good version stays, and the reason is told."""
    file = write("notes/a.log", "one")
    fstat = os.fstat
    ticks = iter(range(1, 100))

    def restless(descriptor: int) -> os.stat_result:
        tick = next(ticks)
        os.utime(file, ns=(tick, tick))
        return fstat(descriptor)

    monkeypatch.setattr("kb_pipeline.sources.local.os.fstat", restless)
    (line,) = listing.fetch(local())
    assert (line.state, line.reason) == ("failed", "kept changing while it was read")


def test_a_file_deleted_after_it_was_listed_is_not_listed(listing: Listing, write: Write, tmp_path: Path) -> None:
    """A file that goes while the others are read counts as deleted, not as failed."""
    write("notes/a.md")
    write("notes/b.md")
    lines = listing.lines(local())
    first = next(lines)
    (tmp_path / "notes/b.md").unlink()
    assert [first.path, *paths(list(lines))] == ["a.md"]


def test_several_paths_share_a_source(listing: Listing, write: Write) -> None:
    """The first keeps its names; where a later one has the same, its folder's name is put before."""
    for name in ("x/docs/index.md", "y/docs/index.md", "y/docs/more.md", "z/docs/index.md", "one.md"):
        write(name)
    source = local("x/docs", "y/docs", "z/docs", "one.md", "one.md", "x")
    lines = listing.fetch(source)
    assert paths(lines)[0].startswith("docs/index-")
    assert [(line.path, line.uri) for line in lines[1:]] == [
        ("docs/index.md", "y/docs/index.md"),
        ("index.md", "x/docs/index.md"),
        ("more.md", "y/docs/more.md"),
        ("one.md", "one.md"),
    ]
    assert paths(listing.fetch(source)) == paths(lines)


def test_names_are_composed_and_long_ones_cut(listing: Listing, write: Write) -> None:
    """Paths are NFC whatever the disk says, and a name that leaves no room for endings is cut and marked."""
    write("notes/" + unicodedata.normalize("NFD", "é.md"), "1")
    write("notes/é.md", "2")
    long = "日" * 70 + ".md"
    write("notes/" + long, "3")
    lines = listing.fetch(local())
    names = paths(lines)
    assert len(names) == 3
    assert "é.md" in names
    assert all(unicodedata.is_normalized("NFC", name) and len(name.encode()) <= 180 for name in names)
    assert all(name.endswith(".md") for name in names)
    assert set(states(listing.fetch(local(), remember(lines))).values()) == {"same"}


def test_source_type_may_be_stated(listing: Listing, write: Write) -> None:
    """options: source_type says what the documents are, where the format does not."""
    write("notes/a.md")
    (line,) = listing.fetch(local(options={"source_type": "note"}))
    assert line.source_type == "note"


def test_the_corpus_is_listed_twice_alike(listing: Listing, corpus: Path) -> None:
    """Over real files of many kinds two passes agree: all are read first, none after."""
    source = local(str(corpus), exclude=("scifact",))
    first = listing.fetch(source)
    assert len(first) > 200
    second = listing.fetch(source, remember(first))
    assert paths(first) == paths(second)
    assert {line.state for line in second if line.reason == ""} == {"same"}
