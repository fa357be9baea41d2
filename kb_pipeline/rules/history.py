"""What happened to an item between two publications, and what an item was before. Pure.

Owns which change makes which event, the words of its cause, and how events are undone. An event holds what the item's
file no longer does: former values, lost citations. Refuses to know files, runs and dates beyond those it is given.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kb_pipeline.records import Cause, Citation, Cluster, DedupDecision, Event, EventKind, Item, Quote
from kb_pipeline.rules import ids
from kb_pipeline.rules.edits import FIELDS

_STATUS = ("status", "superseded_by", "valid_to")
_CATEGORY = ("primary_category", "secondary_categories")
_OTHER = (
    *(name for name in FIELDS if name not in _CATEGORY),
    *("related_items", "aliases", "confirmations", "valid_from", "engine", "needs_review", "embedding_ref", "edited"),
)
_SHOWN = 3  # documents named in a cause
_END_OF_DAY = "T23:59:59Z"
NO_CAUSE = Cause()
GONE = frozenset({"absorbed", "hidden"})
"""Events after which there is no file; what the item was is in them."""


@dataclass(frozen=True)
class Turn:
    """One publication of one item: ``before`` is its file as it stood, ``said`` what the machine says of it now, and
    ``now`` what is published, a person's words included. None where there is none."""

    before: Item | None
    said: Item | None
    now: Item | None


def events(turn: Turn, past: Sequence[Event], cause: Cause, at: str, run: str) -> list[Event]:
    """What happened to an item in one publication; nothing where only offsets, versions or dates moved.

    ``past`` are its events so far, oldest first: the new ones are never dated before them, however a clock is set.
    """
    if turn.before and not turn.before.created_at and turn.now:
        turn = Turn(None, turn.said, turn.now)  # what a person wrote by hand, published for the first time
    item = turn.now or turn.before
    if item is None or (turn.now is None and past and past[-1].kind in GONE):
        return []
    at = max([at, *(event.at for event in past[-1:])])
    found = [Event(item=item.id, at=at, run=run, **parts) for parts in _parts(turn, past, cause)]
    if found and turn.before and turn.now and turn.before.updated_at != turn.now.updated_at:
        dated = {**found[0].before, "updated_at": turn.before.updated_at}
        found[0] = found[0].model_copy(update={"before": dated})
    return found


def _parts(turn: Turn, past: Sequence[Event], cause: Cause) -> Iterator[dict[str, Any]]:
    before, now = turn.before, turn.now
    if now is None:
        if before is not None:
            told = {"cause": cause.reason or _into(cause.others), "others": cause.others, "by": cause.by}
            given = {name: value for event in past for name, value in event.after.items()}
            was = {**before.model_dump(mode="json", exclude_defaults=True), **given}
            was["created_at"] = before.created_at or next((event.at for event in past), "")
            yield {"kind": "absorbed" if cause.others else "hidden", "before": was, **told}
    elif before is None:
        kind: EventKind = "returned" if past else "born"
        by = "person" if any(c.source_type == "human" for c in now.sources) else cause.by
        yield {"kind": kind, "cause": _stated(c.doc_id for c in now.sources), "by": by}
        if now.superseded_by:
            told = {"cause": cause.reason or f"by {now.superseded_by}", "others": (now.superseded_by,), "by": cause.by}
            yield {"kind": "superseded", **told}
    else:
        yield from _changes(_Difference.of(turn, before, now, past), cause)


@dataclass
class _Difference:
    """What differs between two publications of one item, taken away as it is told."""

    before: Item
    now: Item
    former: dict[str, Any]  # by field, as JSON
    persons: frozenset[str]  # fields whose change is a person's
    gained: tuple[Quote, ...]
    lost: tuple[Citation, ...]

    @classmethod
    def of(cls, turn: Turn, before: Item, now: Item, past: Sequence[Event]) -> "_Difference":
        was, given = before.model_dump(mode="json"), {k: v for e in past for k, v in e.after.items()}
        said = (turn.said or now).model_dump(mode="json")
        persons = set()
        for name in {*before.edited, *now.edited}:
            if name not in before.edited:
                was[name] = said[name]  # the file holds the person's words already
                persons.add(name)
            elif name in given:
                was[name] = given[name]
                persons.add(name)
        new = now.model_dump(mode="json")
        former = {name: was[name] for name in (*_STATUS, *_CATEGORY, *_OTHER) if was[name] != new[name]}
        held, holds = {_proof(c) for c in before.sources}, {_proof(c) for c in now.sources}
        gained = tuple(Quote(doc_id=doc, text=text) for doc, text in sorted(holds - held))
        lost = tuple(c for c in before.sources if _proof(c) not in holds)
        return cls(before, now, former, frozenset(persons & former.keys()), gained, lost)

    @property
    def reworded(self) -> bool:
        """Whether a document came that says it in other words: not a copy, nor one that was only edited."""
        words, known = {c.doc_id for c in self.lost}, {ids.canonical(c.source_span) for c in self.before.sources}
        return any(q.doc_id not in words and ids.canonical(q.text) not in known for q in self.gained)

    def take(self, names: Iterable[str]) -> dict[str, Any]:
        """Former values of those of ``names`` that changed and are not told yet."""
        return {name: self.former.pop(name) for name in names if name in self.former}

    def take_proofs(self) -> dict[str, Any]:
        """Proofs that came and went, if not told yet."""
        told = {"quotes": self.gained, "lost": self.lost}
        self.gained, self.lost = (), ()
        return told


