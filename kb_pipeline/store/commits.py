"""One commit: which files it writes and removes, which a person's hand keeps, and the journal that survives a kill.

The intended hashes are journalled before the first file changes and stay until a commit is whole, so that after any
number of kills what matches neither journal nor manifest is known to be a person's.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from kb_pipeline.errors import StoreError
from kb_pipeline.records import Record
from kb_pipeline.rules.history import Turn
from kb_pipeline.store.codecs import NO_LINES, Codec, Found, Lines
from kb_pipeline.store.files import Stat, file_hash, prune, read_bytes, remove, replace, sweep, write_all
from kb_pipeline.store.guarded import Guard, Seen, look
from kb_pipeline.store.history import Step
from kb_pipeline.store.manifests import Entry, Manifest

VERSIONS = Path("normalized", ".versions")
FAULT, MOVED = "fault", "moved"
"""What an entry's ``info`` tells of a person's edit: what is wrong with it, where the person moved the file to."""
NO_CATEGORIES: Mapping[str, str] = {}


@dataclass(frozen=True)
class Group:
    """What a stage made for one key: its records, or ``files`` by path for originals, and where they come from.

    ``outputs`` names the files that stand for the key where not all of them travel (an original that is unchanged).
    """

    key: str
    records: Sequence[Record] = ()
    input: str = ""
    files: Mapping[str, bytes] | None = None
    outputs: Mapping[str, str] | None = None
    content: str = ""
    failed: str | None = None
    rejected: int = 0
    quarantined: int = 0
    info: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Committed:
    """What a commit changed: ``files`` that it wrote, by path below ``kb/``, and ``removed`` ones; keys whose bytes a
    person changed since and which were kept, and by key what is wrong with an edit that cannot stand. ``data`` are the
    bytes of the files, and of those at which a person was first."""

    manifest: Manifest
    files: Mapping[str, Stat]
    data: Mapping[str, bytes]
    removed: frozenset[str]
    edited: tuple[str, ...] = ()
    faults: Mapping[str, str] = field(default_factory=dict)

    @property
    def written(self) -> int:
        """How many files were written."""
        return len(self.files)


class Commit:
    """One commit in the making, over ``manifest`` and the files below ``folder`` (``kb/``).

    ``interrupted`` is what the file ``journal`` holds: paths, and hashes of what killed commits may have left there.
    ``categories`` maps the folder of each category to its name. ``lines`` tells what records of a file were read from,
    where the file has a given hash.
    """

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        codec: Codec | None,
        journal: Path,
        interrupted: Mapping[str, frozenset[str]],
        categories: Mapping[str, str] = NO_CATEGORIES,
        lines: Callable[[Mapping[str, str]], Lines] = lambda _: NO_LINES,
    ) -> None:
        self._folder, self._manifest, self._codec = folder, manifest, codec
        self._journal, self._interrupted = journal, interrupted
        self._entries: list[Entry] = []
        self._writes: dict[str, bytes] = {}
        self._stale: set[str] = set()
        self._gone: list[str] = []
        self._edited: list[str] = []
        self._categories, self._lines = categories, lines
        self._faults: dict[str, str] = {}
        self._persons: set[str] = set()  # files that hold a person's words
        self._seen: dict[str, Seen | None] = {}  # files that people may be saving at this moment, as they were read
        self.steps: list[Step] = []  # what becomes of items, for their history

    def add(self, group: Group, recipe: str) -> None:
        """Publish ``group``, with what a person changed in its files; one that cannot be read stays as it is."""
        old, records = self._manifest.get(group.key), group.records
        lines = self._lines(old.outputs) if old and self._codec and self._codec.shared else NO_LINES
        entry, files = _encoded(self._codec, group, recipe, lines)
        standing = cache(self._standing)
        editable = self._codec is not None and self._codec.editable
        if editable and old and old.outputs and not any(standing(path) is not None for path in old.outputs):
            return  # a person removed it since the run began: the next one takes note
        edits = self._edits(old, files, standing) if editable else {}
        if edits:
            entry, files, records = self._overlaid(group, entry, files, old, edits)
        if self._codec and self._codec.turn:
            self._remember(self._codec.turn, old, entry, files, standing, group.records, records)
        self._stale |= set(old.outputs if old else ()) - set(entry.outputs)
        self._writes.update({p: d for p, d in files.items() if standing(p) != d})
        self._entries.append(entry)

    def _standing(self, path: str) -> bytes | None:
        """The bytes at a path below ``kb/``; of a file that people edit it is noted what was seen."""
        there = f"{self._folder}/{path}"
        if not (self._codec and self._codec.editable):
            return read_bytes(there)
        data, self._seen[there] = look(there)
        return data

    def _remember(
        self,
        turn: Callable[[bytes | None, Sequence[Record], Sequence[Record]], Turn],
        old: Entry | None,
        entry: Entry,
        files: Mapping[str, bytes],
        standing: Callable[[str], bytes | None],
        said: Sequence[Record],
        now: Sequence[Record],
    ) -> None:
        """Note what becomes of an item whose file changes, as its history will tell it."""
        for path, data in files.items():
            before = standing(path) or next(filter(None, map(standing, old.outputs if old else ())), None)
            if before != data:
                self.steps.append(Step(path, entry.edited.get(path) or entry.outputs[path], turn(before, said, now)))

    def _overlaid(
        self, group: Group, entry: Entry, files: Mapping[str, bytes], old: Entry | None, edits: Mapping[str, str]
    ) -> tuple[Entry, Mapping[str, bytes], Sequence[Record]]:
        """The entry, the files and the records of a group that a person edited. ``outputs`` keeps the hashes of what we
        would have written, so that what stands there goes on counting as the person's."""
        assert self._codec
        found = self._found(old, edits)
        try:
            records, by_person = self._codec.overlaid(found, group.records)
        except StoreError as error:
            self._edited.append(group.key)
            self._faults[group.key] = str(error)
            outputs = old.outputs if old else entry.outputs
            moved = {name: place for name, place in (old.info if old else {}).items() if name == MOVED}
            info = {**entry.info, **moved, FAULT: str(error)}
            return entry.model_copy(update={"outputs": dict(outputs), "edited": dict(edits), "info": info}), {}, ()
        if not by_person:
            return entry, files, group.records
        if found.fresh:
            self._edited.append(group.key)
        files = self._codec.encode(group.key, records, NO_LINES)
        self._persons |= set(files)
        machine = next(iter(entry.outputs.values()))
        changes = {
            "outputs": dict.fromkeys(files, machine),
            "edited": {path: file_hash(data) for path, data in files.items()},
            "info": self._codec.facts(records),
        }
        return entry.model_copy(update=changes), files, records

    def _found(self, old: Entry | None, edits: Mapping[str, str]) -> Found:
        """The file that a person edited; where it was moved, the one that stands in the new place."""
        moved = str(old.info.get(MOVED, "")) if old else ""
        path = moved if moved in edits else min(edits)
        return Found(
            path=path,
            data=read_bytes(self._folder / path) or b"",
            fresh=old is None or not old.input or any(old.edited.get(p) != found for p, found in edits.items()),
            moved=path == moved,
            written=old.outputs.get(path, "") if old else "",
            folders=self._categories,
            facts=old.info if old else {},
        )

    def _edits(
        self, old: Entry | None, files: Mapping[str, bytes], standing: Callable[[str], bytes | None]
    ) -> dict[str, str]:
        """Paths whose bytes, ``standing`` on disk, are a person's on record, or neither the manifest's, nor the
        journal's, nor what is to be written."""
        edits: dict[str, str] = {}
        for path in {*files, *(old.outputs if old else ())}:
            found = standing(path)
            if found is None or found == files.get(path):
                continue
            current = file_hash(found)
            ours = {(old.outputs if old else {}).get(path), *self._interrupted.get(path, ())}
            if current not in ours or (old and old.edited.get(path) == current):
                edits[path] = current
        return edits

    def delete(self, keys: Iterable[str]) -> None:
        """Drop ``keys`` and their files."""
        self._gone = list(keys)
        gone = [path for key in self._gone if (e := self._manifest.get(key)) for path in e.outputs]
        self._stale |= set(gone)
        if self._codec and self._codec.turn:
            found = {path: self._standing(path) for path in gone}
            self.steps += [Step(p, None, self._codec.turn(data, (), ())) for p, data in found.items() if data]

    def carry_out(self) -> Committed:
        """Journal what is intended, write the files, the manifest last, then remove what is gone."""
        if self._interrupted:
            sweep(self._folders_of(self._interrupted))
        new = self._manifest.with_changes(self._entries, self._gone)
        stale = (self._stale | self._orphans(new)) - set(self._writes)
        if self._writes or stale:
            replace(self._journal, self._intentions(stale))
            if self._codec and self._codec.versioned:
                for path in sorted((stale | set(self._writes)) & self._texts()):
                    keep_version(self._folder, path)
        files = self._write(new, stale)
        self._journal.unlink(missing_ok=True)
        return Committed(new, files, self._writes, frozenset(stale), tuple(self._edited), self._faults)

    def _write(self, new: Manifest, stale: Set[str]) -> dict[str, Stat]:
        """Write the files, then the manifest, then remove what is ``stale``; the files as they are from then on. Where
        a person was first, his bytes stay, and no file is named: the next run looks at them."""
        old = [self._folder / path for path in sorted(stale)]
        if not (self._codec and self._codec.editable):
            written = write_all(self._folder, self._writes)
            new.save()
            remove(old, self._folder)
            return written
        guard = Guard(self._seen)
        written = write_all(self._folder, self._writes, place=guard.place)
        new.save()
        for path in old:
            guard.remove(str(path))
        guard.finish()
        prune(old, self._folder)
        return {path: stat for path, stat in written.items() if f"{self._folder}/{path}" not in guard.refused}

    def _folders_of(self, paths: Iterable[str]) -> set[Path]:
        """Where a commit of ``paths`` writes."""
        return {(self._folder / path).parent for path in paths} | {self._manifest.path.parent, self._folder / VERSIONS}

    def _intentions(self, stale: set[str]) -> bytes:
        """What this commit, and the killed ones before it, may leave on disk."""
        ours = self._writes.keys() - self._persons  # bytes with a person's words must not pass for ours
        intended = {path: found for e in self._entries for path, found in e.outputs.items() if path in ours}
        leaving = {path: file_hash(read_bytes(self._folder / path) or b"") for path in stale}
        hashes = {path: set(found) for path, found in self._interrupted.items()}
        for path, found in (*intended.items(), *leaving.items()):
            hashes.setdefault(path, set()).add(found)
        for path in self._persons:
            hashes.setdefault(path, set())
        return json.dumps({path: sorted(found) for path, found in sorted(hashes.items())}).encode()

    def _orphans(self, new: Manifest) -> set[str]:
        """Files that killed commits wrote, or were about to remove, and that no manifest names."""
        named = {path for entry in new for path in entry.outputs} if self._interrupted else set()
        return {
            path
            for path, hashes in self._interrupted.items()
            if path not in named
            and (found := read_bytes(self._folder / path)) is not None
            and file_hash(found) in hashes
        }

    def _texts(self) -> set[str]:
        return {path for entry in self._manifest for path in entry.outputs if path.endswith(".md")}


