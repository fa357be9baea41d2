"""What faces list: sources, projects, categories and tags, items of one, quotes looked up."""

from collections.abc import Mapping

from pydantic import Field

from kb_pipeline.records.documents import Project
from kb_pipeline.records.record import Record
from kb_pipeline.records.views import Brief, SourceStatus
from kb_pipeline.records.wiki import PageBrief


class SourceView(Record):
    """A source as its readers know it: what it is, who answers for it, how fresh it is, and what went wrong."""

    status: SourceStatus
    license: str
    refresh: str
    owners: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()


class Shelf(Record):
    """A category or a tag, and how many active items bear it."""

    name: str
    items: int
    description: str = ""


class Contents(Record):
    """What there is, before anything is asked. ``kinds`` counts live rows by kind."""

    generation: str
    kinds: Mapping[str, int] = Field(default_factory=dict)
    categories: tuple[Shelf, ...] = ()
    tags: tuple[Shelf, ...] = ()


class Listed(Record):
    """An item in a list."""

    id: str
    statement: str
    category: str
    tags: tuple[str, ...] = ()
    doc_id: str = ""
    updated_at: str = ""


class Listing(Record):
    """One page of a list of ``total`` items, from ``start`` on."""

    total: int
    start: int
    items: tuple[Listed, ...]


class DocumentLine(Record):
    """A document in a list."""

    doc_id: str
    title: str
    source_type: str
    items: int


class DocumentPart(Record):
    """Characters ``start`` to ``end`` of a document of ``total``, and the items that begin there; ``end`` is where to
    read on, unless it is ``total``."""

    doc_id: str
    title: str
    uri: str
    license: str
    authors: tuple[str, ...] = ()
    effective_date: str | None = None
    text: str
    start: int
    end: int
    total: int
    items: tuple[Brief, ...] = ()


class Sources(Record):
    """All sources that may be seen."""

    sources: tuple[SourceView, ...]


class Projects(Record):
    """All projects that may be seen."""

    projects: tuple[Project, ...]


class Pages(Record):
    """All pages of the wiki that may be seen, by title."""

    pages: tuple[PageBrief, ...]


class Deposited(Record):
    """What was put into an inbox: its source, the ids that its documents will have, and what was done for it."""

    source: str
    documents: tuple[str, ...]
    message: str = ""


class Standing(Record):
    """One place where a quote stands verbatim, and the items that rest on it."""

    doc_id: str
    title: str
    start: int
    end: int
    items: tuple[str, ...] = ()


class Verification(Record):
    """Whether a quote stands verbatim in what may be seen, and where (at most 20 places)."""

    quote: str
    verbatim: bool
    places: tuple[Standing, ...] = ()
