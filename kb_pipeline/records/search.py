"""Rows of the index, what a search may see and what it finds."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from kb_pipeline.records.record import Record


class Row(Record):
    """One row of the index, whatever its kind; what lands here is searchable everywhere.

    ``text`` is what lexical search reads and a hit shows, ``heading`` the context above it. ``docs`` are all
    documents it cites, ``origins`` those whose own words ``text`` is: a row is hidden when all of them are masked.
    ``previous`` and ``next`` name neighbouring chunk rows; ``hash`` covers the row's content.
    """

    id: str
    kind: Literal["item", "chunk", "page", "burst"]
    text: str
    heading: str = ""
    title: str = ""
    doc_id: str = ""
    source_id: str = ""
    uri: str = ""
    source_type: str = ""
    license: str = ""
    category: str = ""
    item_type: str = ""
    status: str = "active"
    confidence: str = ""
    confirmations: int = 1
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    quote: str = ""
    start: int = 0
    end: int = 0
    docs: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    previous: str = ""
    next: str = ""
    effective_date: str = ""
    updated_at: str = ""
    engine: str = ""


class Scope(Record):
    """What a search may see; an empty tuple does not restrict. Applied before ranking."""

    kinds: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    docs: tuple[str, ...] = ()


class Hit(Record):
    """One result. ``lists`` gives the row's rank (from 1) in each list that held it."""

    id: str
    kind: str
    text: str
    score: float
    doc_id: str
    uri: str
    title: str = ""
    heading: str = ""
    category: str = ""
    quote: str = ""
    start: int = 0
    end: int = 0
    docs: tuple[str, ...] = ()
    lists: Mapping[str, int] = Field(default_factory=dict)


class SearchResult(Record):
    """Hits, best first, of one query against one generation; ``ms`` excludes opening the index."""

    query: str
    generation: str
    ms: float
    hits: tuple[Hit, ...]
