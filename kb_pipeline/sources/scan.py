"""Which files a local source holds, and the cheap state of each. Reads folders, never a file's content."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from kb_pipeline.errors import SourceUnavailable
from kb_pipeline.records import Source
from kb_pipeline.rules.ids import digest
from kb_pipeline.settings import Settings
from kb_pipeline.sources.globs import Selection
from kb_pipeline.sources.paths import bad_name, mark, printable, safe_name

# Never part of a source, wherever it lies: what the knowledge base keeps in its own root.
_OWN = ("kb", ".dagster", "sources.yaml", "taxonomy.yaml", "workspace.yaml", "dagster.yaml")


class File(NamedTuple):
    """One file of a source, or, with a ``reason``, something of it that cannot be read.

    ``path`` is its name within the source, ``place`` where it lies on disk, ``uri`` how the user would write it.
    ``home`` is the name of the folder that ``uri`` in ``sources.yaml`` means. ``folder`` says that a whole folder is
    unreadable.
    """

    path: str
    place: str
    uri: str
    home: str
    size: int = 0
    mtime_ns: int = 0
    mode: int = 0
    reason: str = ""
    folder: bool = False


_Listings = dict[tuple[Path, str], tuple[Source, list[File]]]
_LISTED: ContextVar[_Listings | None] = ContextVar("listed", default=None)


@contextmanager
def listed_once() -> Iterator[None]:
    """List each source once inside the block: its fingerprint, and what is read of it, tell of the same moment. What
    changes later differs from that fingerprint, so the next look finds it."""
    token = _LISTED.set({} if (outer := _LISTED.get()) is None else outer)
    try:
        yield
    finally:
        _LISTED.reset(token)


def scan(source: Source, settings: Settings) -> list[File]:
    """The files of ``source``, sorted by path; no path twice.

    Raises ``SourceUnavailable`` where one of its paths is missing, unreadable or the knowledge base itself.
    """
    listings = _LISTED.get()
    if listings is None:
        return _scan(source, settings)
    entry, files = listings.get((settings.root, source.id), (None, []))
    if entry != source:
        files = _scan(source, settings)
        listings[settings.root, source.id] = source, files
    return files


def _scan(source: Source, settings: Settings) -> list[File]:
    walk = _Walk(source, settings)
    bases = [_Base(source, uri, settings.root) for uri in source.uri]
    found = [file for base in bases for file in sorted(walk.base(base))]
    found += sorted(walk.links())
    return sorted(_apart(found))


def _apart(found: list[File]) -> Iterator[File]:
    """The same files, no path twice: the first keeps a contested one, later ones say where they are from."""
    taken: set[str] = set()
    for file in found:
        path = file.path
        if path in taken and file.home:
            path = f"{file.home}/{path}"
        if path in taken:
            path = mark(path, digest(file.place.encode("utf-8", "surrogateescape"))[:8])
        taken.add(path)
        yield file if path == file.path else file._replace(path=path)


class _Base:
    """One ``uri`` of a source: ``place`` is its real path, ``uri`` and ``name`` how messages and prefixes call it."""

    def __init__(self, source: Source, uri: str, root: Path) -> None:
        expanded = os.path.expanduser(uri)  # noqa: PTH111 - pathlib would drop what the user wrote
        self.uri = os.path.normpath(expanded).replace(os.sep, "/")
        try:
            self.place = os.path.realpath(root / expanded, strict=True)
            self.is_folder = stat.S_ISDIR(os.stat(self.place).st_mode)  # noqa: PTH116
        except OSError as error:
            raise _unavailable(source, f"{uri!r} cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise _unavailable(source, f"{uri!r} is no path: {error}") from error
        self.name = safe_name(printable(os.path.basename(self.place)))  # noqa: PTH119
        self._prefix = "" if self.uri == "." else f"{self.uri.rstrip('/')}/"

    def file(self, place: str, path: str, state: os.stat_result | None, reason: str = "", folder: bool = False) -> File:
        """What the source says of ``place``, which it calls ``path``."""
        below = printable(place[len(self.place) :]).strip("/") if place.startswith(self.place) else path
        uri = self._prefix + below if below else self.uri
        home = self.name if self.is_folder else ""
        if state is None:
            return File(path, place, uri, home, reason=reason, folder=folder)
        return File(path, place, uri, home, state.st_size, state.st_mtime_ns, stat.S_IMODE(state.st_mode))


def _unavailable(source: Source, what: str) -> SourceUnavailable:
    cure = "Correct uri in sources.yaml, or make it readable again; until then its last good documents stay."
    return SourceUnavailable(f"{what}.", where=f"source {source.id!r}", cure=cure)


class _Walk:
    """One pass over the folders of a source. No folder is entered twice, so links cannot make it endless."""

    def __init__(self, source: Source, settings: Settings) -> None:
        self._source = source
        self._selection = Selection(source.include, source.exclude)
        self._follow = bool(source.options.get("follow_links", False))
        self._own = {os.path.realpath(settings.root / name) for name in _OWN}
        self._folders: set[str] = set()
        self._files: set[str] = set()
        self._links: list[tuple[_Base, str, str]] = []

    def base(self, base: _Base) -> Iterator[File]:
        """What stands at ``base``; symbolic links are kept for ``links``."""
        if self._is_own(base.place):
            raise _unavailable(self._source, f"{base.uri!r} lies in the knowledge base's own folder")
        if not base.is_folder:
            yield from self._named(base)
            return
        try:
            os.scandir(base.place).close()
        except OSError as error:
            raise _unavailable(self._source, f"{base.uri!r} cannot be read: {error.strerror}") from error
        yield from self._folder(base, base.place, "")

    def links(self) -> Iterator[File]:
        """What symbolic links lead to, unless it was listed already or lies outside and ``follow_links`` is off."""
        while self._links:
            round_, self._links = sorted(self._links, key=itemgetter(2, 1)), []
            for base, place, path in round_:
                yield from self._link(base, place, path)

    def _link(self, base: _Base, place: str, path: str) -> Iterator[File]:
        try:
            real = os.path.realpath(place, strict=True)
            state = os.stat(real)  # noqa: PTH116
        except OSError:
            yield base.file(place, path, None, "a link that leads nowhere")
            return
        inside = real == base.place or real.startswith(base.place.rstrip("/") + "/")
        if self._is_own(real) or not (inside or self._follow):
            return
        if stat.S_ISDIR(state.st_mode):
            yield from self._folder(base, real, path)
        elif stat.S_ISREG(state.st_mode) and self._selection.includes(path):
            yield from self._new(base.file(real, path, state))

    def _is_own(self, real: str) -> bool:
        return any(real == own or real.startswith(own + "/") for own in self._own)

    def _new(self, file: File) -> Iterator[File]:
        if file.place not in self._files and file.place not in self._own:
            self._files.add(file.place)
            yield file

    def _named(self, base: _Base) -> Iterator[File]:
        """A file that ``uri`` names itself, whatever ``include`` says."""
        state = os.stat(base.place)  # noqa: PTH116
        if not stat.S_ISREG(state.st_mode):
            raise _unavailable(self._source, f"{base.uri!r} is neither a file nor a folder")
        yield from self._new(base.file(base.place, base.name, state))

    def _folder(self, base: _Base, place: str, path: str) -> Iterator[File]:
        """The files in and below ``place``, which the source calls ``path``."""
        waiting = [(place, path)]
        while waiting:
            place, path = waiting.pop()
            if place in self._folders or place in self._own:
                continue
            self._folders.add(place)
            try:
                with os.scandir(place) as listing:
                    entries = list(listing)
            except FileNotFoundError:
                continue  # removed since its parent was listed
            except OSError as error:
                yield base.file(place, path, None, f"the folder cannot be read: {error.strerror}", folder=True)
                continue
            if any(entry.name == "pyvenv.cfg" for entry in entries):
                continue  # a virtual environment: other people's code, not a source
            yield from self._entries(base, entries, f"{path}/" if path else "", waiting)

    def _entries(
        self, base: _Base, entries: list[os.DirEntry[str]], above: str, waiting: list[tuple[str, str]]
    ) -> Iterator[File]:
        """The files among ``entries``; folders go to ``waiting``, links aside, pipes and devices nowhere."""
        for entry in entries:
            path = above + safe_name(printable(entry.name))
            if not self._selection.enters(path, entry.name):
                continue
            if (why := bad_name(entry.name)) is not None:
                yield base.file(entry.path, path, None, why, folder=entry.is_dir(follow_symlinks=False))
            elif entry.is_symlink():
                self._links.append((base, entry.path, path))
            elif entry.is_dir(follow_symlinks=False):
                waiting.append((entry.path, path))
            elif entry.is_file(follow_symlinks=False) and self._selection.includes(path):
                try:
                    yield from self._new(base.file(entry.path, path, entry.stat(follow_symlinks=False)))
                except FileNotFoundError:
                    continue  # removed since its folder was listed
