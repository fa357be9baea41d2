"""Items to the plan of the wiki: which pages there are and what stands on each. Writes no page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import cast

from kb_pipeline.records import Chunk, Conflict, Meta, Outline, Page
from kb_pipeline.rules.encoded import Read
from kb_pipeline.rules.pages.outlining import Settler, outlined, settler
from kb_pipeline.rules.pages.planning import plan
from kb_pipeline.world import Changes, Inputs, Output, Pool, Previous, World

OUTLINES, PLAN = "outlines", "plan"
_PART = 128  # items that travel to a worker at a time: about 5 ms of work


def run(changes: Changes, inputs: Inputs, previous: Previous, world: World) -> Output:
    """Plan the wiki: every active item at home on one page, titles and paths of all pages, and their links."""
    known = () if changes.everything else cast(tuple[Outline, ...], previous.records(OUTLINES))
    outlines = _outlines(changes, inputs, {outline.doc_id: outline for outline in known}, world.pool)
    standing = cast(tuple[Page, ...], previous.records(PLAN))
    conflicts = [(c.a, c.b) for c in cast(tuple[Conflict, ...], inputs.records("dedup", "conflicts"))]
    pages = tuple(plan(outlines.values(), world.settings.taxonomy, standing, conflicts))
    return Output(
        upserts={OUTLINES: tuple(outlines[doc] for doc in sorted(outlines)), PLAN: pages},
        kept=len(set(map(id, pages)) & set(map(id, standing))),
        details={"pages": len(pages), "items": sum(len(page.items) for page in pages)},
    )


def _outlines(changes: Changes, inputs: Inputs, before: Mapping[str, Outline], pool: Pool) -> dict[str, Outline]:
    """The outline of each document, made anew where its items or its text changed."""
    if changes.everything:
        items, docs = frozenset(inputs.keys("tags")), set(inputs.keys("normalized"))
    else:
        items = changes.touched["tags"]
        docs = {doc for stage in ("chunks", "normalized") for doc in changes.touched[stage]}
    held = {doc: _ids(outline) for doc, outline in before.items()}
    docs |= {doc for doc, ids in held.items() if not items.isdisjoint(ids)}
    found: dict[str, list[Settler]] = {doc: [] for doc in docs}
    for item in _settlers(items, inputs, pool):
        found.setdefault(item.doc_id, []).append(item)
    untouched = {key for doc in found for key in held.get(doc, ())} - items
    for item in _settlers(untouched, inputs, pool):
        found.setdefault(item.doc_id, []).append(item)
    made = {doc: _outline(doc, standing, inputs) for doc, standing in found.items() if standing}
    return {**{doc: outline for doc, outline in before.items() if doc not in found}, **made}


def _ids(outline: Outline) -> set[str]:
    return {placed.id for section in outline.sections for placed in section.items} | outline.replaced.keys()


def _settlers(keys: Iterable[str], inputs: Inputs, pool: Pool) -> Iterator[Settler]:
    """Items that a page may state, or state as its history."""
    standing = frozenset(inputs.keys("tags"))
    readable = [key for key in sorted(keys) if key in standing and not inputs.broken("tags", key)]
    found = pool.map(settler, Read(partial(inputs.encoded, "tags"), readable), _PART)
    for key, item in zip(readable, found, strict=True):
        if isinstance(item, Exception):
            inputs.records("tags", key)  # what cannot be read is named, with its cure
            raise item
        if item:
            yield item


def _outline(doc: str, items: Sequence[Settler], inputs: Inputs) -> Outline:
    chunks = cast(tuple[Chunk, ...], inputs.records("chunks", doc))
    metas = cast(tuple[Meta, ...], inputs.records("normalized", doc))
    return outlined(doc, items, chunks, metas[0] if metas else None)
