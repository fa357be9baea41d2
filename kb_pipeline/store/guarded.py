"""Replacing and removing files that people may be saving at the same moment, without losing a byte of theirs.

An editor replaces a file, or writes into it. So a file is exchanged with ours in one step, and what comes out is looked
at: bytes that we had not seen are a person's, and are put back. What came out stays open to a late writer until the
commit ends. Refuses to know what the bytes mean.
"""

import ctypes
import errno
import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from kb_pipeline.store.files import TEMPORARY, file_hash, read_bytes

_EXCHANGE, _ONLY_NEW = (2, 1) if sys.platform == "linux" else (2, 4)
_COARSE = 50_000_000  # ns: within the clock ticks of a file system, two writes may have one time
_HERE = -100  # of the current folder, for renameat2
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP}


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as it was read: identity, size and time, and its hash where the time does not tell it from a later one."""

    inode: int
    size: int
    mtime: int
    hash: str = ""

    def still(self, path: Path) -> bool:
        """Whether the file at ``path``, wherever it was moved, is as it was read."""
        try:
            status = path.stat()
        except OSError:
            return False
        if (status.st_ino, status.st_size, status.st_mtime_ns) != (self.inode, self.size, self.mtime):
            return False
        return not self.hash or file_hash(read_bytes(path) or b"") == self.hash


def look(path: Path) -> tuple[bytes | None, Seen | None]:
    """The bytes of ``path`` and how to know them again; None of both where there is no such file."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None, None
    data = read_bytes(path)
    if data is None:
        return None, None
    recent = time.time_ns() - status.st_mtime_ns < _COARSE
    return data, Seen(status.st_ino, status.st_size, status.st_mtime_ns, file_hash(data) if recent else "")


@dataclass
class Guard:
    """One round of replacing what was ``seen`` (None: nothing stood there). ``refused`` are the paths at which a person
    was first: theirs stand."""

    seen: Mapping[Path, Seen | None]
    refused: set[Path] = field(default_factory=set)
    _out: list[tuple[Path, Path, Seen]] = field(default_factory=list)

    def place(self, temporary: Path, path: Path) -> None:
        """Put the file ``temporary`` at ``path``, unless what stands there is not what was seen."""
        expected = self.seen.get(path)
        if expected is None:
            placed = _rename(temporary, path, _ONLY_NEW)
            if not placed:
                self._give_way(temporary, path)
            return
        ours = temporary.stat().st_ino
        if not _rename(temporary, path, _EXCHANGE):  # the person removed it
            self._give_way(temporary, path)
        elif expected.still(temporary):
            self._out.append((temporary, path, expected))
        else:
            self._put_back(temporary, path, ours)

    def remove(self, path: Path) -> None:
        """Remove the file at ``path``, unless it is not what was seen."""
        if path in self.seen and self.seen[path] is None:
            return
        expected = self.seen.get(path)
        temporary = path.parent / f"{TEMPORARY}{os.getpid()}-removed-{path.name}"
        try:
            path.rename(temporary)
        except (FileNotFoundError, NotADirectoryError):
            return
        if expected is None or expected.still(temporary):
            self._out.append((temporary, path, expected or Seen(0, 0, 0)))
        else:
            self.refused.add(path)
            if not _rename(temporary, path, _ONLY_NEW):
                temporary.unlink()  # a newer one stands there

    def finish(self) -> None:
        """End the round: what somebody wrote late into a file that we had taken out is put back."""
        for temporary, path, expected in self._out:
            if expected.inode and not expected.still(temporary):
                self._late(temporary, path)
            with suppress(FileNotFoundError):
                temporary.unlink()
        self._out.clear()

    def _late(self, temporary: Path, path: Path) -> None:
        self.refused.add(path)
        if not _rename(temporary, path, _ONLY_NEW):
            _rename(temporary, path, _EXCHANGE)

    def _give_way(self, temporary: Path, path: Path) -> None:
        self.refused.add(path)
        temporary.unlink()

    def _put_back(self, temporary: Path, path: Path, ours: int) -> None:
        """Give a person's file its name again; where another was saved in between, that one, the newer, keeps it."""
        self.refused.add(path)
        _rename(temporary, path, _EXCHANGE)
        if temporary.stat().st_ino != ours:
            _rename(temporary, path, _EXCHANGE)
        temporary.unlink()


def _rename(source: Path, target: Path, how: int) -> bool:
    """Exchange two names, or rename onto a name that is free; False where that one is gone, or taken."""
    sys.audit("os.rename", str(source), str(target), -1, -1)
    failed = _system_rename(os.fsencode(source), os.fsencode(target), how)
    if failed in {errno.ENOENT, errno.EEXIST}:
        return False
    if failed in _UNSUPPORTED:
        return _approximated(source, target, how)
    if failed:
        raise OSError(failed, os.strerror(failed), str(target))
    return True


def _system_rename(source: bytes, target: bytes, how: int) -> int:
    """The number of the error; 0 where there was none."""
    try:
        if sys.platform == "linux":
            done = _LIBRARY.renameat2(_HERE, source, _HERE, target, how)
        else:
            done = _LIBRARY.renamex_np(source, target, how)
    except AttributeError:
        return errno.ENOSYS
    return ctypes.get_errno() if done else 0


def _approximated(source: Path, target: Path, how: int) -> bool:
    """The same in two steps, on a file system that has no such operation."""
    if how == _ONLY_NEW:
        if target.exists():
            return False
        source.rename(target)
        return True
    aside = source.with_name(f"{source.name}-aside")
    try:
        target.rename(aside)
    except FileNotFoundError:
        return False
    source.rename(target)
    aside.rename(source)
    return True


_LIBRARY = ctypes.CDLL(None, use_errno=True)