def _changes(found: _Difference, cause: Cause) -> Iterator[dict[str, Any]]:
    """One event a kind of change, the weightiest first."""
    if "status" in found.former or "superseded_by" in found.former:
        yield _status_event(found, cause)
    if persons := found.persons & found.former.keys():
        yield from _by_person(found, sorted(persons))
    joined = tuple(alias for alias in found.now.aliases if alias not in found.before.aliases)
    if joined or found.reworded:
        told = {"others": joined, "cause": cause.reason or _moved(found), "by": cause.by}
        yield {"kind": "merged", "before": found.take(["aliases", "confirmations"]), **told, **found.take_proofs()}
    if before := found.take(_CATEGORY):
        words = f"from {found.before.primary_category} to {found.now.primary_category}"
        yield {"kind": "recategorised", "before": before, "cause": words}
    if found.gained or found.lost:
        words = _moved(found)
        yield {"kind": "sources", "cause": words, "before": found.take(["confirmations"]), **found.take_proofs()}
    if before := found.take(_OTHER):
        yield {"kind": "changed", "before": before, "cause": ", ".join(sorted(before.keys() - {"embedding_ref"}))}


def _status_event(found: _Difference, cause: Cause) -> dict[str, Any]:
    was, now = found.former.get("status", found.now.status), found.now.status
    kinds: Mapping[str, EventKind] = {"retired": "retired", "superseded": "superseded", "active": "revived"}
    kind = "returned" if was == "retired" and now != "retired" else kinds[now]
    by = "person" if "status" in found.persons else cause.by
    other = found.now.superseded_by or found.former.get("superseded_by") or found.before.superseded_by
    words = {
        "superseded": f"by {other}",
        "revived": f"{other} does not supersede it any more",
        "retired": "no document states it any more",
        "returned": _stated(c.doc_id for c in found.now.sources),
    }
    return {
        "kind": kind,
        "by": by,
        "cause": cause.reason or ("by a person" if by == "person" else words[kind]),
        "others": (other,) if other else (),
        "before": found.take([*_STATUS, "edited"] if by == "person" else _STATUS),
        **(found.take_proofs() if kind in {"retired", "returned"} else {}),
    }


