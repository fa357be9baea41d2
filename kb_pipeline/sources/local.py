"""Type ``local``: files and folders on this machine.

A file is read only when its size or time of change differ from what the manifest knows. A file's time of change is
never taken for the date of its content.
"""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from typing import get_args

from kb_pipeline.records import Fetched, RawEntry, Source, SourceType
from kb_pipeline.rules.ids import digest, sha256
from kb_pipeline.settings import Settings
from kb_pipeline.sources.kind import Kind
from kb_pipeline.sources.scan import File, scan
from kb_pipeline.world import World

_MAX_MB = 200
_ATTEMPTS = 3


def fetch(source: Source, known: Mapping[str, RawEntry], world: World) -> Iterator[Fetched]:
    """One line a file, sorted by path. An entry of ``known`` without ``stat`` has its file read and hashed anew."""
    limit = int(source.options.get("max_mb", _MAX_MB)) << 20
    source_type: SourceType | None = source.options.get("source_type")
    for file in scan(source, world.settings):
        entry = known.get(file.path)
        if file.folder:
            yield from _unreadable_folder(file, known)
        elif file.reason:
            yield Fetched(path=file.path, state="failed", uri=file.uri, reason=file.reason)
        elif entry is not None and entry.stat == (file.size, file.mtime_ns):
            yield Fetched(path=file.path, state="same", uri=file.uri, source_type=source_type, stat=entry.stat)
        else:
            line = _read(file, entry, limit, source_type)
            if line is not None:
                yield line


def fingerprint(source: Source, settings: Settings) -> str:
    """One hash over name, size, time of change and permissions of every file. Raises ``SourceUnavailable``."""
    state = hashlib.sha256()
    for file in scan(source, settings):
        line = f"{file.path}\0{file.size}\0{file.mtime_ns}\0{file.mode:o}\0{file.reason}\n"
        state.update(line.encode("utf-8", "surrogateescape"))
    return digest(state.digest())


def _unreadable_folder(folder: File, known: Mapping[str, RawEntry]) -> Iterator[Fetched]:
    """The folder itself and every document known below it: none of them may count as deleted."""
    below = sorted(path for path in known if path.startswith(f"{folder.path}/"))
    for path in (folder.path, *below):
        yield Fetched(path=path, state="failed", uri=folder.uri, reason=folder.reason)


def _read(file: File, entry: RawEntry | None, limit: int, source_type: SourceType | None) -> Fetched | None:
    """The file's line, or ``None`` where it was deleted since it was listed."""
    try:
        content, seen = _stable_content(file.place, limit)
    except FileNotFoundError:
        return None
    except (OSError, _Unfit) as error:
        reason = str(error) if isinstance(error, _Unfit) else f"cannot be read: {error.strerror}"
        return Fetched(path=file.path, state="failed", uri=file.uri, reason=reason)
    same = entry is not None and entry.sha256 == sha256(content)
    return Fetched(
        path=file.path,
        state="same" if same else "changed",
        uri=file.uri,
        content=None if same else content,
        source_type=source_type,
        stat=seen,
    )


class _Unfit(Exception):
    """Something that is there but cannot be taken, with the reason."""


def _stable_content(place: str, limit: int) -> tuple[bytes, tuple[int, int]]:
    """Bytes and ``(size, mtime_ns)`` that belong together: a file that changes while it is read is read again."""
    for _ in range(_ATTEMPTS):
        # Without O_NONBLOCK a pipe put in the file's place would hang the run.
        descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as opened:
            before = os.fstat(descriptor)
            if not stat.S_ISREG(before.st_mode):
                raise _Unfit("is no regular file any more")
            content = opened.read(limit + 1) if before.st_size <= limit else b""
            after = os.fstat(descriptor)
        if max(before.st_size, len(content)) > limit:
            raise _Unfit(f"has {before.st_size / 2**20:.1f} MB, more than max_mb: {limit >> 20}")
        if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, len(content)):
            return content, (after.st_size, after.st_mtime_ns)
    raise _Unfit("kept changing while it was read")


def _mistakes(source: Source) -> Iterable[str]:
    for uri in source.uri:
        if "://" in uri:
            yield f"uri {uri!r} is a URL, not a path. Write type: web, or the path of a file or folder."


KIND = Kind(
    fetch=fetch,
    fingerprint=fingerprint,
    remote=False,
    options={"follow_links": bool, "max_mb": int, "source_type": get_args(SourceType)},
    check=_mistakes,
)
