"""A page from the bytes of what it is made from to its file and its line of the catalogue. Pure: work for a pool."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from kb_pipeline.records import Item, Material, Meta, Page, PageBrief, Rendering, Written
from kb_pipeline.rules.pages.catalogue import brief_of
from kb_pipeline.rules.pages.merging import line_hashes
from kb_pipeline.rules.pages.rendering import Rendered, rendered
from kb_pipeline.rules.pages.stating import settled


class Making(NamedTuple):
    """What a page is made from, as JSON: records travel slowly between processes.

    ``items`` are those that the page states, and what replaced those of its history, by id, ``metas`` those of their
    documents; ``written`` is the page as somebody wrote it, empty where nobody did.
    """

    page: str
    items: Mapping[str, bytes]
    metas: Mapping[str, bytes]
    written: str = ""


def made(making: Making, plainly: Callable[[Material], Written]) -> tuple[Rendering, PageBrief]:
    """The page as it may stand; ``plainly`` writes one of its items' own statements.

    Raises ``pydantic.ValidationError`` where something cannot be decoded.
    """
    page = Page.model_validate_json(making.page)
    items = {key: Item.model_validate_json(data) for key, data in making.items.items()}
    metas = {doc: Meta.model_validate_json(data) for doc, data in making.metas.items()}
    material = material_of(page, items)
    said = Written.model_validate_json(making.written) if making.written else plainly(material)
    words = settled(said, material, plainly)
    text = rendered(Rendered(page, words, items, metas, page.conflicts))
    return Rendering(id=page.id, path=page.path, text=text, base=line_hashes(text)), brief_of(page, words, items)


def material_of(page: Page, items: Mapping[str, Item]) -> Material:
    """What a writer may use for ``page``; ``items`` by id."""
    parts = tuple((part.heading, tuple(items[key] for key in part.items)) for part in page.parts)
    return Material(title=page.title, aliases=page.aliases, category=page.category, parts=parts)
