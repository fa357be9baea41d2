"""The verbs that compare the wiki with what it was: the files as they stand with the pages of a retained generation.

Owns what may be shown of what was. A page that was is shown to whoever may see all that it rested on; of one that
rested on a document which is gone, only sentences that something else still proves: what is gone is gone from every
page. Keeps nothing: generations hold the words of their pages, the history holds why.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations
from typing import Any

from kb_pipeline.api.reading import Reading
from kb_pipeline.errors import NotFound, StoreError
from kb_pipeline.records import Event, EventKind, Page, PageBrief, PageChanges, Row, Scope, SentenceChange, WikiChanges
from kb_pipeline.rules import ids, visibility
from kb_pipeline.rules.analyser import query_tokens
from kb_pipeline.rules.pages.comparing import Difference, Said, compared, pieces, said_now, said_then
from kb_pipeline.world import Snapshot

_GENERATION = re.compile(r"g?0*(\d{1,12})")
_PAGE, _NEAR = "page", 5
_LEAVING: frozenset[EventKind] = frozenset({"superseded", "retired", "absorbed", "hidden", "edited"})
_COMING: frozenset[EventKind] = frozenset({"born", "returned", "revived", "merged", "superseded", "edited"})
_LISTED = 200
"""Pages of which an overview counts the sentences; of a wiki that was made anew it names no more."""


@dataclass(frozen=True)
class _Then:
    """A generation as it was. ``gone`` are the documents that went since: ``whole`` has them, ``shown`` does not."""

    name: str
    whole: Snapshot
    shown: Snapshot
    gone: frozenset[str]

    def page(self, page_id: str) -> Row | None:
        """The page of that id, as far as the reader might see it then."""
        return next(iter(self.whole.rows([page_id])), None)

    def stands(self, page: Row) -> bool:
        """Whether all documents are still there that a page rested on."""
        return self.gone.isdisjoint(page.docs)

    def headings(self, page: Row) -> set[str]:
        """The headings of its documents, and two or more that stand below each other as a page joins them."""
        paths = {tuple(row.heading.split(" > ")) for doc in page.docs for row in self.whole.read(doc)}
        spans = ((path, a, b) for path in paths for a, b in combinations(range(len(path) + 1), 2))
        return {": ".join(path[a:b]) for path, a, b in spans}

    def item(self, text: str, *, shown: bool = False) -> str:
        """The item that said ``text``; empty where none did, or none that may be ``shown``."""
        snapshot, wanted = self.shown if shown else self.whole, ids.canonical(text)
        near = snapshot.lexical(query_tokens(text), _NEAR, Scope(kinds=("item",)))
        said = (row for row in snapshot.rows([name for name, _ in near]) if ids.canonical(row.text) == wanted)
        return next((row.id for row in said), "")


class Comparing(Reading):
    """Looking at what the last builds, and people's hands, made of the wiki."""

    def page_changes(self, name: str, since: str | None = None) -> PageChanges:
        """What changed on a page, by its id, path, title or alias, or that of one that is gone by its id: from the
        generation ``since`` (by default the last but one) to its file as it stands, each sentence with its cause.

        Raises ``NotFound`` for a page that is neither there nor was, and for a generation that is not retained.
        """
        then = self._then(since)
        try:
            brief = self.page(name).brief
        except NotFound:
            was = then.page(name) if then else None
            if then is None or was is None or was.kind != _PAGE:
                raise
            return self._explained(then, self._removed(then, was), None)
        if then is None:
            return PageChanges(id=brief.id, title=brief.title, path=brief.path, kind="unknown")
        return self._explained(then, self._compared(then, brief), brief)

    def wiki_changes(self, since: str | None = None, limit: int = _LISTED) -> WikiChanges:
        """Which pages changed since a generation (by default the last but one), with the sentences that did, at most
        ``limit`` pages. Raises ``NotFound`` for a generation that is not retained."""
        then, retained = self._then(since), tuple(self.world.index.generations())
        if then is None:
            return WikiChanges(retained=retained)
        briefs = {brief.id: brief for brief in self.pages()}
        was = {card.ref: card.title for card in then.whole.cards(Scope(kinds=(_PAGE,)))}
        titles = was | {key: brief.title for key, brief in briefs.items()}
        touched = sorted(self._touched(then, briefs, was), key=lambda key: (titles[key].casefold(), key))
        found: list[PageChanges] = []
        for key in touched[:limit]:
            row = then.page(key)
            page = self._compared(then, briefs[key]) if key in briefs else self._removed(then, row) if row else None
            found += [page] if page and page.kind != "unchanged" else []
        at = datetime.fromtimestamp(self.world.index.born(then.name), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        more = max(0, len(touched) - limit)
        return WikiChanges(since=then.name, at=at, retained=retained, pages=tuple(found), more=more)

    def _then(self, since: str | None) -> _Then | None:
        """The generation to compare with; None where none was named and none but the newest can be read."""
        index = self.world.index
        retained = index.generations()
        number = _GENERATION.fullmatch(since.strip()) if since else None
        wanted = f"g{int(number[1]):08d}" if number else since
        if wanted and wanted not in retained:
            cure = f"Retained: {', '.join(retained) or 'none'}."
            raise NotFound(f"generation '{since}' is not retained.", where="since", cure=cure)
        for name in [wanted] if wanted else reversed(retained[:-1]):
            try:
                with index.snapshot(name, gone=True) as whole, index.snapshot(name) as shown:
                    return _Then(name, whole, shown, index.masked())
            except StoreError:  # damaged, or of another layout: an older one may be whole
                if wanted:
                    raise
        return None

    def _touched(self, then: _Then, briefs: Mapping[str, PageBrief], was: Mapping[str, str]) -> Iterable[str]:
        """Ids of the pages that may differ: whose rows do, that came or went, and whose files were written since the
        newest generation was."""
        newest = self.world.index.generations()[-1]
        now, before = (
            {key: found for key, found in self.world.index.hashes(name).items() if key in briefs or key in was}
            for name in (newest, then.name)
        )
        written = {path for path, (_, mtime) in self.kb.tree_state("wiki").items() if mtime > self._born(newest)}
        for key in {**briefs, **was}:
            brief = briefs.get(key)
            if brief is None or key not in now or now[key] != before.get(key) or f"wiki/{brief.path}" in written:
                yield key

    def _born(self, generation: str) -> int:
        return int(self.world.index.born(generation) * 1e9)

    def _compared(self, then: _Then, brief: PageBrief) -> PageChanges:
        """A page that is there, and how it differs from what it was."""
        row, text = then.page(brief.id), self._standing(brief)[1]
        now = said_now(text)
        page = PageChanges(id=brief.id, title=brief.title, path=brief.path, kind="unchanged", since=then.name)
        if row is None:
            made = tuple(_change(Difference(None, said)) for said in now)
            return page.model_copy(update={"kind": "created", "changes": made})
        differences, shifted = compared(said_then(row.text, row.title, text, then.headings(row)), now)
        changes = tuple(_change(self._decent(then, row, one)) for one in differences)
        former = row.title if row.title != brief.title and then.stands(row) else ""
        kind = "changed" if changes or shifted or former else "unchanged"
        update: dict[str, Any] = {"kind": kind, "changes": changes, "shifted": shifted, "former_title": former}
        return page.model_copy(update=update)

    def _removed(self, then: _Then, row: Row) -> PageChanges:
        """A page that was and is not."""
        said = said_then(row.text, row.title, "", then.headings(row))
        changes = tuple(_change(self._decent(then, row, Difference(one, None))) for one in said)
        path = row.uri.removeprefix("kb/wiki/")
        title = row.title if then.stands(row) else path
        return PageChanges(id=row.id, title=title, path=path, kind="removed", since=then.name, changes=changes)

    def _decent(self, then: _Then, page: Row, difference: Difference) -> Difference:
        """A difference without words that only a document which is gone had proven."""
        before = difference.before
        if before is None or then.stands(page) or then.item(before.text, shown=True):
            return difference
        if difference.now is not None:
            return Difference(None, difference.now)
        return Difference(Said("", before.section, (then.item(before.text),)), None)

    def _explained(self, then: _Then, page: PageChanges, brief: PageBrief | None) -> PageChanges:
        """The same with what the history knows of each sentence."""
        homes = {item: home for home in self._planned(self.pages()).values() for item in home.items}
        changes = _paired([(change, then.item(change.before) if change.before else "") for change in page.changes])
        told = tuple(self._told(then, change, brief.id if brief else "", homes) for change in changes)
        return page.model_copy(update={"changes": told})

    def _told(self, then: _Then, change: SentenceChange, page_id: str, homes: Mapping[str, Page]) -> SentenceChange:
        """One change with its cause: a person's hand, a move between pages, else the last event of the item that came
        or went."""
        was = then.item(change.before) if change.before else next(iter(change.items), "")
        items = change.items if change.now else (was,) if was else ()
        if change.by == "person":
            return change.model_copy(update={"items": items})
        told: dict[str, Any] = {"items": items}
        if change.kind == "removed" and was in homes:
            home = homes[was]
            taken = {"event": "edited", "by": "person", "cause": "a person took it out of the page"}
            told |= taken if home.id == page_id else {"event": "moved", "cause": f"it stands on “{home.title}” now"}
        elif change.kind == "added" and then.item(change.now, shown=True) in items:
            told |= {"event": "moved", "cause": "it stood on another page"}
        else:
            gone = bool(was) and was not in homes
            told |= self._happened(was, _LEAVING) if gone else self._happened(next(iter(items), ""), _COMING)
        return change.model_copy(update=told)

    def _happened(self, item: str, telling: frozenset[EventKind]) -> dict[str, Any]:
        """The last event of an item that tells why, as far as the reader may know of it."""
        events = [event for event in self.kb.history.of(item) if event.kind in telling] if item else []
        if not events:
            return {}
        with self.world.index.snapshot() as live:
            if self.sees is not None and not live.rows([item]):
                return {}
        event: Event = events[-1] if self.sees is None else events[-1].model_copy(update=visibility.PLAIN)
        return {"event": event.kind, "cause": event.cause, "by": event.by}


def _paired(changes: Sequence[tuple[SentenceChange, str]]) -> list[SentenceChange]:
    """Changes with the item that what was said: what went and what a person wrote of the same item are one change,
    however he worded it."""
    went = {item: change.before for change, item in changes if change.kind == "removed" and item}
    was: dict[str, str] = {}
    for change, _ in changes:
        item = next(iter(change.items), "")
        if change.kind == "added" and change.by == "person" and item in went:
            was[change.now] = went.pop(item)
    found = [change for change, _ in changes if change.kind != "removed" or change.before not in was.values()]
    return [
        change.model_copy(update={"kind": "changed", "before": before, "pieces": pieces(before, change.now)})
        if change.kind == "added" and (before := was.get(change.now))
        else change
        for change in found
    ]


def _change(difference: Difference) -> SentenceChange:
    """A difference as it is shown."""
    before, now = difference.before, difference.now
    said = now or before
    assert said is not None
    by_hand = now is not None and now.by_hand
    return SentenceChange(
        kind="changed" if before and now else "added" if now else "removed",
        section=said.section,
        before=before.text if before else "",
        now=now.text if now else "",
        pieces=pieces(before.text, now.text) if before and now else (),
        items=said.cites,
        event="edited" if by_hand else "",
        by="person" if by_hand else "machine",
    )
