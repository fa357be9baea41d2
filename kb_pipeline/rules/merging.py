"""The fields of an item from the drafts of its cluster, whatever order they come in. Pure.

Owns which wording represents the rest, the union of proofs and the count of confirmations. Refuses to reword, average
or round: every field is one that some draft states, or the union of them. Category, tags and dates come later.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, get_args

from kb_pipeline.records import Chunk, Citation, Cluster, Confidence, Draft, Item, ItemType, Meta
from kb_pipeline.rules import copies
from kb_pipeline.rules.numbers import quantities

_CONFIDENCES: tuple[Confidence, ...] = get_args(Confidence)
_TYPES: tuple[ItemType, ...] = get_args(ItemType)


class Witness(NamedTuple):
    """One draft where it stands: its chunk (from whose start it counts) and its document's meta data."""

    draft: Draft
    chunk: Chunk
    meta: Meta


def merge(cluster: Cluster, witnesses: Sequence[Witness]) -> Item:
    """The item of a cluster from at least one witness; the order of ``witnesses`` does not matter.

    Equal inputs give equal items, without category, tags, dates or content hash. ``confirmations`` counts
    independent texts; ``valid_from`` is the earliest explicit date of a source, ``valid_to`` that of what replaced it,
    where it is the later one.
    """
    spoken, confirmations = _together(witnesses) if len(witnesses) > 1 else (witnesses[0].draft, 1)
    dates = [w.meta.effective_date for w in witnesses if w.meta.effective_date]
    since = min(dates) if dates else None
    return Item(
        id=cluster.id,
        statement=spoken.statement,
        detail=spoken.detail,
        context=spoken.context or None,
        item_type=spoken.item_type,
        topic=spoken.topic,
        entities=tuple(sorted(set(spoken.entities))),
        confidence=spoken.confidence,
        sources=_citations(witnesses),
        related_items=cluster.related,
        status="superseded" if cluster.superseded_by else "active",
        superseded_by=cluster.superseded_by,
        embedding_ref=next((o.text_key for o in cluster.occurrences if o.draft == spoken.hash), ""),
        aliases=cluster.aliases,
        confirmations=confirmations,
        valid_from=since,
        valid_to=cluster.superseded_on if (cluster.superseded_on or "") >= (since or "") else None,
        engine=spoken.engine,
        needs_review=cluster.needs_review,
    )


def _together(witnesses: Sequence[Witness]) -> tuple[Draft, int]:
    """What several say as if one did, and in how many independent texts it stands."""
    texts, drafts = _distinct_texts(witnesses), [w.draft for w in witnesses]
    chosen = _representative(witnesses, texts)
    said = {
        "detail": chosen.detail or _longest(d.detail for d in drafts),
        "context": _longest(d.context for d in drafts if d.context),
        "item_type": _majority(witnesses, texts),
        "topic": chosen.topic or min((d.topic for d in drafts if d.topic), default=""),
        "entities": tuple(entity for d in drafts for entity in d.entities),
        "confidence": min((d.confidence for d in drafts), key=_CONFIDENCES.index),
    }
    return chosen.model_copy(update=said), len(set(texts))


def _distinct_texts(witnesses: Sequence[Witness]) -> list[int]:
    """For each witness the number of the independent text it stands in: a copy confirms nothing."""
    return copies.texts([_standing(w.meta, w.chunk, w.draft) for w in witnesses])


def _standing(meta: Meta, chunk: Chunk, draft: Draft) -> copies.Standing:
    return copies.Standing(
        meta.doc_id, meta.text_sha256, chunk.hash, chunk.text, draft.start, draft.end, heading=chunk.heading
    )


def _representative(witnesses: Sequence[Witness], texts: Sequence[int]) -> Draft:
    """The draft that speaks for all: the most and most precise figures, then the most independent texts, then the most
    certain, the fullest, and the smallest in content."""
    support = _support(witnesses, texts, lambda draft: draft.hash)

    def rank(draft: Draft) -> tuple[object, ...]:
        figures = quantities(draft.statement)
        digits = sum(c.isdigit() for q in figures for value in q.values for c in value)
        return (
            (-len(figures), -digits, -support[draft.hash], _CONFIDENCES.index(draft.confidence), -len(draft.statement)),
            (draft.hash, draft.statement, -len(draft.detail), draft.detail, draft.item_type, draft.topic, draft.engine),
        )

    return min((w.draft for w in witnesses), key=rank)


def _majority(witnesses: Sequence[Witness], texts: Sequence[int]) -> ItemType:
    votes = _support(witnesses, texts, lambda draft: draft.item_type)
    return min(_TYPES, key=lambda kind: (-votes[kind], _TYPES.index(kind)))


def _support(witnesses: Sequence[Witness], texts: Sequence[int], what: Callable[[Draft], str]) -> Counter[str]:
    """How many independent texts stand behind each value."""
    return Counter(value for value, _ in {(what(w.draft), text) for w, text in zip(witnesses, texts, strict=True)})


def _longest(texts: Iterable[str]) -> str:
    return min(texts, key=lambda text: (-len(text), text), default="")


def _citations(witnesses: Sequence[Witness]) -> tuple[Citation, ...]:
    if len(witnesses) == 1:
        return (_citation(*witnesses[0]),)
    found = {_citation(*witness) for witness in witnesses}
    return tuple(sorted(found, key=lambda c: (c.doc_id, c.start, c.end, c.content_hash, c.version, c.source_span)))


def _citation(draft: Draft, chunk: Chunk, meta: Meta) -> Citation:
    return Citation(
        doc_id=meta.doc_id,
        uri=meta.uri,
        source_type=meta.source_type,
        license=meta.license,
        source_span=draft.source_span,
        start=chunk.start + draft.start,
        end=chunk.start + draft.end,
        content_hash=chunk.hash,
        version=meta.text_sha256[:32],
        fetched_at=meta.fetched_at,
    )