def _by_person(found: _Difference, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    new = found.now.model_dump(mode="json")
    for kind, fields in (("recategorised", _CATEGORY), ("edited", _OTHER)):
        mine = [name for name in names if name in fields]
        if mine:
            after = {name: new[name] for name in mine}
            before = found.take([*mine, "edited", "embedding_ref"])
            yield {"kind": kind, "by": "person", "cause": ", ".join(mine), "before": before, "after": after}


def _proof(citation: Citation) -> tuple[str, str]:
    return citation.doc_id, citation.source_span


def _named(docs: Iterable[str]) -> str:
    names = sorted(set(docs))
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _stated(docs: Iterable[str]) -> str:
    return f"stated in {_named(docs)}"


def _into(others: Sequence[str]) -> str:
    return f"merged into {', '.join(others)}"


def _moved(found: _Difference) -> str:
    gained, lost = {q.doc_id for q in found.gained}, {c.doc_id for c in found.lost}
    if gained and {q.text for q in found.gained} == {c.source_span for c in found.lost}:
        return f"what {_named(lost)} said stands in {_named(gained)}"
    came = f"also stated in {_named(gained)}" if gained - lost else ""
    went = f"no longer stated in {_named(lost - gained)}" if lost - gained else ""
    return ", ".join(filter(None, (came, went))) or f"worded otherwise in {_named(gained | lost)}"


# --- what was before -------------------------------------------------------------------------------------------------


def moment(date: str) -> str:
    """The last second that counts as ``date``: of a day its last one, in UTC."""
    return f"{date}{_END_OF_DAY}" if len(date) == len("2026-11-30") else date


def as_of(item: Item | None, told: Sequence[Event], until: str) -> Item | None:
    """The item as it was published at ``until`` (``moment``): ``item``, which stands now or is gone, with every later
    one of its events undone. None where it was not there then.

    Of proofs that are still there, offsets and versions are those of now; only the words are what was known then.
    """
    for event in reversed(told):
        if event.at > until:
            item = _undone(item, event)
    return None if item is None or item.created_at > until else item


def _undone(item: Item | None, event: Event) -> Item | None:
    if event.kind in GONE:
        return Item.model_validate(event.before) if event.before else None
    if item is None or event.kind == "born" or (event.kind == "returned" and not event.before):
        return None
    came = {(q.doc_id, q.text) for q in event.quotes}
    kept = [c for c in item.sources if _proof(c) not in came]
    sources = sorted((*kept, *event.lost), key=lambda c: (c.doc_id, c.start, c.end))
    return Item.model_validate({**item.model_dump(), **event.before, "sources": sources})


def with_quotes(item: Item | None, told: Sequence[Event]) -> list[Event]:
    """The story with the proofs that the item had after each event, where the event names none of its own.

    An item without a ``born`` is older than its history: it is given one.
    """
    shown: list[Event] = []
    for event in reversed(told):
        if event.kind not in GONE and not event.quotes and item is not None:
            event_quotes = tuple(Quote(doc_id=c.doc_id, text=c.source_span) for c in item.sources)
            shown.append(event.model_copy(update={"quotes": event_quotes}))
        else:
            shown.append(event)
        item = _undone(item, event)
    if item is not None:
        quotes = tuple(Quote(doc_id=c.doc_id, text=c.source_span) for c in item.sources)
        cause = "before its history was kept"
        shown.append(Event(item=item.id, at=item.created_at, run="", kind="born", cause=cause, quotes=quotes))
    return shown[::-1]


# --- what a stage knows of causes ------------------------------------------------------------------------------------


BY_HAND = Cause(reason="its file was deleted", by="person")


def explained(
    clusters: Iterable[Cluster],
    decisions: Sequence[DedupDecision],
    retired: Iterable[Item],
    standing: frozenset[str],
    heirs: Mapping[str, str],
) -> dict[str, Cause]:
    """Why items are superseded or merged, by the decisions on their drafts; why others are ``retired``, by which
    documents still stand (``standing``); and into which of its ``heirs`` an item went."""
    absorbed = {item: Cause(others=(heir,)) for item, heir in heirs.items()}
    left = {item.id: _left(item, standing) for item in retired if item.id not in heirs}
    return {**_decided(clusters, decisions), **absorbed, **left}


def _decided(clusters: Iterable[Cluster], decisions: Sequence[DedupDecision]) -> dict[str, Cause]:
    merged: dict[str, str] = {}
    superseded: dict[str, str] = {}
    newer: dict[str, tuple[str, ...]] = {}
    for cluster in clusters:
        drafts = {o.draft for o in cluster.occurrences}
        if cluster.superseded_by:
            superseded.update(dict.fromkeys(drafts, cluster.id))
            newer[cluster.id] = (cluster.superseded_by,)
        elif len(drafts) > 1:
            merged.update(dict.fromkeys(drafts, cluster.id))
    causes: dict[str, Cause] = {}
    for line in decisions if merged or superseded else ():
        by = "person" if line.by == "human" else "machine"
        if line.decision == "supersede":
            older = superseded.get(line.b if line.newer == "a" else line.a)
            if older:
                causes.setdefault(older, Cause(reason=line.reason, others=newer[older], by=by))
        elif line.decision == "merge" and line.a in merged and merged[line.a] == merged.get(line.b):
            causes.setdefault(merged[line.a], Cause(reason=line.reason, by=by))
    return causes


def _left(item: Item, standing: frozenset[str]) -> Cause:
    docs = {c.doc_id for c in item.sources}
    gone, silent = docs - standing, docs & standing
    parts = [f"{_named(gone)} is gone" if gone else "", f"{_named(silent)} states it no longer" if silent else ""]
    return Cause(reason="; ".join(filter(None, parts)))
