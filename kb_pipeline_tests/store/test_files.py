"""Bytes on disk."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kb_pipeline.errors import Busy, StoreError
from kb_pipeline.store.files import holder, keep, lease, names_below, read_bytes, remove, replace, stat_tree, write_all


def test_replace_writes_and_overwrites(tmp_path: Path) -> None:
    """A file is made with its folders, and later replaced."""
    path = tmp_path / "a" / "b.txt"
    replace(path, b"one")
    replace(path, b"two")
    assert read_bytes(path) == b"two"


def test_missing_file_reads_as_none(tmp_path: Path) -> None:
    """What is not there is None, also below a file."""
    (tmp_path / "file").write_text("x")
    assert read_bytes(tmp_path / "none") is None
    assert read_bytes(tmp_path / "file" / "below") is None


def test_nothing_is_renamed_when_one_cannot_be_written(tmp_path: Path) -> None:
    """A batch with an impossible path leaves every old file as it was, and no temporary one."""
    good = tmp_path / "good.txt"
    replace(good, b"old")
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="last good state"):
        write_all(tmp_path, {"good.txt": b"new", "file/below": b"impossible"})
    assert good.read_bytes() == b"old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "good.txt"]


def test_many_files_are_written_in_one_batch(tmp_path: Path) -> None:
    """Batches above the size where one sync serves all are written too."""
    files = {f"{n}/f": str(n).encode() for n in range(100)}
    stats = write_all(tmp_path, files)
    assert all((tmp_path / path).read_bytes() == data for path, data in files.items())
    found = {path: (tmp_path / path).stat() for path in files}
    assert stats == {path: (status.st_size, status.st_mtime_ns) for path, status in found.items()}


def test_a_large_batch_that_fails_leaves_nothing_unfinished(tmp_path: Path) -> None:
    """Whichever of many files cannot be named, no temporary one is left, and each name has all its bytes or none."""
    files = {f"{n % 7}/f{n}": str(n).encode() for n in range(2_000)}

    def place(temporary: str, path: str) -> None:
        if path.endswith("/f1500"):
            raise OSError(28, "No space left on device", path)
        Path(temporary).replace(path)

    with pytest.raises(StoreError, match="No space"):
        write_all(tmp_path, files, place=place)
    found = {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert found.items() <= files.items()
    assert "2/f1500" not in found


def test_remove_takes_emptied_folders_along(tmp_path: Path) -> None:
    """Removing the last file of a folder removes the folder, never the root."""
    replace(tmp_path / "a" / "b" / "c", b"x")
    replace(tmp_path / "a" / "d", b"x")
    assert remove([tmp_path / "a" / "b" / "c", tmp_path / "none"], tmp_path) == 1
    assert (tmp_path / "a" / "d").exists()
    assert not (tmp_path / "a" / "b").exists()


def test_stat_tree_skips_hidden_names(tmp_path: Path) -> None:
    """Files are found by suffix at any depth; hidden ones, our temporary ones among them, are not."""
    for name in ("a/x.json", "b/c/y.json", "a/z.txt", ".hidden/w.json", "a/.tmp-kb-1.json"):
        replace(tmp_path / name, b"1")
    assert sorted(stat_tree(tmp_path, "a", ".json")) == ["a/x.json"]
    assert sorted(stat_tree(tmp_path, "b", ".json")) == ["b/c/y.json"]


def test_one_listing_tells_every_name(tmp_path: Path) -> None:
    """Files in and below a folder are told by their path below the root, hidden ones too; a missing folder has none."""
    for name in ("a/x.md", "a/.b/y.md", "c/z.md"):
        replace(tmp_path / name, b"1")
    assert names_below(tmp_path, "a") == {"a/x.md", "a/.b/y.md"}
    assert names_below(tmp_path, "d") == frozenset()


def test_lease_is_free_to_enter_again_in_one_process(tmp_path: Path) -> None:
    """The holder may enter again."""
    with lease(tmp_path / "lock"), lease(tmp_path / "lock"):
        pass


def test_lease_keeps_another_process_out_until_it_dies(tmp_path: Path) -> None:
    """A second process is refused while the first lives, told who holds it, and served after a kill."""
    code = (
        "import sys, time; from pathlib import Path; from kb_pipeline.store.files import lease\n"
        "with lease(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        told: list[str] = []
        with pytest.raises(Busy, match=str(holder.pid)), lease(tmp_path / "lock", wait=0.2, on_wait=told.append):
            pass
        assert len(told) == 1
        holder.kill()
        holder.wait()
    with lease(tmp_path / "lock", wait=5):
        pass


def test_who_holds_a_lease_can_be_asked_without_waiting(tmp_path: Path) -> None:
    """The holder is told by name while it holds, and nobody afterwards or before."""
    path = tmp_path / "lock"
    assert holder(path) is None
    with lease(path, holder="a build"):
        told = holder(path)
    assert told is not None
    assert (told["holder"], told["pid"]) == ("a build", os.getpid())
    assert holder(path) is None


def test_a_kept_lock_outlives_the_program_that_took_it(tmp_path: Path) -> None:
    """A process that becomes another program keeps its lock, and loses it when it dies."""
    path = tmp_path / "lock"
    code = (
        "import os, sys; from pathlib import Path; from kb_pipeline.store.files import keep\n"
        "keep(Path(sys.argv[1]), 'busy'); os.execv('/bin/cat', ['cat'])"
    )
    command, pipe = [sys.executable, "-c", code, str(path)], subprocess.PIPE
    with subprocess.Popen(command, text=True, bufsize=1, stdin=pipe, stdout=pipe) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        other.stdin.write("there\n")
        assert other.stdout.readline() == "there\n"
        with pytest.raises(Busy, match=f"taken.*{other.pid}"):
            keep(path, "taken")
        other.kill()
        other.wait()
    assert holder(path) is None
