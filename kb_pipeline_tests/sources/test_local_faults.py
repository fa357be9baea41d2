"""Files and folders that cannot be read, and links: nothing is lost, nothing is read twice, every loop ends."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from kb_pipeline.errors import SourceUnavailable
from kb_pipeline_tests.sources.conftest import Listing, remember
from kb_pipeline_tests.sources.listings import Write, fingerprint, local, paths, states


def test_a_missing_path_makes_the_source_unavailable(listing: Listing, write: Write) -> None:
    """A path that is not there raises, so that nothing is deleted, also where another of its paths exists."""
    write("notes/a.md")
    for uris in (("nowhere",), ("notes", "nowhere"), ("notes/a.md/b",), ("no\0where",)):
        with pytest.raises(SourceUnavailable) as caught:
            listing.fetch(local(*uris))
        assert caught.value.cure
        with pytest.raises(SourceUnavailable):
            fingerprint(listing, local(*uris))


def test_an_unreadable_file_fails_alone(listing: Listing, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without permission is reported with the reason; the others are listed."""
    write("notes/a.md")
    write("notes/b.md")
    opened = os.open

    def refusing(path: str, flags: int) -> int:
        if path.endswith("b.md"):
            raise PermissionError(13, "Permission denied")
        return opened(path, flags)

    monkeypatch.setattr("kb_pipeline.sources.local.os.open", refusing)
    lines = listing.fetch(local())
    assert states(lines) == {"a.md": "changed", "b.md": "failed"}
    assert "Permission denied" in lines[1].reason


