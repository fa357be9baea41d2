"""Items to the plan of the wiki: which pages there are and what stands on each. Writes no page."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from kb_pipeline.records import Chunk, Conflict, Item, Meta, Outline, Page, Placed, Section
from kb_pipeline.rules.pages.planning import plan
from kb_pipeline.rules.pages.topics import below_title, form_of, title_of
from kb_pipeline.world import Changes, Inputs, Output, Previous, World

OUTLINES, PLAN = "outlines", "plan"


def run(changes: Changes, inputs: Inputs, previous: Previous, world: World) -> Output:
    """Plan the wiki: every active item at home on one page, titles and paths of all pages, and their links."""
    known = () if changes.everything else cast(tuple[Outline, ...], previous.records(OUTLINES))
    outlines = _outlines(changes, inputs, {outline.doc_id: outline for outline in known})
    standing = cast(tuple[Page, ...], previous.records(PLAN))
    conflicts = [(c.a, c.b) for c in cast(tuple[Conflict, ...], inputs.records("dedup", "conflicts"))]
    pages = tuple(plan(outlines.values(), world.settings.taxonomy, standing, conflicts))
    return Output(
        upserts={OUTLINES: tuple(outlines[doc] for doc in sorted(outlines)), PLAN: pages},
        kept=len(set(pages) & set(standing)),
        details={"pages": len(pages), "items": sum(len(page.items) for page in pages)},
    )


def _outlines(changes: Changes, inputs: Inputs, before: Mapping[str, Outline]) -> dict[str, Outline]:
    """The outline of each document, made anew where its items or its text changed."""
    if changes.everything:
        items, docs = frozenset(inputs.keys("tags")), set(inputs.keys("normalized"))
    else:
        items = changes.touched["tags"]
        docs = {doc for stage in ("chunks", "normalized") for doc in changes.touched[stage]}
    held = {doc: _ids(outline) for doc, outline in before.items()}
    docs |= {doc for doc, ids in held.items() if not items.isdisjoint(ids)}
    found: dict[str, list[Item]] = {doc: [] for doc in docs}
    for item in _readable(items, inputs):
        found.setdefault(item.sources[0].doc_id, []).append(item)
    untouched = {key for doc in found for key in held.get(doc, ())} - items
    for item in _readable(untouched, inputs):
        found.setdefault(item.sources[0].doc_id, []).append(item)
    made = {doc: _outline(doc, standing, inputs) for doc, standing in found.items() if standing}
    return {**{doc: outline for doc, outline in before.items() if doc not in found}, **made}


def _ids(outline: Outline) -> set[str]:
    return {placed.id for section in outline.sections for placed in section.items} | outline.replaced.keys()


def _readable(keys: Iterable[str], inputs: Inputs) -> Iterator[Item]:
    """Items that a page may state, or state as its history."""
    for key in sorted(keys):
        for item in () if inputs.broken("tags", key) else cast(tuple[Item, ...], inputs.records("tags", key)):
            if item.sources and item.status != "retired":
                yield item


def _outline(doc: str, items: Sequence[Item], inputs: Inputs) -> Outline:
    chunks = cast(tuple[Chunk, ...], inputs.records("chunks", doc))
    metas = cast(tuple[Meta, ...], inputs.records("normalized", doc))
    title = title_of(metas[0], chunks) if metas else doc
    starts = [chunk.start for chunk in chunks]
    sections: dict[tuple[str, ...], list[Placed]] = {}
    for item in sorted(items, key=lambda i: (i.sources[0].start, i.sources[0].end, i.id)):
        at = bisect_right(starts, item.sources[0].start) - 1
        if item.status == "active":
            heading = below_title(chunks[at].heading, title) if at >= 0 else ()
            sections.setdefault(heading, []).append(_placed(item))
    return Outline(
        doc_id=doc,
        title=title,
        sections=tuple(Section(heading=heading, items=tuple(placed)) for heading, placed in sections.items()),
        replaced={i.id: i.superseded_by for i in items if i.status == "superseded" and i.superseded_by},
    )


def _placed(item: Item) -> Placed:
    forms = {form for form in map(form_of, (*item.entities, *item.tags)) if form}
    return Placed(item.id, item.primary_category, item.entities, tuple(sorted(forms)))
