"""The history of items on disk: ``kb/history/<2 hex of the id>.jsonl``, tracked in git. Knows no cause of anything.

Lines are sorted by item, then as they were added, and never change: two branches that add to different items merge, and
an edit adds its own lines alone. What a commit is about to do is noted in ``kb/cache`` before it begins, and becomes
history after it: of a killed one, the next commit tells what was done, once, and what was not is never told.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from kb_pipeline.errors import StoreError
from kb_pipeline.records import Cause, Event, Item, Record
from kb_pipeline.rules.history import NO_CAUSE, Turn, events
from kb_pipeline.store.codecs import json_lines, parse
from kb_pipeline.store.files import file_hash, read_bytes, replace, write_all

FOLDER = "history"
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
    """What a commit does to one file below ``kb/``: ``bytes_`` are what will stand at ``path``, None where nothing."""

    path: str
    bytes_: bytes | None
    turn: Turn


class History:
    """Events below ``folder`` (``kb/``). Written under the lock of the knowledge base; read by anybody."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._noted = folder / "cache" / "history.jsonl"

    def of(self, item: str) -> list[Event]:
        """The events of one item, oldest first."""
        return self._shard(_name(item)).get(item, [])

    def all(self) -> Iterator[tuple[str, list[Event]]]:
        """Every item that has a history, with its events, oldest first."""
        for path in sorted((self._folder / FOLDER).glob("*.jsonl")):
            yield from self._shard(path.stem).items()

    def note(self, steps: Sequence[Step], telling: Telling) -> None:
        """Note what the commit that follows is about to do, on disk before this returns."""
        missing = (Turn(item, None, None) for item in telling.gone.values() if isinstance(item, Item))
        steps = [*steps, *(Step(NOWHERE, None, turn) for turn in missing)]
        past = self._past(step.turn for step in steps)
        lines = []
        for step in steps:
            item = step.turn.now or step.turn.before
            if item is None:
                continue
            cause = telling.causes.get(item.id, NO_CAUSE)
            made = events(step.turn, past.get(item.id, []), cause, _at(step.turn, telling.at), telling.run)
            hash_ = file_hash(step.bytes_) if step.bytes_ is not None else None
            lines += [json.dumps([step.path, hash_, event.model_dump_json(exclude_defaults=True)]) for event in made]
        if lines:
            replace(self._noted, ("\n".join(lines) + "\n").encode())

    def settle(self) -> None:
        """Tell what was noted and done; after a whole commit that is all of it."""
        data = read_bytes(self._noted)
        if data is not None:
            self._add(_done(self._folder, data))
            self._noted.unlink(missing_ok=True)

    def rewrite(self, told: Mapping[str, Sequence[Event]]) -> int:
        """Replace the events of the items in ``told``, for what must be forgotten; the number of files written."""
        shards: dict[str, dict[str, list[Event]]] = {}
        for item, kept in told.items():
            shard = shards.setdefault(_name(item), self._shard(_name(item)))
            shard.pop(item, None)
            if kept:
                shard[item] = list(kept)
        return self._save(shards)

    def _past(self, turns: Iterable[Turn]) -> dict[str, list[Event]]:
        found: dict[str, list[Event]] = {}
        for name in sorted({_name(item.id) for turn in turns if (item := turn.now or turn.before)}):
            found.update(self._shard(name))
        return found

    def _add(self, news: Iterable[Event]) -> None:
        shards: dict[str, dict[str, list[Event]]] = {}
        for item, group in groupby(news, key=lambda event: event.item):
            name, told = _name(item), list(group)
            if name not in shards:
                shards[name] = self._shard(name)
            known = shards[name].setdefault(item, [])
            if known[-len(told) :] != told:  # else they were told by a commit that was killed right afterwards
                known += told
        self._save(shards)

    def _save(self, shards: Mapping[str, Mapping[str, Sequence[Event]]]) -> int:
        files, empty = {}, []
        for name, items in shards.items():
            path = self._path(name)
            data = json_lines([event for item in sorted(items) for event in items[item]])
            if not data:
                empty.append(path)
            elif read_bytes(path) != data:
                files[path] = data
        if files:
            write_all(files)
        for path in empty:
            path.unlink(missing_ok=True)
        return len(files)

    def _shard(self, name: str) -> dict[str, list[Event]]:
        """The events of one file by item. Raises ``StoreError`` that names the file of a broken line."""
        path = self._path(name)
        found: dict[str, list[Event]] = {}
        for line in (read_bytes(path) or b"").splitlines():
            event = parse(Event, f"kb/{FOLDER}/{path.name}", line)
            found.setdefault(event.item, []).append(event)
        return found

    def _path(self, name: str) -> Path:
        return self._folder / FOLDER / f"{name}.jsonl"


def _name(item: str) -> str:
    return item.removeprefix("kb_")[:2] or "00"


def _at(turn: Turn, at: str) -> str:
    """The date that the item itself bears, where this publication gave it one."""
    if turn.now is None or (turn.before and turn.before.updated_at == turn.now.updated_at):
        return at
    return turn.now.updated_at or at


def _done(folder: Path, noted: bytes) -> Iterator[Event]:
    """The noted events whose files are as they were meant to be; a line that a crash tore counts as never noted."""
    for line in noted.splitlines():
        try:
            path, wanted, told = json.loads(line)
        except ValueError:
            continue
        found = read_bytes(folder / path)
        if (found and file_hash(found)) == wanted:
            try:
                yield parse(Event, str(path), told.encode())
            except StoreError:
                continue
