"""The wiki: where items stand in their documents, the plan of its pages, and pages as written."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from kb_pipeline.records.items import Item
from kb_pipeline.records.record import SCHEMA_VERSION, Record

Facet = Literal["what", "how", "options", "figures", "steps", "tradeoffs", "decisions", "open"]


class Placed(Record):
    """An active item where its first proof stands: what planning needs to know of it."""

    id: str
    category: str
    names: tuple[str, ...] = ()


class Section(Record):
    """The items below one heading of a document, in the order of the text."""

    heading: tuple[str, ...]
    items: tuple[Placed, ...]


class Outline(Record):
    """One line of ``kb/pages/outlines.jsonl``: a document as its headings and the items that are at home there."""

    schema_version: int = SCHEMA_VERSION
    doc_id: str
    title: str
    sections: tuple[Section, ...]


class Link(Record):
    """A page as others name it; ``path`` is below ``kb/wiki``."""

    title: str
    path: str


class Part(Record):
    """Items of a page below one heading of their document; the heading is empty where it is the page's own."""

    heading: str
    items: tuple[str, ...]


class Page(Record):
    """One line of ``kb/pages/plan.jsonl``: which items are at home on a page, in what order, and what it is called.

    ``id`` follows from the subject, so it stays while items come and go. ``path`` is below ``kb/wiki``.
    """

    schema_version: int = SCHEMA_VERSION
    id: str
    title: str
    category: str
    path: str
    aliases: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    related: tuple[Link, ...] = ()
    backlinks: tuple[Link, ...] = ()

    @property
    def items(self) -> tuple[str, ...]:
        """Ids of the items at home here, in order."""
        return tuple(item for part in self.parts for item in part.items)


class Material(Record):
    """What a writer may use for a page: its title, and its items below their headings, in order."""

    title: str
    category: str
    parts: tuple[tuple[str, tuple[Item, ...]], ...]


class Stated(Record):
    """One sentence of a page and the ids of the items that it states."""

    text: str
    cites: tuple[str, ...]


class Block(Record):
    """Sentences that belong together: a paragraph, or the points of a list below its lead-in."""

    kind: Literal["prose", "list", "steps"] = "prose"
    lead_in: str = ""
    sentences: tuple[Stated, ...]


class WrittenSection(Record):
    """What a page says of one facet, below one heading of the documents (or none)."""

    facet: Facet
    heading: str = ""
    blocks: tuple[Block, ...]


class Written(Record):
    """A page as a writer gives it, before it is checked and rendered."""

    lead: tuple[Stated, ...] = ()
    sections: tuple[WrittenSection, ...] = ()


class Clash(Record):
    """A place of a page where a person and the machine changed the same lines; the person's stand on the page."""

    person: tuple[str, ...]
    machine: tuple[str, ...]


class Rendering(Record):
    """A file of the wiki. ``text`` is what stands there, or is to.

    ``base`` are hashes of the lines that the machine rendered last, from which a person's edits are told; ``by_hand``
    the lines that are a person's, ``clashes`` where both changed the same. ``proposal`` says that the machine would
    write another page than the one that a person marked as reviewed.
    """

    id: str
    path: str
    text: str
    base: tuple[str, ...] = ()
    by_hand: tuple[str, ...] = ()
    clashes: tuple[Clash, ...] = ()
    proposal: bool = False


class PageBrief(Record):
    """A page in one line of the catalogue; ``keys`` are names, flags and figures that stand in its text."""

    id: str
    title: str
    path: str
    category: str
    summary: str = ""
    keys: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    items: int = 0
    updated: str = ""


class PageView(Record):
    """A page as a face shows it: its Markdown as it stands, the pages around it, and what waits for a person."""

    page: Page
    brief: PageBrief
    text: str
    front: Mapping[str, object] = Field(default_factory=dict)
    related: tuple[Link, ...] = ()
    backlinks: tuple[Link, ...] = ()
    by_hand: tuple[str, ...] = ()
    clashes: tuple[Clash, ...] = ()
    proposal: bool = False
