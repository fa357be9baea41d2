"""A document and the items that are at home there to its outline: headings, and what stands below each. Pure."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from kb_pipeline.records import Chunk, Item, Meta, Outline, Placed, Section
from kb_pipeline.rules.pages.topics import below_title, form_of, title_of


class Settler(NamedTuple):
    """An item where its first proof stands, ``start`` to ``end`` in the text of ``doc_id``. One that is not ``active``
    is there for the history; ``heir`` is what replaced it, if anything did."""

    doc_id: str
    start: int
    end: int
    placed: Placed
    active: bool
    heir: str


def settler(data: bytes) -> Settler | None:
    """The item that ``data`` is the JSON of; None where no page may state it, nor have it in its history.

    Raises ``pydantic.ValidationError`` where it cannot be decoded.
    """
    item = Item.model_validate_json(data)
    if not item.sources or item.status == "retired":
        return None
    forms = {form for form in map(form_of, (*item.entities, *item.tags)) if form}
    placed = Placed(item.id, item.primary_category, item.entities, tuple(sorted(forms)))
    first, active = item.sources[0], item.status == "active"
    return Settler(first.doc_id, first.start, first.end, placed, active, "" if active else item.superseded_by or "")


def outlined(doc: str, items: Sequence[Settler], chunks: Sequence[Chunk], meta: Meta | None) -> Outline:
    """The outline of the document ``doc``; without its ``meta`` it is called by its id."""
    title = title_of(meta, chunks) if meta else doc
    starts, headings = [chunk.start for chunk in chunks], [below_title(chunk.heading, title) for chunk in chunks]
    sections: dict[tuple[str, ...], list[Placed]] = {}
    for item in sorted((i for i in items if i.active), key=lambda i: (i.start, i.end, i.placed.id)):
        at = bisect_right(starts, item.start) - 1
        sections.setdefault(headings[at] if at >= 0 else (), []).append(item.placed)
    return Outline(
        doc_id=doc,
        title=title,
        sections=tuple(Section(heading=heading, items=tuple(placed)) for heading, placed in sections.items()),
        replaced=dict(sorted((i.placed.id, i.heir) for i in items if i.heir)),
    )
