"""The look-ups that the records answer rather than the index: what changed, who knows, what is in conflict."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import cast
from weakref import WeakKeyDictionary

from kb_pipeline.errors import StoreError
from kb_pipeline.query import evidence
from kb_pipeline.query.search import found_by
from kb_pipeline.query.tools import Desk, Lookup, search
from kb_pipeline.records import Conflict, Document, Event, Evidence, Hit, Item, Row, Scope, Source, Tool, ToolCall
from kb_pipeline.rules import relevance
from kb_pipeline.runner import Run
from kb_pipeline.stages.index import item_row
from kb_pipeline.store.manifests import Manifest

_HITS = 20
_NEAR = 1.0  # of 10: what is less likely to answer says nothing of who knows
_TEXTS = frozenset({"chunk", "page", "document"})
_HALF = 0.5
_ABOUT_CHANGES = re.compile(
    r"\b(?:recent|latest|last|this|past|chang|new|since|yesterday|today|day|week|month|quarter|year|update)(?:ly|e|ed|es|s)?\b"
    r"|\b(?:knowledge base|documents?|items?|lately)\b|\b\d{4}-\d\d-\d\d(?:T[\d:]+Z)?",
    re.IGNORECASE,
)
_ABOUT_PEOPLE = re.compile(
    r"\bwho(?:m|se)?\b|\b(?:know|own|maintain|author|owner|expert|help|explain|ask|talk|tell)s?\b|\b(?:wrote|responsible)\b",
    re.IGNORECASE,
)
_ABOUT_CONFLICTS = re.compile(
    r"\b(?:conflict|contradict|disagree|inconsisten)\w*|\b(?:item|source|document|statement)s?\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Records:
    """What the three look-ups read. ``events`` gives the changes since a day, ``statement`` an item's words by id."""

    run: Run
    sources: Sequence[Source]
    conflicts: Callable[[], Sequence[Conflict]]
    events: Callable[[str, int], Sequence[Event]]

    def tools(self) -> Mapping[Tool, Lookup]:
        """The three look-ups, and a search that also gives what the items that it finds have replaced."""
        return {
            "search": self._search,
            "recent_changes": self._changes,
            "who_knows": self._people,
            "conflicts": self._conflicts,
        }

    def hints(self, found: Sequence[Evidence], desk: Desk) -> dict[str, tuple[str, ...]]:
        """What must be said of evidence, by its ref: that an item is in conflict, what of a text is superseded."""
        hints: dict[str, tuple[str, ...]] = {}
        refs = {e.ref for e in found}
        for conflict in self.conflicts() if refs else ():
            for one, other in ((conflict.a, conflict.b), (conflict.b, conflict.a)):
                if one in refs and _seen([other], desk):
                    hints[one] = (*hints.get(one, ()), f"in conflict with {other}: {conflict.why}")
        texts = [e for e in found if e.kind in _TEXTS]
        for item in self._superseded if found else ():
            if item.superseded_by in refs and (row := _known(item, desk)):
                shown = evidence.quotable(row.license, desk.world.settings.options)
                told = f"replaced “{row.text}” ({row.doc_id})" if shown else f"replaced {row.id} ({row.doc_id})"
                hints[item.superseded_by] = (*hints.get(item.superseded_by, ()), told)
            by = f" by {item.superseded_by}" if item.superseded_by and _seen([item.superseded_by], desk) else ""
            for e in texts:
                if span := next((s.source_span for s in item.sources if s.source_span in e.text), ""):
                    hints[e.ref] = (*hints.get(e.ref, ()), f"“{' '.join(span.split())}” is superseded{by}")
        return hints

    @cached_property
    def _superseded(self) -> tuple[Item, ...]:
        """Items that newer ones replaced; of all items the manifest tells which are not active. Read once a manifest,
        which never changes, not once a question."""
        manifest = self.run.kb.manifest("tags")
        known = _SUPERSEDED.get(manifest)
        if known is None:
            found = []
            for entry in manifest:
                if "cites" in entry.info:
                    with suppress(StoreError):  # a broken edit, which the build reports
                        found.append(cast(Item, self.run.kb.read("tags", entry)[0]))
            known = _SUPERSEDED[manifest] = tuple(item for item in found if item.status == "superseded")
        return known

    def _search(self, call: ToolCall, desk: Desk) -> Iterator[Evidence]:
        """Items and passages, and behind them what of old these replaced: who asks for a former value finds it."""
        asked = relevance.asked(call.query or desk.question)
        found = tuple(search(call, desk))
        yield from found
        refs = {e.ref for e in found}
        for item in self._superseded:
            if item.superseded_by in refs and (row := _known(item, desk)):
                old = evidence.of_row(row, desk.world.settings.options)
                share = relevance.coverage(asked, f"{old.text}\n{old.heading}\n{old.doc_id}")
                hints = (f"superseded by {item.superseded_by}",)
                yield old.model_copy(update={"scores": {"coverage": round(share, 4)}, "hints": hints})

    def _changes(self, call: ToolCall, desk: Desk) -> Iterator[Evidence]:
        """What happened to items since the day that ``call`` names, the latest first; where the question has a subject,
        to items that hold most of it."""
        told = self.events(call.query, _HITS * call.k)
        rows = _seen([event.item for event in told], desk)
        told = [event for event in told if event.item in rows]
        if subject := relevance.specific(_ABOUT_CHANGES.sub(" ", desk.question)):
            shares = {ref: relevance.coverage(subject, f"{row.text}\n{row.doc_id}") for ref, row in rows.items()}
            told = [event for event in told if shares[event.item] > _HALF]
        for event in told[: call.k]:
            row, day = rows[event.item], event.at[:10]
            reason = f" ({event.cause})" if event.cause else ""
            base = evidence.of_row(row, desk.world.settings.options)
            yield base.model_copy(
                update={
                    "kind": "change",
                    "ref": f"{row.id}@{event.at}",
                    "text": f"On {day} this item was {_WORDS.get(event.kind, event.kind)}{reason}: {row.text}",
                    "date": day,
                }
            )

    def _conflicts(self, call: ToolCall, desk: Desk) -> Iterator[Evidence]:
        """Pairs of items that disagree, those that hold most of the words of ``call`` first."""
        asked = relevance.specific(_ABOUT_CONFLICTS.sub(" ", call.query))
        options = desk.world.settings.options
        scored = []
        for conflict in self.conflicts():
            rows = _seen([conflict.a, conflict.b], desk)
            if len(rows) == 2 and all(evidence.quotable(row.license, options) for row in rows.values()):
                text = f"“{rows[conflict.a].text}” and “{rows[conflict.b].text}” disagree: {conflict.why}"
                scored.append((relevance.coverage(asked, text) if asked else 1.0, text, conflict, rows[conflict.a]))
        held = [found for found in scored if found[0] > 0]
        for share, text, conflict, row in sorted(held, key=lambda found: (-found[0], found[1]))[: call.k]:
            base = evidence.of_row(row, options)
            update = {"kind": "conflict", "ref": f"pair:{conflict.a}:{conflict.b}", "text": text, "quote": ""}
            yield base.model_copy(update={**update, "scores": {"coverage": share}})

    def _people(self, call: ToolCall, desk: Desk) -> Iterator[Evidence]:
        """Authors of the documents that answer ``call`` best, and the owners of their sources."""
        asked = call.query or desk.question
        topic = _ABOUT_PEOPLE.sub(" ", asked)
        topic = topic if relevance.specific(topic) else asked
        hits = found_by(topic, desk.world, desk.snapshot, scope=desk.scope, k=_HITS)
        hits = tuple(hit for hit in hits if hit.scores.get("relevance", 0.0) >= _NEAR)
        owners = {source.id: source.owners for source in self.sources}
        wrote: dict[str, list[Hit]] = {}
        keeps: dict[str, list[Hit]] = {}
        for hit in hits:
            for author in self._authors(hit.doc_id):
                wrote.setdefault(author, []).append(hit)
            for owner in owners.get(hit.doc_id.partition("/")[0], ()):
                keeps.setdefault(owner, []).append(hit)
        people = sorted({*wrote, *keeps}, key=lambda name: (-len(wrote.get(name, ())), -len(keeps.get(name, ())), name))
        for name in people[: call.k]:
            yield _person(name, wrote.get(name, []), keeps.get(name, []), desk)

    def _authors(self, doc_id: str) -> tuple[str, ...]:
        entry = self.run.kb.manifest("normalized", doc_id.partition("/")[0]).get(doc_id)
        return cast(Document, self.run.kb.read("normalized", entry)[0]).meta.authors if entry and entry.live else ()


