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
    """What a search may see; what is empty does not restrict. Applied before ranking.

    ``since`` and ``until`` (``YYYY-MM-DD``, both included) bound the date a row is from: its effective date, else the
    day it last changed.
    """

    kinds: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    docs: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    since: str = ""
    until: str = ""


class Explanation(Record):
    """Why a hit stands where it stands.

    ``added`` is what each list gave to ``fused``, the list's weight included (``weights``); ``fused_rank`` the place
    that alone would have given. ``rerank`` is the score from 0 to 10 of ``reranked_by``, None where it was not read
    again, ``decay`` the factor of age (1 new, 0.5 after one half-life). ``why`` says in words what moved it.
    """

    weights: Mapping[str, float] = Field(default_factory=dict)
    added: Mapping[str, float] = Field(default_factory=dict)
    fused: float = 0.0
    fused_rank: int = 0
    rerank: float | None = None
    reranked_by: str = ""
    decay: float = 1.0
    why: str = ""


class Hit(Record):
    """One result. ``lists`` gives the row's rank (from 1) in each list that held it.

    ``scores`` are as measured: ``cosine`` and ``coverage`` (the share of the query's rare words that it holds), 0 to 1.
    ``before`` and ``after`` are the passages beside it, where they were asked for.
    """

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
    scores: Mapping[str, float] = Field(default_factory=dict)
    source_type: str = ""
    license: str = ""
    status: str = "active"
    date: str = ""
    before: str = ""
    after: str = ""
    explanation: Explanation | None = None


class SearchResult(Record):
    """Hits, best first, of one query against one generation; ``ms`` excludes opening the index."""

    query: str
    generation: str
    ms: float
    hits: tuple[Hit, ...]
