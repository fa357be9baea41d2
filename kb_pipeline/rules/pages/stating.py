"""Whether a page says what its items say: each sentence is carried by what it cites, and every item is stated. Pure.

Owns what becomes of a sentence that is not: the items' own statements stand in its place. The rules of carrying are
those of answers (``rules.citations``).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from kb_pipeline.records import Block, Claim, Dropped, Evidence, Item, Material, Stated, Written, WrittenSection
from kb_pipeline.rules.citations import verified
from kb_pipeline.rules.pages.rendering import cited


def items_of(material: Material) -> dict[str, Item]:
    """The items of a page by id, in order."""
    return {item.id: item for _, items in material.parts for item in items}


def evidence_of(item: Item, title: str) -> Evidence:
    """An item as what a sentence of the page ``title`` may rest on."""
    first = item.sources[0] if item.sources else None
    return Evidence(
        id=item.id,
        kind="item",
        ref=item.id,
        text=" ".join(filter(None, (item.statement, item.detail, *item.entities))),
        quote="\n".join(c.source_span for c in item.sources),
        title=title,
        heading=item.context or "",
        doc_id=first.doc_id if first else "",
    )


def fault_of(stated: Stated, items: Mapping[str, Item], title: str) -> str:
    """Why a sentence is not carried by the items that it cites; empty where it is."""
    known = [items[key] for key in stated.cites if key in items]
    if len(known) == 1 == len(stated.cites) and stated.text in known[0].statement:
        return ""
    claim = Claim(text=stated.text, cites=stated.cites)
    found = next(iter(verified([claim], [evidence_of(item, title) for item in known])), None)
    return f"{found.fault}: {found.detail}" if isinstance(found, Dropped) else "" if found else "it is empty"


def faults(written: Written, material: Material) -> list[tuple[Stated, str]]:
    """The sentences that are not carried, each with the reason."""
    items = items_of(material)
    return [(stated, why) for stated in _all(written) if (why := fault_of(stated, items, material.title))]


def settled(written: Written, material: Material, plainly: Callable[[Material], Written]) -> Written:
    """``written`` as it may stand: no sentence that is not carried, every item stated; ``plainly`` writes a page of
    statements from what is left over."""
    items = items_of(material)
    bad = {stated for stated, _ in faults(written, material)}
    sound = {key for stated in _all(written) if stated not in bad for key in stated.cites}
    replaced: set[str] = set()

    def repaired(sentences: Sequence[Stated]) -> Iterator[Stated]:
        for stated in sentences:
            if stated not in bad:
                yield stated
                continue
            for key in stated.cites:
                if key in items and key not in sound | replaced:
                    replaced.add(key)
                    yield Stated(text=items[key].statement, cites=(key,))

    lead = tuple(repaired(written.lead))
    sections = [
        section.model_copy(update={"blocks": tuple(_blocks(section.blocks, items, repaired))})
        for section in written.sections
    ]
    kept = Written(lead=lead, sections=tuple(section for section in sections if section.blocks))
    left = _without(material, frozenset(cited(kept)))
    if not left.parts:
        return kept
    rest = plainly(left)
    return Written(lead=(*kept.lead, *rest.lead), sections=tuple(_joined([*kept.sections, *rest.sections])))


def _joined(sections: Sequence[WrittenSection]) -> list[WrittenSection]:
    """Sections of one facet and heading as one, facets together, each where it first stood."""
    order = list(dict.fromkeys(section.facet for section in sections))
    found: dict[tuple[str, str], WrittenSection] = {}
    for section in sorted(sections, key=lambda s: order.index(s.facet)):
        before = found.get((section.facet, section.heading))
        blocks = (*(before.blocks if before else ()), *section.blocks)
        found[section.facet, section.heading] = section.model_copy(update={"blocks": blocks})
    return list(found.values())


def _blocks(
    blocks: Sequence[Block], items: Mapping[str, Item], repaired: Callable[[Sequence[Stated]], Iterator[Stated]]
) -> Iterator[Block]:
    for block in blocks:
        points = tuple(point for point in (tuple(repaired(point)) for point in block.points) if point)
        if points:
            told = [items[key] for point in points for stated in point for key in stated.cites]
            lead = block.lead_in if _leads(block.lead_in, told) else ""
            yield block.model_copy(update={"points": points, "lead_in": lead})


def _leads(lead_in: str, items: Sequence[Item]) -> bool:
    """Whether the documents have the list's lead-in above every item of it."""
    return all(lead_in in f"{item.context or ''}\n{item.statement}" for item in items)


def _all(written: Written) -> Iterator[Stated]:
    yield from written.lead
    for section in written.sections:
        for block in section.blocks:
            for point in block.points:
                yield from point


def _without(material: Material, used: frozenset[str]) -> Material:
    parts = ((heading, tuple(i for i in items if i.id not in used)) for heading, items in material.parts)
    return material.model_copy(update={"parts": tuple((h, items) for h, items in parts if items)})