def _person(name: str, wrote: Sequence[Hit], keeps: Sequence[Hit], desk: Desk) -> Evidence:
    best = (*wrote, *keeps)[0]
    documents = ", ".join(sorted({hit.doc_id for hit in wrote}))
    sources = ", ".join(sorted({hit.doc_id.partition("/")[0] for hit in keeps}))
    told = [f"wrote {documents}"] if wrote else []
    told += [f"owns the source {sources}"] if keeps else []
    base = evidence.of_hit(best, desk.world.settings.options)
    update = {"kind": "person", "ref": f"person:{name}", "text": f"{name} {' and '.join(told)}.", "quote": ""}
    return base.model_copy(update=update)


def _known(item: Item, desk: Desk) -> Row | None:
    """A superseded item as its row would be, where all that it rests on may be seen: none of it may be told apart."""
    docs = {source.doc_id for source in item.sources}
    seen = all(_in_scope(doc, desk.scope) and desk.snapshot.read(doc) for doc in docs)
    return item_row(item) if item.sources and seen else None


def _seen(items: Iterable[str], desk: Desk) -> dict[str, Row]:
    """Those of the items that may be seen in this generation and scope, by id."""
    rows = desk.snapshot.rows(list(dict.fromkeys(items)))
    return {row.id: row for row in rows if any(_in_scope(doc, desk.scope) for doc in row.docs)}


def _in_scope(doc_id: str, scope: Scope) -> bool:
    """Whether a document is of the scope's sources and, where it names documents, one of these."""
    named = not scope.docs or doc_id in scope.docs
    return named and (not scope.sources or doc_id.partition("/")[0] in scope.sources)


_SUPERSEDED: WeakKeyDictionary[Manifest, tuple[Item, ...]] = WeakKeyDictionary()
_WORDS = {"born": "added", "merged": "merged with another", "sources": "given other sources", "returned": "added again"}
