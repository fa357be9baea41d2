"""The wiki: where items stand in their documents, the plan of its pages, and pages as written."""

from collections.abc import Mapping
from itertools import chain
from typing import Literal, NamedTuple

from pydantic import Field

from kb_pipeline.records.items import Item
from kb_pipeline.records.record import SCHEMA_VERSION, Record

Facet = Literal["what", "how", "options", "figures", "steps", "tradeoffs", "decisions", "open", "changes"]


class Placed(NamedTuple):
    """An active item where its first proof stands: what planning needs to know of it, in a list of four.

    ``forms`` are those in which its names and tags are compared, sorted. No ``Record``: a plan reads all of them.
    """

    id: str
    category: str
    names: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()


class Section(Record):
    """The items below one heading of a document, in the order of the text."""

    heading: tuple[str, ...]
    items: tuple[Placed, ...]


class Outline(Record):
    """One line of ``kb/pages/outlines.jsonl``: a document as its headings and the items that are at home there.

    ``replaced`` maps superseded items that stand there to what replaced them.
    """

    schema_version: int = SCHEMA_VERSION
    doc_id: str
    title: str
    sections: tuple[Section, ...] = ()
    replaced: Mapping[str, str] = Field(default_factory=dict)


class Link(Record):
    """A page as others name it; ``path`` is below ``kb/wiki``."""

    title: str
    path: str


class Part(Record):
    """Items of a page below one heading of their document; ``heading`` is empty where it is the page's own. ``place``
    is the heading as it stands in the document, empty above the first."""

    heading: str
    items: tuple[str, ...]
    place: str = ""


class Page(Record):
    """One line of ``kb/pages/plan.jsonl``: which items are at home on a page, in what order, and what it is called.

    ``id`` follows from the subject, so it stays while items come and go. ``path`` is below ``kb/wiki``. ``replaced``
    are superseded items whose last successor is at home here, ``conflicts`` pairs of items that disagree, one of
    them from here.
    """

    schema_version: int = SCHEMA_VERSION
    id: str
    title: str
    category: str
    path: str
    aliases: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    conflicts: tuple[tuple[str, str], ...] = ()
    replaced: tuple[str, ...] = ()
    related: tuple[Link, ...] = ()
    backlinks: tuple[Link, ...] = ()

    @property
    def items(self) -> tuple[str, ...]:
        """Ids of the items at home here, in order."""
        return tuple(chain.from_iterable([part.items for part in self.parts]))


class Material(Record):
    """What a writer may use for a page: its title, and its items below their headings, in order."""

    title: str
    aliases: tuple[str, ...] = ()
    category: str
    parts: tuple[tuple[str, tuple[Item, ...]], ...]


class Stated(Record):
    """One sentence of a page and the ids of the items that it states.

    ``follows`` is the sentence of the document that it leans on, where that does not stand before it on the page.
    """

    text: str
    cites: tuple[str, ...]
    follows: str = ""


class Block(Record):
    """Sentences that belong together: a paragraph (one point), or the points of a list below its ``lead_in``, which
    stands in the context of every item in it."""

    kind: Literal["prose", "list", "steps"] = "prose"
    lead_in: str = ""
    points: tuple[tuple[Stated, ...], ...]


class WrittenSection(Record):
    """What a page says of one facet, below one heading of the documents (or none)."""

    facet: Facet
    heading: str = ""
    blocks: tuple[Block, ...]


class Written(Record):
    """A page as a writer gives it, before it is checked and rendered. ``lead`` is what the page is about in a sentence
    or two, which its sections do not repeat."""

    lead: tuple[Stated, ...] = ()
    sections: tuple[WrittenSection, ...] = ()


class Clash(Record):
    """A place of a page where a person and the machine changed the same lines; the person's stand on the page."""

    person: tuple[str, ...]
    machine: tuple[str, ...]


class Rendering(Record):
    """A file of the wiki. ``text`` is what stands there, or is to.

    ``base`` are hashes of the lines of the rendering that it rests on, by which a person's edits are told; ``by_hand``
    the lines that are a person's, ``clashes`` where both changed the same. ``proposal`` is what the machine would write
    in place of a page that a person marked as reviewed.
    """

    id: str
    path: str
    text: str
    base: tuple[str, ...] = ()
    by_hand: tuple[str, ...] = ()
    clashes: tuple[Clash, ...] = ()
    proposal: str = ""


class PageBrief(Record):
    """A page in one line of the catalogue; ``keys`` are names, flags and figures that stand in its text, ``docs`` the
    documents that it rests on, that of most statements first."""

    id: str
    title: str
    path: str
    category: str
    summary: str = ""
    keys: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    docs: tuple[str, ...] = ()
    items: int = 0
    updated: str = ""


class Neighbour(Record):
    """A page beside another: which ``leads`` there, is ``named`` there, or is ``related`` to it in another way."""

    title: str
    path: str
    kind: Literal["leads", "named", "related"]


class Neighbourhood(Record):
    """A page in the middle of those around it, ``more`` of which are not shown. ``links`` are pairs of places in
    ``neighbours`` of which one leads to the other."""

    title: str
    path: str
    neighbours: tuple[Neighbour, ...] = ()
    links: tuple[tuple[int, int], ...] = ()
    more: int = 0


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
    proposal: str = ""


class PageWords(Record):
    """What of a page a person may edit: its Markdown without footnotes, whether the machine may change it only with his
    consent (``reviewed``), and fields of its front matter."""

    body: str
    reviewed: bool = False
    summary: str = ""
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


class PageDraft(Record):
    """A page opened for editing. ``loaded`` tells its file from a later one."""

    id: str
    title: str
    path: str
    words: PageWords
    loaded: str
