"""Whether items are due on a page, and a page, as it stands, shows proof of what it says. Pure: work for a pool."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kb_pipeline.records import Item
from kb_pipeline.rules.pages.markdown import plain, quoted
from kb_pipeline.rules.pages.merging import is_reviewed
from kb_pipeline.rules.pages.reading import Line, places_of, read
from kb_pipeline.rules.pages.rendering import HISTORY, SHOWN, quote_of

_CITED = re.compile(rb"\[\^(kb_[0-9a-f]+)\]")


class Standing(NamedTuple):
    """A page's file and the items that it cites, as they travel: its bytes (none where it was not written), its path
    below ``kb/wiki``, and JSON by id."""

    data: bytes
    path: str
    items: Mapping[str, bytes]


class Proof(NamedTuple):
    """What of a page is not proven, in words, and where its links lead: each target with its place below ``kb/``."""

    faults: tuple[str, ...] = ()
    places: tuple[tuple[str, str], ...] = ()


def cited_in(data: bytes) -> set[str]:
    """The ids of all items that stand in a page's footnotes."""
    return {key.decode() for key in _CITED.findall(data)}


def proof_of(page: Standing) -> Proof:
    """What is to be said of the machine's lines on ``page``; nothing of one that a person reviewed.

    Raises ``UnicodeDecodeError`` and ``pydantic.ValidationError`` where something cannot be decoded.
    """
    if not page.data:
        return Proof(("was not written",))
    text = page.data.decode()
    if is_reviewed(text):
        return Proof()  # a person answers for it
    lines = list(read(text))
    cited = {key for line in lines for key in line.cites if line.ours}
    items = {key: Item.model_validate_json(page.items[key]) for key in sorted(cited & page.items.keys())}
    feet = {line.label: line.text for line in lines if line.kind == "foot"}
    faults = (fault for line in lines if line.ours and not line.by_hand for fault in _unproven(line, items, feet))
    return Proof(tuple(faults), tuple(places_of(lines, page.path).items()))


def _unproven(line: Line, items: Mapping[str, Item], feet: Mapping[str, str]) -> Iterator[str]:
    if line.kind == "lead":
        said = plain(line.text).rstrip(":")
        if not any(said in f"{item.context or ''}\n{item.statement}" for item in items.values()):
            yield f"nothing states '{said[:60]}'"
    if line.kind != "sentence":
        return
    if not line.cites:
        yield f"no footnote: {line.text[:80]}"
    for key in line.cites:
        item = items.get(key)
        if item is None or (item.status != "active" and line.section != HISTORY):
            yield f"{key} does not hold: {line.text[:80]}"
        elif not item.sources or not all(quoted(quote_of(c)[:SHOWN]) in feet.get(key, "") for c in item.sources):
            yield f"the footnote of {key} shows another quote"


def due(item: bytes) -> tuple[str, bool]:
    """The status of an item, and whether it must be at home on a page. Raises ``pydantic.ValidationError``."""
    found = Item.model_validate_json(item)
    return found.status, found.status == "active" and bool(found.sources)
