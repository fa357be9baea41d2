"""What tools find, in one shape: hits, rows and whole documents become evidence with numbers. Knows no tool."""

from collections.abc import Iterable, Mapping, Sequence

from kb_pipeline.records import Card, Evidence, Hit, Row
from kb_pipeline.settings import Options
from kb_pipeline.world import Snapshot

WHOLE = 12_000
"""Code points of a document that is read whole; what is beyond is cut, and said to be."""
MOST, MOST_TEXT = 20, 40_000
"""Pieces of evidence, and code points of it, that an answer is written from: about 10,000 tokens, which small models
hold."""


def of_hit(hit: Hit, options: Options) -> Evidence:
    """A hit as evidence, the passages beside it left to its document."""
    return Evidence(
        kind="chunk" if hit.kind == "burst" else hit.kind,
        ref=hit.id,
        text=hit.text,
        quote=hit.quote,
        title=hit.title,
        heading=hit.heading,
        doc_id=hit.doc_id,
        uri=hit.uri,
        source_type=hit.source_type,
        license=hit.license,
        start=hit.start,
        end=hit.end,
        docs=hit.docs,
        date=hit.date,
        status=hit.status,
        scores=dict(hit.scores),
        hints=_standing(hit.status),
        quotable=quotable(hit.license, options),
    )


def of_row(row: Row, options: Options) -> Evidence:
    """A row as evidence."""
    shared = {name: getattr(row, name) for name in Hit.model_fields if name in Row.model_fields}
    return of_hit(Hit(**shared, score=0.0, date=(row.effective_date or row.updated_at)[:10]), options)


def of_document(card: Card, parts: Sequence[Row], options: Options) -> Evidence:
    """A document or page read whole, up to ``WHOLE`` code points."""
    text = "\n\n".join(part.quote or part.text for part in parts)
    first = of_row(parts[0], options)
    hints = (*first.hints, f"cut after {WHOLE:,} of {len(text):,} characters") if len(text) > WHOLE else first.hints
    end = parts[-1].end if len(text) <= WHOLE else 0
    update = {"kind": card.kind, "ref": card.ref, "text": text[:WHOLE], "quote": "", "heading": "", "end": end}
    return first.model_copy(update={**update, "title": card.title or first.title, "hints": hints, "tool": "catalogue"})


def quotable(license: str, options: Options) -> bool:  # noqa: A002 - the field's name
    """Whether the settings let a text of that licence be quoted."""
    return license.casefold() not in {name.casefold() for name in options.unquotable_licenses}


def numbered(found: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Each thing once, by its ref, with what every tool said of it; ids follow the order."""
    merged: dict[str, Evidence] = {}
    for evidence in found:
        known = merged.get(evidence.ref)
        if known is None:
            merged[evidence.ref] = evidence
            continue
        hints = tuple(dict.fromkeys((*known.hints, *evidence.hints)))
        merged[evidence.ref] = known.model_copy(update={"hints": hints, "scores": {**evidence.scores, **known.scores}})
    return tuple(e.model_copy(update={"id": f"e{n}"}) for n, e in enumerate(merged.values(), start=1))


def hinted(found: Iterable[Evidence], hints: Mapping[str, tuple[str, ...]]) -> list[Evidence]:
    """The evidence with what is known of each ref besides: that it is in conflict, say."""
    return [
        e.model_copy(update={"hints": tuple(dict.fromkeys((*e.hints, *more)))}) if (more := hints.get(e.ref)) else e
        for e in found
    ]


def shown(found: Evidence) -> Evidence:
    """Evidence as an answer may show it: of what may not be quoted the place alone."""
    return found if found.quotable else found.model_copy(update={"text": "", "quote": ""})


def titled(found: Sequence[Evidence], snapshot: Snapshot) -> list[Evidence]:
    """The evidence with the titles of its documents, which items do not carry but the passages they stand in do."""
    homes = snapshot.passages([e.ref for e in found if not e.title])
    titles = {row.id: row.title for row in snapshot.rows(sorted(set(homes.values())))}
    return [e if e.title else e.model_copy(update={"title": titles.get(homes.get(e.ref, ""), "")}) for e in found]


def fitting(found: Sequence[Evidence]) -> tuple[tuple[Evidence, ...], int]:
    """The first pieces that fit together, at least one, and how many were left out."""
    told: list[Evidence] = []
    size = 0
    for piece in found[:MOST]:
        size += len(piece.text) + len(piece.quote)
        if told and size > MOST_TEXT:
            break
        told.append(piece)
    return tuple(told), len(found) - len(told)


def _standing(status: str) -> tuple[str, ...]:
    return () if status == "active" else (status,)