def version_path(folder: Path, version: str) -> Path:
    """Where a kept old version of a document lies, below ``kb/``."""
    return folder / VERSIONS / f"{version}.md"


def keep_version(folder: Path, path: str) -> None:
    """Keep the text at ``path`` under its hash, so that what cites it stays provable."""
    data = read_bytes(folder / path)
    if data is not None:
        kept = version_path(folder, file_hash(data))
        if not kept.exists():
            replace(kept, data)


def _encoded(codec: Codec | None, group: Group, recipe: str, lines: Lines) -> tuple[Entry, Mapping[str, bytes]]:
    """The manifest's entry for ``group``, and its files; ``lines`` need not be made again."""
    if group.failed is not None:
        return Entry(key=group.key, input=group.input, recipe=recipe, failed=group.failed, info=group.info), {}
    files, content, info = group.files or {}, group.content, group.info
    if codec and group.files is None:
        files = codec.encode(group.key, group.records, lines)
        content = codec.content(group.records, files)
        info = info or codec.facts(group.records)
    entry = Entry(
        key=group.key,
        input=group.input,
        recipe=recipe,
        content=content,
        outputs={path: file_hash(data) for path, data in files.items()} if group.outputs is None else group.outputs,
        made=len(group.records),
        rejected=group.rejected,
        quarantined=group.quarantined,
        info=info,
    )
    return entry, files
