"""Whether a page that was written earlier may stand: what it says is still so, its links lead somewhere. Pure."""

from collections.abc import Collection, Mapping

from kb_pipeline.records import Item, Page, Stated
from kb_pipeline.rules.pages.markdown import plain, quoted
from kb_pipeline.rules.pages.reading import Line, leads, places_of, read
from kb_pipeline.rules.pages.rendering import CONFLICTS, HISTORY, SHOWN, quote_of
from kb_pipeline.rules.pages.stating import fault_of


def stands(
    text: str, page: Page, items: Mapping[str, Item], paths: Collection[str], documents: Collection[str]
) -> bool:
    """Whether the page ``text`` may stand where ``page`` is planned: its sentences are carried by items that hold now,
    in the quotes that it shows, and its history and its conflicts are those of the plan.

    It may lack items that came since. ``items`` are all that ``page`` may cite, ``paths`` those of all pages,
    ``documents`` ids of all documents.
    """
    lines = [line for line in read(text) if line.ours and not line.by_hand]
    places = places_of(lines, page.path).values()
    active = {key: item for key, item in items.items() if item.status == "active"}
    told = [line for line in lines if line.kind == "sentence" and line.section not in {HISTORY, CONFLICTS}]
    feet = {line.label: line.text for line in lines if line.kind == "foot"}
    return (
        all(leads(place, paths, documents) for place in places)
        and all(_carried(line, active, page.title) for line in told)
        and all(_in_code(line, active) for line in lines if line.kind == "code")
        and all(_shown(active[key], feet.get(key, "")) for line in told for key in line.cites)
        and _cited(lines, CONFLICTS) == {key for pair in page.conflicts for key in pair}
        and _cited(lines, HISTORY) - active.keys() == set(page.replaced)
    )


def _carried(line: Line, active: Mapping[str, Item], title: str) -> bool:
    said = Stated(text=plain(line.text), cites=line.cites)
    return bool(line.cites) and active.keys() >= set(line.cites) and not fault_of(said, active, title)


def _in_code(line: Line, active: Mapping[str, Item]) -> bool:
    """Whether a line of code, or a mark of its fence, is what an item shows."""
    said = line.text.strip()
    spans = (c.source_span for item in active.values() for c in item.sources)
    return said.startswith("```") or any(said in span for span in spans)


def _shown(item: Item, foot: str) -> bool:
    return all(quoted(quote_of(c)[:SHOWN]) in foot for c in item.sources)


def _cited(lines: Collection[Line], section: str) -> set[str]:
    return {key for line in lines if line.section == section for key in line.cites}
