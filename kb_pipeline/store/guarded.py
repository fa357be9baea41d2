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

    def still(self, path: str) -> bool:
        """Whether the file at ``path``, wherever it was moved, is as it was read."""
        try:
            status = os.stat(path)
        except OSError:
            return False
        if (status.st_ino, status.st_size, status.st_mtime_ns) != (self.inode, self.size, self.mtime):
            return False
        return not self.hash or file_hash(read_bytes(path) or b"") == self.hash


def look(path: str) -> tuple[bytes | None, Seen | None]:
    """The bytes of ``path`` and how to know them again; None of both where there is no such file."""
    try:
        status = os.stat(path)
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

    seen: Mapping[str, Seen | None]
    refused: set[str] = field(default_factory=set)
    _out: list[tuple[str, str, Seen]] = field(default_factory=list)

    def place(self, temporary: str, path: str) -> None:
        """Put the file ``temporary`` at ``path``, unless what stands there is not what was seen."""
        expected = self.seen.get(path)
        if expected is None:
            placed = _rename(temporary, path, _ONLY_NEW)
            if not placed:
                self._give_way(temporary, path)
            return
        ours = os.stat(temporary).st_ino
        if not _rename(temporary, path, _EXCHANGE):  # the person removed it
            self._give_way(temporary, path)
        elif expected.still(temporary):
            self._out.append((temporary, path, expected))
        else:
            self._put_back(temporary, path, ours)

    def remove(self, path: str) -> None:
        """Remove the file at ``path``, unless it is not what was seen."""
        if path in self.seen and self.seen[path] is None:
            return
        expected = self.seen.get(path)
        folder, _, name = path.rpartition("/")
        temporary = f"{folder}/{TEMPORARY}{os.getpid()}-removed-{name}"
        try:
            os.rename(path, temporary)
        except (FileNotFoundError, NotADirectoryError):
            return
        if expected is None or expected.still(temporary):
            self._out.append((temporary, path, expected or Seen(0, 0, 0)))
        else:
            self.refused.add(path)
            if not _rename(temporary, path, _ONLY_NEW):
                os.unlink(temporary)  # a newer one stands there

    def finish(self) -> None:
        """End the round: what somebody wrote late into a file that we had taken out is put back."""
        for temporary, path, expected in self._out:
            if expected.inode and not expected.still(temporary):
                self._late(temporary, path)
            with suppress(FileNotFoundError):
                os.unlink(temporary)
        self._out.clear()

    def _late(self, temporary: str, path: str) -> None:
        self.refused.add(path)
        if not _rename(temporary, path, _ONLY_NEW):
            _rename(temporary, path, _EXCHANGE)

    def _give_way(self, temporary: str, path: str) -> None:
        self.refused.add(path)
        os.unlink(temporary)

    def _put_back(self, temporary: str, path: str, ours: int) -> None:
        """Give a person's file its name again; where another was saved in between, that one, the newer, keeps it."""
        self.refused.add(path)
        _rename(temporary, path, _EXCHANGE)
        if os.stat(temporary).st_ino != ours:
            _rename(temporary, path, _EXCHANGE)
        os.unlink(temporary)


def _rename(source: str, target: str, how: int) -> bool:
    """Exchange two names, or rename onto a name that is free; False where that one is gone, or taken."""
    sys.audit("os.rename", source, target, -1, -1)
    failed = _system_rename(os.fsencode(source), os.fsencode(target), how)
    if failed in {errno.ENOENT, errno.EEXIST}:
        return False
    if failed in _UNSUPPORTED:
        return _approximated(source, target, how)
    if failed:
        raise OSError(failed, os.strerror(failed), target)
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


def _approximated(source: str, target: str, how: int) -> bool:
    """The same in two steps, on a file system that has no such operation."""
    if how == _ONLY_NEW:
        if os.path.exists(target):
            return False
        os.rename(source, target)
        return True
    aside = f"{source}-aside"
    try:
        os.rename(target, aside)
    except FileNotFoundError:
        return False
    os.rename(source, target)
    os.rename(aside, source)
    return True


_LIBRARY = ctypes.CDLL(None, use_errno=True)
