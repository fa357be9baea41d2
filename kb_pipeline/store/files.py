"""Bytes on disk: atomic replacement, batched durability, locks. Knows nothing of stages or records."""

import fcntl
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from io import FileIO
from itertools import chain, count
from pathlib import Path
from typing import Any, TypeVar

from kb_pipeline.errors import Busy, StoreError

T = TypeVar("T")
TEMPORARY = ".tmp-kb-"
_NUMBERS = count()  # of temporary files; taking the next one is atomic
_PART = 256  # files that a thread writes or places in a row
_BATCH = 64  # above this many files one sync of the file system is cheaper than an fsync a file


def file_hash(data: bytes) -> str:
    """32 hex digits of SHA-256: what a manifest records of an output."""
    return hashlib.sha256(data).hexdigest()[:32]


def read_bytes(path: Path | str) -> bytes | None:
    """The bytes of ``path``, or None where there is no such file."""
    try:
        with FileIO(path) as file:
            return file.readall()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(
            f"cannot be read: {error.strerror}.", where=str(path), cure="Check its permissions."
        ) from error


Stat = tuple[int, int]  # size and mtime (ns)
FileState = tuple[int, int, int]  # mtime (ns), inode, size


def stat_of(path: str) -> Stat | None:
    """Size and mtime of a file; None where there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116 - asked of 44,000 a build
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_size, status.st_mtime_ns


def file_state(path: Path) -> FileState | None:
    """What changes when a file is written or replaced; None where there is none."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size


