"""Edits of sources as people make them, and one step of a history: edits with what is expected of them."""

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


class Edit(Protocol):
    """One change of the files of a knowledge base; where it does not apply it changes nothing."""

    def apply(self, root: Path) -> frozenset[str]:
        """Make it below ``root``; the paths that it touched."""


@dataclass(frozen=True)
class Write:
    """A new file, or new content of one: text, or bytes as they shall stand."""

    path: str
    content: str | bytes

    def apply(self, root: Path) -> frozenset[str]:
        data = self.content.encode() if isinstance(self.content, str) else self.content
        path = root / self.path
        if path.is_dir() or any(p.is_file() for p in path.parents) or (path.is_file() and path.read_bytes() == data):
            return frozenset()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return frozenset({self.path})


@dataclass(frozen=True)
class Revert:
    """All these files as they were, by path."""

    files: Mapping[str, str]

    def apply(self, root: Path) -> frozenset[str]:
        return frozenset().union(*(Write(path, text).apply(root) for path, text in self.files.items()))


@dataclass(frozen=True)
class Swap:
    """Other words in place of words that stand in a file."""

    path: str
    old: str
    new: str

    def apply(self, root: Path) -> frozenset[str]:
        path = root / self.path
        if not path.is_file() or self.old.encode() not in (data := path.read_bytes()):
            return frozenset()
        return Write(self.path, data.replace(self.old.encode(), self.new.encode(), 1)).apply(root)


@dataclass(frozen=True)
class Move:
    """A file under another name, in another folder or in another source."""

    old: str
    new: str

    def apply(self, root: Path) -> frozenset[str]:
        old, new = root / self.old, root / self.new
        if not old.is_file() or new.exists() or any(p.is_file() for p in new.parents):
            return frozenset()
        new.parent.mkdir(parents=True, exist_ok=True)
        old.rename(new)
        return frozenset({self.old, self.new})


@dataclass(frozen=True)
class Copy:
    """A second file of the same bytes."""

    old: str
    new: str

    def apply(self, root: Path) -> frozenset[str]:
        if not (root / self.old).is_file():
            return frozenset()
        return Write(self.new, (root / self.old).read_bytes()).apply(root)


@dataclass(frozen=True)
class Remove:
    """A file that goes, or a folder, which must be empty."""

    path: str

    def apply(self, root: Path) -> frozenset[str]:
        path = root / self.path
        if path.is_file():
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()
        else:
            return frozenset()
        return frozenset({self.path})


@dataclass(frozen=True)
class Rename:
    """A folder under another name."""

    old: str
    new: str

    def apply(self, root: Path) -> frozenset[str]:
        if not (root / self.old).is_dir() or (root / self.new).exists():
            return frozenset()
        files = [p.relative_to(root / self.old).as_posix() for p in (root / self.old).rglob("*") if p.is_file()]
        shutil.move(root / self.old, root / self.new)
        return frozenset(f"{folder}/{name}" for folder in (self.old, self.new) for name in files)


@dataclass(frozen=True)
class Step:
    """Edits between two builds, and what they change in what is known, as a reader of the sources would say.

    ``gone`` statements are active no more; ``new`` ones are, with the documents that each cites (separated by spaces);
    ``cites`` tells of those that stay and cite other documents now; ``older`` maps what is superseded from now on to
    what holds in its place, ``dropped`` is superseded no more and not active either. ``moved`` maps documents to where
    they went, with all that cites them. ``clash`` are pairs that disagree from now on, ``settled`` those that do no
    more though both are active. ``redone`` counts documents that are extracted again, by default those that the edits
    touched and left; ``embedded`` counts statements that were never seen before, by default those in ``new`` and
    ``older``. ``filed`` counts texts of categories that are embedded, ``about`` names documents of which something
    else changed than path and bytes.
    """

    name: str
    edits: tuple[Edit, ...]
    gone: tuple[str, ...] = ()
    new: Mapping[str, str] = field(default_factory=dict)
    cites: Mapping[str, str] = field(default_factory=dict)
    older: Mapping[str, str] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict)
    clash: tuple[tuple[str, str], ...] = ()
    settled: tuple[tuple[str, str], ...] = ()
    redone: int | None = None
    embedded: int | None = None
    filed: int = 0
    about: tuple[str, ...] = ()


@dataclass
class Expected:
    """What should be known: active statements with the documents they cite, superseded ones with what holds now, pairs
    that disagree, and every statement that was ever seen."""

    active: dict[str, frozenset[str]]
    superseded: dict[str, str]
    clashes: set[frozenset[str]]
    seen: set[str]

    @classmethod
    def of(cls, active: Mapping[str, str], superseded: Mapping[str, str]) -> "Expected":
        """What is known at the start."""
        cited = {statement: frozenset(docs.split()) for statement, docs in active.items()}
        return cls(cited, dict(superseded), set(), {*active, *superseded})

    def after(self, step: Step) -> int:
        """Take ``step`` into account; how many statements it shows for the first time."""
        for statement in step.gone:
            del self.active[statement]
        for statement in step.dropped:
            del self.superseded[statement]
        self.active = {s: frozenset(step.moved.get(d, d) for d in docs) for s, docs in self.active.items()}
        for statement, docs in (*step.new.items(), *step.cites.items()):
            self.superseded.pop(statement, None)
            self.active[statement] = frozenset(docs.split())
        for statement, newest in step.older.items():
            self.active.pop(statement, None)
            self.superseded[statement] = newest
        self.clashes |= _pairs(step.clash)
        self.clashes -= _pairs(step.settled)
        self.clashes = {pair for pair in self.clashes if pair <= self.active.keys()}
        first = ({*step.new, *step.older}) - self.seen
        self.seen |= first
        return len(first) if step.embedded is None else step.embedded


def _pairs(pairs: Iterable[tuple[str, str]]) -> set[frozenset[str]]:
    return {frozenset(pair) for pair in pairs}
