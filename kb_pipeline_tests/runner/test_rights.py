"""Where the disk is full or nothing may be written: an error with the cure, the last good state served, no trace."""

import os
import resource
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kb_pipeline.errors import KbError, StoreError
from kb_pipeline_tests.driving import Cli, compile_all, new_root, opened

ALPHA = "# Alpha\n\nThe alpha cache holds 16 blocks.\n\nThe alpha server accepts 512 connections at once.\n"
NOBODY = 65534


@pytest.fixture
def root() -> Iterator[Path]:
    """A built knowledge base in a folder that others may enter."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        built = new_root(Path(folder) / "base", {"notes/alpha.md": ALPHA})
        with opened(built) as base:
            compile_all(base)
        yield built
        writable(built)


def writable(root: Path) -> None:
    for path in (root, *root.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)


@contextmanager
def read_only(root: Path) -> Iterator[None]:
    """Nothing below ``root`` may be written, nor is this process almighty."""
    for path in root.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    root.chmod(0o555)
    almighty = os.geteuid() == 0
    if almighty:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if almighty:
            os.seteuid(0)
        writable(root)


def test_a_read_only_knowledge_base_is_read(root: Path) -> None:
    """Search, SQL, status, show and check need no right to write."""
    with read_only(root), opened(root) as base:
        assert base.search("alpha cache").hits[0].text == "The alpha cache holds 16 blocks."
        assert base.sql("select count(*) from rows where kind = 'item'")[1] == [(2,)]
        assert base.status().live == "g00000001"
        assert base.show("notes/alpha.md")
        assert all(finding.ok for finding in base.check() if finding.blocking)


def test_a_build_that_may_not_write_says_so_and_changes_nothing(root: Path) -> None:
    """The error names the place and the cure; once it may be written the build ends as ever."""
    (root / "notes/alpha.md").write_text(ALPHA.replace("512", "640"))
    before = Cli(root).active()
    with read_only(root), opened(root) as base, pytest.raises((KbError, PermissionError)) as refused:
        compile_all(base)
    assert str(root) in str(refused.value)
    assert Cli(root).active() == before
    with opened(root) as base:
        compile_all(base)
    assert "The alpha server accepts 640 connections at once." in Cli(root).active()


@contextmanager
def full_after(size: int) -> Iterator[None]:
    """No file may grow beyond ``size`` bytes: as on a full disk, writing fails half-way."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("size", [0, 100, 400, 900, 1500, 2500, 5000])
def test_a_full_disk_leaves_the_last_good_state(root: Path, size: int) -> None:
    """Whichever write fails first, readers keep what they had, and the next build needs no help."""
    sentences = "\n\n".join(f"The pump of hall {n} moves {n + 7} litres per second." for n in range(30))
    (root / "notes/pumps.md").write_text(f"# Pumps\n\n{sentences}\n")
    with full_after(size), opened(root) as base:
        with pytest.raises((StoreError, OSError), match=r"large|written"):
            compile_all(base)
        assert base.search("alpha cache").hits[0].text == "The alpha cache holds 16 blocks."
    with opened(root) as base:
        reports, _ = compile_all(base)
        assert [f for f in base.check() if f.blocking and not f.ok and f.stage not in {"eval", "live"}] == []
    assert not [warning for report in reports for warning in report.warnings if "edited" in warning]
    assert len(Cli(root).active()) == 32
    assert not list((root / "kb").rglob(".tmp-*"))


def test_files_that_vanish_with_their_folder_are_no_traceback(root: Path) -> None:
    """A knowledge base deleted under a reader is one that has no index."""
    with opened(root) as base:
        shutil.rmtree(root / "kb")
        with pytest.raises(KbError, match="kb build"):
            base.search("alpha")