def replace(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Write ``data`` to ``path`` so that a reader, or a crash, sees the old bytes or the new ones, never a mixture."""
    write_all(path.parent, {path.name: data}, durable=durable)


def write_all(
    root: Path, files: Mapping[str, bytes], *, durable: bool = True, place: Callable[[str, str], None] = os.replace
) -> dict[str, Stat]:
    """Replace many files, by path below ``root``; what each is from then on.

    All are on disk before the first is renamed into place, so that no name ever leads to bytes that a power loss could
    take; raises ``StoreError`` (disk full, read-only) before any rename where it can. ``place`` gives a written file
    its name.
    """
    staged: dict[str, str] = {}  # the name that each temporary file is to have
    try:
        stats = _stage(str(root), files, staged, durable)

        def placed(temporary: str) -> None:
            place(temporary, staged[temporary])
            del staged[temporary]

        _side_by_side(placed, list(staged))
        if durable:
            _sync({_folder(f"{root}/{path}") for path in files})
        return stats
    except OSError as error:
        raise StoreError(
            f"cannot be written: {error.strerror}.",
            where=str(error.filename or root),
            cure="Free space or check permissions; the last good state is untouched.",
        ) from error
    finally:
        for temporary in staged:
            with suppress(OSError):
                Path(temporary).unlink()


def _stage(root: str, files: Mapping[str, bytes], staged: dict[str, str], durable: bool) -> dict[str, Stat]:
    """Write the files under temporary names beside their own. Their names stay strings: a ``Path`` costs as much as
    writing the file."""
    for folder in {_folder(f"{root}/{name}") for name in files}:
        Path(folder).mkdir(parents=True, exist_ok=True)

    def written(name: str) -> Stat:
        path = f"{root}/{name}"
        temporary = f"{_folder(path)}/{TEMPORARY}{os.getpid()}-{next(_NUMBERS)}"
        staged[temporary] = path
        return _written(temporary, files[name])

    stats = dict(zip(files, _side_by_side(written, list(files)), strict=True))
    if durable:
        _sync(list(staged))
    return stats


def _side_by_side(do: Callable[[str], T], names: Sequence[str]) -> list[T]:
    """``do`` each name; many of them two at a time, since the system's part of it needs no interpreter. The first that
    raises ends it, and none is under way by then."""
    if len(names) <= _PART:
        return [do(name) for name in names]
    parts = (names[start : start + _PART] for start in range(0, len(names), _PART))
    with ThreadPoolExecutor(2, "kb-files") as threads:
        return list(chain.from_iterable(threads.map(lambda part: [do(name) for name in part], parts)))


def _written(path: str, data: bytes) -> Stat:
    """Write a file, whole; what it is then."""
    with FileIO(path, "wb") as file:
        left = memoryview(data)
        while left:
            left = left[file.write(left) :]
        status = os.fstat(file.fileno())
    return status.st_size, status.st_mtime_ns


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def sweep(folders: Iterable[Path]) -> None:
    """Remove from ``folders`` (not from those below) what writers that were killed left unfinished."""
    for folder in folders:
        with suppress(OSError):
            for entry in os.scandir(folder):
                writer = entry.name.removeprefix(TEMPORARY).partition("-")[0]
                if entry.name.startswith(TEMPORARY) and not _alive(int(writer)):
                    Path(entry.path).unlink(missing_ok=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _sync(paths: Collection[str]) -> None:
    if len(paths) > _BATCH:
        os.sync()
        return
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove(paths: list[Path], root: Path) -> int:
    """Remove files and the folders below ``root`` that this empties; the number of files removed."""
    removed = 0
    for path in paths:
        with suppress(FileNotFoundError, NotADirectoryError):
            path.unlink()
            removed += 1
    prune(paths, root)
    return removed


def prune(paths: list[Path], root: Path) -> None:
    """Remove the folders below ``root`` that are empty without the files that stood at ``paths``."""
    for parent in {p.parent for p in paths}:
        folder = parent
        while folder != root and root in folder.parents:
            try:
                folder.rmdir()
            except OSError:
                break
            folder = folder.parent


def stat_tree(root: Path, folder: str, suffix: str | tuple[str, ...]) -> dict[str, Stat]:
    """Size and mtime (ns) of each file in and below ``folder`` that is not hidden and whose name ends in ``suffix``, by
    path below ``root``."""
    found: dict[str, Stat] = {}
    for path, entry in _walk(f"{root}/", f"{folder}/", hidden=False):
        if path.endswith(suffix):
            status = entry.stat()
            found[path] = status.st_size, status.st_mtime_ns
    return found


def names_below(root: Path, folder: str) -> frozenset[str]:
    """The files in and below ``folder``, by path below ``root``: what is to be asked of thousands is listed once."""
    return frozenset(path for path, _ in _walk(f"{root}/", f"{folder}/", hidden=True))


def _walk(root: str, folder: str, *, hidden: bool) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Each file with its path below ``root``; both given end in ``/``."""
    pending = [folder]
    while pending:
        above = pending.pop()
        try:
            entries = os.scandir(root + above)
        except (FileNotFoundError, NotADirectoryError):
            continue
        with entries:
            for entry in entries:
                if not hidden and entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    pending.append(f"{above}{entry.name}/")
                else:
                    yield above + entry.name, entry


_HELD: dict[Path, int] = {}
_GUARD = threading.RLock()


@contextmanager
def lease(
    path: Path, *, holder: str = "", wait: float = 24 * 3600.0, on_wait: Callable[[str], None] = lambda _: None
) -> Iterator[None]:
    """Hold the lock file ``path`` across processes, as ``holder``; entering again in one process is free.

    Waits up to ``wait`` seconds, telling ``on_wait`` once who holds it; raises ``Busy`` after that. The kernel frees
    the lock of a process that dies.
    """
    with _GUARD:
        if path in _HELD:
            _HELD[path] += 1
            try:
                yield
            finally:
                _HELD[path] -= 1
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+") as f:
            _acquire(f.fileno(), path, wait, on_wait)
            f.seek(0)
            f.truncate()
            since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            f.write(json.dumps({"pid": os.getpid(), "since": since, "holder": holder}))
            f.flush()
            _HELD[path] = 1
            try:
                yield
            finally:
                del _HELD[path]
                fcntl.flock(f.fileno(), fcntl.LOCK_UN)


def holder(path: Path) -> dict[str, Any] | None:
    """Who holds the lock file ``path`` now (``pid``, ``since``, ``holder``), or None; waits for nobody."""
    try:
        with path.open() as f:
            fcntl.flock(f.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        with suppress(ValueError):
            return dict(json.loads(path.read_text()))
        return {}
    except FileNotFoundError:
        return None
    return None


def keep(path: Path, what: str) -> None:
    """Hold the lock file ``path`` for as long as this process lives, also after it becomes another program.

    Raises ``Busy`` where another process does.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _acquire(descriptor, path, 0, lambda _: None)
    except Busy as error:
        os.close(descriptor)
        raise Busy(f"{what} ({path.read_text()}).", where=str(path), cure="Stop the other one first.") from error
    os.ftruncate(descriptor, 0)
    os.write(descriptor, json.dumps({"pid": os.getpid()}).encode())
    os.set_inheritable(descriptor, True)


def _acquire(descriptor: int, path: Path, wait: float, on_wait: Callable[[str], None]) -> None:
    until, told = time.monotonic() + wait, False
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = path.read_text() or "{}"
            if time.monotonic() >= until:
                raise Busy(
                    f"another build holds the lease ({holder}).", where=str(path), cure="Wait for it, or stop it."
                ) from error
            if not told:
                on_wait(holder)
                told = True
            time.sleep(0.05)
        else:
            return