def _refuse(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    scandir = os.scandir

    def refusing(place: str) -> Any:
        if place == str(folder):
            raise PermissionError(13, "Permission denied")
        return scandir(place)

    monkeypatch.setattr("kb_pipeline.sources.scan.os.scandir", refusing)


def test_an_unreadable_folder_deletes_nothing(
    listing: Listing, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documents known below a folder that cannot be read are failed, not gone; the rest is listed."""
    for name in ("a.md", "locked/b.md", "locked/deep/c.md", "lockedish.md"):
        write(f"notes/{name}")
    known = remember(listing.fetch(local()))
    _refuse(monkeypatch, tmp_path / "notes/locked")
    lines = listing.fetch(local(), known)
    assert states(lines) == {
        "a.md": "same",
        "locked": "failed",
        "locked/b.md": "failed",
        "locked/deep/c.md": "failed",
        "lockedish.md": "same",
    }
    assert "cannot be read" in lines[1].reason


def test_an_unreadable_source_folder_is_unavailable(
    listing: Listing, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the source's own folder cannot be read, the listing raises."""
    write("notes/a.md")
    _refuse(monkeypatch, tmp_path / "notes")
    with pytest.raises(SourceUnavailable, match="Permission denied"):
        listing.fetch(local())


def test_a_file_over_the_limit_fails(listing: Listing, write: Write) -> None:
    """max_mb bounds what is read into memory, and the message tells both sizes."""
    write("notes/big.bin", b"x" * (2**20 + 1))
    write("notes/fits.bin", b"x" * 2**20)
    lines = listing.fetch(local(options={"max_mb": 1}))
    assert states(lines) == {"big.bin": "failed", "fits.bin": "changed"}
    assert "more than max_mb: 1" in lines[0].reason


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names themselves")
def test_names_that_cannot_be_shown_fail(listing: Listing, write: Write, tmp_path: Path) -> None:
    """Names that are not UTF-8 or hold control characters are reported under a printable name, folders too."""
    write("notes/good é 日本.md")
    os.close(os.open(os.fsencode(tmp_path / "notes") + b"/bad\xff.md", os.O_CREAT))
    write("notes/line\nbreak.md")
    os.mkdir(os.fsencode(tmp_path / "notes") + b"/dir\xff")  # noqa: PTH102
    lines = listing.fetch(local())
    assert states(lines) == {
        "bad\\udcff.md": "failed",
        "dir\\udcff": "failed",
        "good é 日本.md": "changed",
        "line\\nbreak.md": "failed",
    }
    for line in lines:
        line.model_dump_json().encode()
    assert "not valid UTF-8" in lines[0].reason
    assert fingerprint(listing, local())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes")
def test_pipes_and_devices_are_skipped(listing: Listing, write: Write, tmp_path: Path) -> None:
    """What is no regular file is no document, and never blocks the run."""
    write("notes/a.md")
    os.mkfifo(tmp_path / "notes/pipe")
    (tmp_path / "notes/null").symlink_to("/dev/null")
    assert paths(listing.fetch(local(options={"follow_links": True}))) == ["a.md"]
    with pytest.raises(SourceUnavailable, match="neither a file nor a folder"):
        listing.fetch(local("notes/pipe"))


def test_links_inside_the_source_add_nothing_twice(listing: Listing, write: Write, tmp_path: Path) -> None:
    """A link to what is listed anyway is not a second document; one to what is not, is a document."""
    write("notes/a.md", "a")
    write("notes/docs/b.md", "b")
    write("notes/.drafts/c.md", "c")
    (tmp_path / "notes/again.md").symlink_to("a.md")
    (tmp_path / "notes/docs2").symlink_to("docs")
    (tmp_path / "notes/drafts").symlink_to(".drafts")
    (tmp_path / "notes/one.md").symlink_to(".drafts/c.md")
    assert paths(listing.fetch(local())) == ["a.md", "docs/b.md", "drafts/c.md"]


def test_loops_end(listing: Listing, write: Write, tmp_path: Path) -> None:
    """Folders that link to themselves, upwards or to each other are walked once."""
    write("notes/a/x.md")
    write("notes/b/y.md")
    (tmp_path / "notes/a/up").symlink_to("..")
    (tmp_path / "notes/a/b").symlink_to("../b")
    (tmp_path / "notes/b/a").symlink_to("../a")
    (tmp_path / "notes/self").symlink_to("self")
    for follow in (False, True):
        lines = listing.fetch(local(options={"follow_links": follow}))
        assert states(lines) == {"a/x.md": "changed", "b/y.md": "changed", "self": "failed"}


def test_links_that_leave_the_source_are_followed_only_when_told(
    listing: Listing, write: Write, tmp_path: Path
) -> None:
    """A link out of the folder could publish anything of this machine: follow_links says that it may."""
    write("notes/a.md")
    write("outside/secret.md")
    (tmp_path / "notes/out").symlink_to("../outside")
    (tmp_path / "notes/file.md").symlink_to(tmp_path / "outside/secret.md")
    assert paths(listing.fetch(local())) == ["a.md"]
    assert paths(listing.fetch(local(options={"follow_links": True}))) == ["a.md", "file.md"]


def test_a_broken_link_fails_rather_than_deletes(listing: Listing, write: Write, tmp_path: Path) -> None:
    """Where a link's target is gone, perhaps with its disk, the last good version stays."""
    target = write("outside/b.md")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/b.md").symlink_to(target)
    source = local(options={"follow_links": True})
    known = remember(listing.fetch(source))
    target.unlink()
    (line,) = listing.fetch(source, known)
    assert (line.path, line.state, line.reason) == ("b.md", "failed", "a link that leads nowhere")


def test_a_source_may_itself_be_a_link(listing: Listing, write: Write, tmp_path: Path) -> None:
    """uri may name a link to a folder, whose own links are judged against where it leads."""
    write("real/a.md")
    write("real/.hidden/b.md")
    (tmp_path / "real/b.md").symlink_to(".hidden/b.md")
    (tmp_path / "notes").symlink_to("real")
    lines = listing.fetch(local())
    assert [(line.path, line.uri) for line in lines] == [("a.md", "notes/a.md"), ("b.md", "notes/.hidden/b.md")]
