"""The verbs of memory: what happened to an item, what was known on a date. Changes nothing.

Both are told from item files and their history alone, without git.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np

from kb_pipeline.api.asking import Asking
from kb_pipeline.api.views import item_view, passages
from kb_pipeline.errors import KbError, NotFound
from kb_pipeline.query.search import search as search_
from kb_pipeline.records import DocumentView, Event, Item, ItemView, Row, Scope, SearchResult
from kb_pipeline.rules import ids
from kb_pipeline.rules.history import as_of as as_of_
from kb_pipeline.rules.history import moment, with_quotes
from kb_pipeline.stages.index import item_row
from kb_pipeline.store.index import LocalIndex
from kb_pipeline.store.manifests import Entry

_DATE = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?")
_ITEM = "kb_"
_LIVE = frozenset({"active"})


class Remembering(Asking):
    """Looking at the knowledge base as it was, and at how it came to be what it is."""

    def history(self, name: str) -> list[Event]:
        """What happened to an item, by its id or alias, oldest first, each event with its quotes.

        Raises ``NotFound`` where no item ever had that id.
        """
        told = self.kb.history.of(name)
        item = self._item(name)
        if item is None and not told:
            item = item_view(self._run(), name).item  # an alias, or the error that names what is near
            told = self.kb.history.of(item.id)
        return with_quotes(item, told)

    def recent_changes(self, since: str, limit: int = 100) -> list[Event]:
        """Events from ``since`` (a date or a time in UTC) on, the latest first."""
        first = _checked(since, "since")
        found = (event for _, told in self.kb.history.all() for event in told if event.at >= first)
        return sorted(found, key=lambda event: event.at, reverse=True)[:limit]

    def show(self, name: str, as_of: str | None = None) -> ItemView | DocumentView:
        """An item by its id or alias, or a document by its id; an item also as it was on a date, without what stands
        near it now.

        Raises ``NotFound`` where it was not there then, ``KbError`` (code ``usage``) for a date that is none and for a
        document as of a date: of documents only what is cited is kept.
        """
        if as_of is None:
            return super().show(name)
        until = moment(_checked(as_of))
        if not name.startswith(_ITEM):
            cure = "Ask for an item: its quotes are kept."
            raise KbError("of a document no earlier text is kept.", where=name, cure=cure, code="usage")
        item = as_of_(self._item(name), self.kb.history.of(name), until)
        if item is None:
            cure = f"`kb history {name}` tells its story."
            raise NotFound(f"there was no item '{name}' on {as_of}.", where="kb show", cure=cure)
        return ItemView(item=item, passages=tuple(passages(self._run(), item)), neighbours=(), decisions=())

    def search(self, query: str, *, as_of: str | None = None, **asked: Any) -> SearchResult:
        """The best hits for ``query`` from the live generation, or among the items that were active on a date, or those
        of the statuses that the scope names.

        ``asked`` are the other options of ``Asking.search``. Of a date, and of items that are not active, there are no
        passages and pages, and no generation: they are found by words and codes, and by meaning where the cache still
        holds their vectors. ``ms`` excludes the reconstruction, which reads every item that can be meant.
        """
        statuses = (asked.get("scope") or Scope()).statuses
        if as_of is None and not {*statuses} - _LIVE:
            return super().search(query, **asked)
        within = self._within(asked.pop("scope", None), asked.pop("project", None))
        items = self._inactive(statuses) if as_of is None else self.items_as_of(moment(_checked(as_of)))
        kept = {*statuses} or _LIVE
        rows = [item_row(item) for item in items if item.status in kept and item.sources]
        with TemporaryDirectory(prefix="kb-") as folder:
            world = replace(self._opened.reader, index=self._index_of(rows, Path(folder)))
            found = search_(query, world, scope=within, **asked)
        return found.model_copy(update={"generation": f"as of {as_of}" if as_of else "as published"})

    def _inactive(self, statuses: Collection[str]) -> Iterator[Item]:
        """Items of those statuses as their files have them; without ``active`` only the few that are not are read."""
        for entry in self.kb.manifest("tags"):
            if ("cites" in entry.info or not _LIVE.isdisjoint(statuses)) and (item := self._read(entry)):
                yield item

    def _index_of(self, rows: Sequence[Row], folder: Path) -> LocalIndex:
        """An index in ``folder`` of those rows."""
        embedder = self._opened.reader.embedder
        vectors, found = embedder.recall([embedder.key(ids.canonical(row.text)) for row in rows])
        index = LocalIndex(folder, embedder=embedder.name, dim=embedder.dim)
        index.promote(index.write(None, rows, vectors[np.flatnonzero(found)], found.tolist(), ()))
        return index

    def items_as_of(self, until: str) -> Iterator[Item]:
        """Every item that was there at ``until`` (a time in UTC), of any status, as it was."""
        told = dict(self.kb.history.all())
        for entry in self.kb.manifest("tags"):
            if item := as_of_(self._read(entry), told.pop(entry.key, ()), until):
                yield item
        for events in told.values():
            if item := as_of_(None, events, until):
                yield item

    def _item(self, name: str) -> Item | None:
        """The item as its file has it now; None where there is none, or it cannot be read."""
        return self._read(self.kb.manifest("tags").get(name))

    def _read(self, entry: Entry | None) -> Item | None:
        try:
            return cast(Item, self.kb.read("tags", entry)[0]) if entry else None
        except KbError:
            return None


def _checked(date: str, where: str = "--as-of") -> str:
    """``date``, a day or a second in UTC. Raises ``KbError`` (code ``usage``) for anything else."""
    try:
        if _DATE.fullmatch(date):
            datetime.fromisoformat(date)
            return date
    except ValueError:
        pass
    cure = "Give a day (2026-11-30) or a time in UTC (2026-11-30T15:00:00Z)."
    raise KbError(f"'{date}' is no date.", where=where, cure=cure, code="usage")
