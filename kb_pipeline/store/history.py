"""The history of items on disk: ``kb/history/<2 hex of the id>.jsonl``, tracked in git. Knows no cause of anything.

Lines are sorted by item, then as they were added, and never change: two branches that add to different items merge, and
an edit adds its own lines alone. What a commit is about to do is noted in ``kb/cache`` before it begins, and becomes
history after it: of a killed one, the next commit tells what was done, once, and what was not is never told.
"""

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from kb_pipeline.errors import StoreError
from kb_pipeline.records import Cause, Event, Item, Record
from kb_pipeline.rules.history import NO_CAUSE, Turn, events
from kb_pipeline.store.codecs import json_lines, parse
from kb_pipeline.store.files import FileState, file_hash, file_state, read_bytes, replace, write_all

FOLDER = "history"
_Shard = dict[str, list[bytes]]  # lines by item
NOWHERE = "items/.gone"  # where no file is: what happened to an item without one has happened


@dataclass(frozen=True)
class Telling:
    """When and in which run a commit takes place; by item the causes that are known, and what those said whose files
    are ``gone`` already."""

    at: str = ""
    run: str = ""
    causes: Mapping[str, Cause] = field(default_factory=dict)
    gone: Mapping[str, Record] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """What a commit does to one file below ``kb/``: ``wanted`` is the hash of what will then
    stand at ``path``, None where nothing will."""

    path: str
    wanted: str | None
    turn: Turn


@dataclass(frozen=True, slots=True)
class _Noted:
    """A line on ``item`` that counts once the file at ``path`` has the hash ``wanted`` (None: once there is none)."""

    path: str
    wanted: str | None
    item: str
    line: bytes


class History:
    """Events below ``folder`` (``kb/``). Written under the lock of the knowledge base; read by anybody."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._note = folder / "cache" / "history.jsonl"
        self._noted: tuple[FileState | None, list[_Noted]] = None, []  # what this process wrote there

    def of(self, item: str) -> list[Event]:
        """The events of one item, oldest first."""
        name = _name(item)
        return self._events(name, self._shard(name).get(item, ()))

    def all(self) -> Iterator[tuple[str, list[Event]]]:
        """Every item that has a history, with its events, oldest first."""
        for path in sorted((self._folder / FOLDER).glob("*.jsonl")):
            for item, lines in self._shard(path.stem).items():
                yield item, self._events(path.stem, lines)

    def note(self, steps: Sequence[Step], telling: Telling) -> None:
        """Note what the commit that follows is about to do, on disk before this returns."""
        missing = (Turn(item, None, None) for item in telling.gone.values() if isinstance(item, Item))
        steps = [*steps, *(Step(NOWHERE, None, turn) for turn in missing)]
        past = self._past(step.turn for step in steps)
        noted = []
        for step in steps:
            item = step.turn.now or step.turn.before
            if item is None:
                continue
            cause = telling.causes.get(item.id, NO_CAUSE)
            made = events(step.turn, past.get(item.id, []), cause, _at(step.turn, telling.at), telling.run)
            if made:
                noted += [_Noted(step.path, step.wanted, item.id, line) for line in _lines(made)]
        if noted:
            told = (json.dumps([each.path, each.wanted, each.line.decode()]) for each in noted)
            replace(self._note, "".join(f"{line}\n" for line in told).encode())
            self._noted = file_state(self._note), noted

    def settle(self, written: Container[str] = ()) -> None:
        """Tell what was noted and done; after a whole commit that is all of it. The files ``written`` are known to be
        as they were meant to be, others are looked at."""
        state = file_state(self._note)
        if state is None:
            return
        noted = self._noted[1] if self._noted[0] == state else _parsed(read_bytes(self._note) or b"")
        self._add(each for each in noted if each.path in written or self._is_done(each))
        self._note.unlink(missing_ok=True)
        self._noted = None, []

    def _is_done(self, noted: _Noted) -> bool:
        found = read_bytes(self._folder / noted.path)
        return (file_hash(found) if found else None) == noted.wanted

    def rewrite(self, told: Mapping[str, Sequence[Event]]) -> int:
        """Replace the events of the items in ``told``, for what must be forgotten; the number of files written."""
        shards: dict[str, _Shard] = {}
        for item, kept in told.items():
            shard = shards.setdefault(_name(item), self._shard(_name(item)))
            shard.pop(item, None)
            if kept:
                shard[item] = _lines(kept)
        return self._save(shards)

    def _past(self, turns: Iterable[Turn]) -> dict[str, list[Event]]:
        wanted = sorted({item.id for turn in turns if (item := turn.now or turn.before)}, key=_name)
        found: dict[str, list[Event]] = {}
        for name, items in groupby(wanted, key=_name):
            shard = self._shard(name)
            found.update((item, self._events(name, shard[item])) for item in items if item in shard)
        return found

    def _add(self, news: Iterable[_Noted]) -> None:
        shards: dict[str, _Shard] = {}
        for item, group in groupby(news, key=attrgetter("item")):
            name, told = _name(item), [each.line for each in group]
            if name not in shards:
                shards[name] = self._shard(name)
            known = shards[name].setdefault(item, [])
            if known[-len(told) :] != told:  # else they were told by a commit that was killed right afterwards
                known += told
        self._save(shards)

    def _save(self, shards: Mapping[str, _Shard]) -> int:
        files: dict[str, bytes] = {}
        empty: list[Path] = []
        for name, items in shards.items():
            path = self._path(name)
            data = b"".join(line + b"\n" for item in sorted(items) for line in items[item])
            if not data:
                empty.append(path)
            elif read_bytes(path) != data:
                files[path.name] = data
        if files:
            write_all(self._folder / FOLDER, files)
        for path in empty:
            path.unlink(missing_ok=True)
        return len(files)

    def _shard(self, name: str) -> _Shard:
        """The lines of one file by item. Raises ``StoreError`` that names the file of a line without one."""
        path = self._path(name)
        found: _Shard = {}
        for line in (read_bytes(path) or b"").splitlines():
            match = _ITEM.match(line)
            item = match[1].decode() if match else self._event(name, line).item
            found.setdefault(item, []).append(line)
        return found

    def _events(self, name: str, lines: Iterable[bytes]) -> list[Event]:
        return [self._event(name, line) for line in lines]

    def _event(self, name: str, line: bytes) -> Event:
        """Raises ``StoreError`` that names the file of a broken line."""
        return parse(Event, f"kb/{FOLDER}/{name}.jsonl", line)

    def _path(self, name: str) -> Path:
        return self._folder / FOLDER / f"{name}.jsonl"


_ITEM = re.compile(rb'\{"schema_version":\d+,"item":"(kb_[0-9a-f]+)"')  # as we write it; other lines are read whole


def _lines(told: Sequence[Event]) -> list[bytes]:
    return json_lines(told).splitlines()


def _name(item: str) -> str:
    return item.removeprefix("kb_")[:2] or "00"


def _at(turn: Turn, at: str) -> str:
    """The date that the item itself bears, where this publication gave it one."""
    if turn.now is None or (turn.before and turn.before.updated_at == turn.now.updated_at):
        return at
    return turn.now.updated_at or at


def _parsed(note: bytes) -> Iterator[_Noted]:
    """What a process that was killed had noted; a line that a crash tore counts as never noted."""
    for line in note.splitlines():
        try:
            path, wanted, told = json.loads(line)
            event = parse(Event, str(path), told.encode())
            yield _Noted(path, wanted, event.item, told.encode())
        except (ValueError, StoreError):
            continue
