"""The narrow waist: every shape that travels between rooms. Frozen, closed, without behaviour beyond derivation.

Times are ISO 8601 strings in UTC (``2026-11-30T15:00:00Z``), dates ``YYYY-MM-DD``. Offsets count Unicode code
points of the decoded text. Hashes are the first 32 hex digits of SHA-256 unless a field says otherwise.
"""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION = 1

SourceType = Literal["note", "doc", "web", "paper", "code", "chat", "mail", "ticket", "table", "human"]
ItemType = Literal["fact", "definition", "procedure", "tradeoff", "metric"]
Confidence = Literal["high", "medium", "low"]
Status = Literal["active", "superseded", "retired"]
Decision = Literal["merge", "keep_both", "supersede"]
QuestionStyle = Literal["keyword", "nl", "paraphrase"]
UNCLASSIFIED = "UNCLASSIFIED"


class Record(BaseModel):
    """Base of all records: frozen, no unknown field."""

    model_config = ConfigDict(frozen=True, extra="forbid")


# --- sources and documents ---------------------------------------------------------------------------------------


class Source(Record):
    """One entry of ``sources.yaml``.

    ``uri`` is a path (absolute or relative to the knowledge base's root) or URLs; ``refresh`` a cron line, an
    interval such as ``6h`` or ``manual`` (never on its own).
    """

    id: str
    type: str
    uri: tuple[str, ...]
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    license: str = "unknown"
    refresh: str = "24h"
    owners: tuple[str, ...] = ()
    options: Mapping[str, Any] = Field(default_factory=dict)


class Project(Record):
    """A named bundle of sources that search can be scoped to."""

    id: str
    name: str
    sources: tuple[str, ...]


class Category(Record):
    """One closed category; ``keywords`` and ``description`` are what classification rests on."""

    name: str
    description: str
    keywords: tuple[str, ...]


class Taxonomy(Record):
    """The closed categories and the tag vocabulary: ``tags`` maps a tag to its aliases."""

    categories: tuple[Category, ...] = ()
    tags: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)


class RawEntry(Record):
    """What the manifest knows of one original: ``path`` is its address within the source (``/``-separated).

    ``stat`` is a cheap fingerprint of the original (local: size and mtime in ns), never part of its identity.
    """

    path: str
    uri: str
    sha256: str
    size: int
    fetched_at: str
    media_type: str = ""
    source_type: SourceType | None = None
    license: str | None = None
    title: str = ""
    authors: tuple[str, ...] = ()
    effective_date: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    stat: tuple[int, int] | None = None
    deleted_at: str | None = None


class Fetched(Record):
    """One line of a connector's listing.

    ``same`` says that the original is unchanged since ``known`` (no bytes travel); ``changed`` carries the bytes
    in ``content``; ``failed`` carries a reason and keeps the last good version. A listing that ends normally is
    complete; one that raises is not, and deletes nothing.
    """

    path: str
    state: Literal["same", "changed", "failed"]
    uri: str = ""
    content: bytes | None = None
    reason: str = ""
    media_type: str = ""
    source_type: SourceType | None = None
    title: str = ""
    authors: tuple[str, ...] = ()
    effective_date: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    stat: tuple[int, int] | None = None


class RawDoc(Record):
    """An original as a converter sees it. ``name`` is its path, whose last extension tells the format."""

    doc_id: str
    source_id: str
    name: str
    uri: str
    content: bytes
    media_type: str = ""
    source_type: SourceType | None = None
    license: str = "unknown"
    title: str = ""
    authors: tuple[str, ...] = ()
    effective_date: str | None = None
    fetched_at: str = ""
    raw_sha256: str = ""


class Converted(Record):
    """What a converter returns. ``text`` is clean Markdown with LF line ends."""

    text: str
    converter: str
    converter_version: str
    title: str = ""
    authors: tuple[str, ...] = ()
    effective_date: str | None = None
    source_type: SourceType | None = None
    metadata: Mapping[str, Any] = Field(default_factory=dict)
    warnings: tuple[str, ...] = ()


class Meta(Record):
    """``<doc_id>.meta.json``. ``status`` is ``hardly-any-text`` where conversion gave under 20 letters a page."""

    schema_version: int = SCHEMA_VERSION
    doc_id: str
    source_id: str
    title: str
    uri: str
    source_type: SourceType
    license: str
    language: str
    raw_sha256: str
    text_sha256: str
    effective_date: str | None = None
    authors: tuple[str, ...] = ()
    fetched_at: str
    converter: str
    converter_version: str
    status: Literal["ok", "hardly-any-text"] = "ok"
    warnings: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = Field(default_factory=dict)


class Document(Record):
    """A normalized document: its Markdown and its meta data."""

    meta: Meta
    text: str


class Rewrite(Record):
    """A proposal: ``document.text[start:end]`` cleaned to ``text``, or None where the engine could not, and why."""

    start: int
    end: int
    text: str | None
    reason: str = ""


# --- chunks and drafts -------------------------------------------------------------------------------------------


class Chunk(Record):
    """A contiguous piece of a document: ``text == document.text[start:end]``.

    ``header`` is a table header repeated for a piece of a long table (not part of ``text``). ``hash`` covers
    content (text, header, heading path, kind), never offsets or ids; ``id`` covers the document, ``hash`` and the
    occurrence of that hash within the document. ``previous`` and ``next`` are ids of neighbours.
    """

    id: str
    doc_id: str
    hash: str
    kind: Literal["text", "code", "table", "transcript"]
    heading: tuple[str, ...]
    text: str
    header: str = ""
    start: int
    end: int
    previous: str | None = None
    next: str | None = None


class Draft(Record):
    """An item in the making. ``source_span == chunk.text[start:end]``.

    ``hash`` is that of the canonical statement and context (``rules.ids.draft_hash``): the same fact from two
    places has one hash. ``topic`` links drafts split from one sentence.
    """

    hash: str
    statement: str
    detail: str = ""
    context: str | None = None
    item_type: ItemType = "fact"
    topic: str = ""
    entities: tuple[str, ...] = ()
    confidence: Confidence = "high"
    source_span: str
    start: int
    end: int
    engine: str


class Reject(Record):
    """Something that did not become knowledge, and why. ``excerpt`` is cut to 200 code points.

    ``quarantined`` marks what should have become knowledge but failed a proof, apart from what is none (questions,
    fragments, navigation).
    """

    stage: str
    where: str
    reason: str
    detail: str = ""
    excerpt: str = ""
    quarantined: bool = False


class Extraction(Record):
    """What one chunk gave. Nothing vanishes: every candidate is in ``drafts`` or in ``rejects``."""

    chunk_hash: str
    drafts: tuple[Draft, ...] = ()
    rejects: tuple[Reject, ...] = ()


# --- dedup -------------------------------------------------------------------------------------------------------


class Side(Record):
    """One side of a pair, as a judge sees it: content only, no id or path.

    ``lineage`` is an opaque name, the same on both sides where versions of one document state them; only then is there
    an ``effective_date``.
    """

    statement: str
    detail: str = ""
    context: str | None = None
    entities: tuple[str, ...] = ()
    item_type: ItemType = "fact"
    effective_date: str | None = None
    lineage: str = ""


class Pair(Record):
    """Two statements above the candidate threshold. ``cosine`` and ``ratio`` (0 to 1) are rounded to 3 decimals.

    ``guard`` names the first guard that fired (``numbers``, ``versions``, ``units``, ``negation``, ``antonyms``,
    ``scope``, ``entities``, ``context``) or is empty.
    """

    a: Side
    b: Side
    cosine: float
    ratio: float
    guard: str = ""


class Verdict(Record):
    """A judge's decision on a pair. ``newer`` says which side supersedes, with evidence in ``reason``."""

    decision: Decision
    newer: Literal["a", "b"] | None = None
    reason: str
    needs_review: bool = False


class DedupDecision(Record):
    """One line of ``kb/dedup/decisions.jsonl``; ``a < b`` are draft hashes."""

    schema_version: int = SCHEMA_VERSION
    a: str
    b: str
    cosine: float
    ratio: float
    guard: str = ""
    decision: Decision
    newer: Literal["a", "b"] | None = None
    by: Literal["rule", "judge", "human"] = "rule"
    engine: str = ""
    reason: str
    needs_review: bool = False


class Occurrence(Record):
    """Where a draft stands: the document, the chunk's content hash, the draft's hash.

    ``text_key`` is ``Embedder.key`` of the canonical statement in hex, so that a vector is found without the draft;
    ``topic`` is the draft's.
    """

    draft: str
    text_key: str
    doc_id: str
    chunk_hash: str
    topic: str = ""


class Cluster(Record):
    """Drafts that are one item. ``related`` and ``superseded_by`` are cluster ids (= item ids)."""

    schema_version: int = SCHEMA_VERSION
    id: str
    occurrences: tuple[Occurrence, ...]
    superseded_by: str | None = None
    related: tuple[str, ...] = ()
    needs_review: bool = False
    aliases: tuple[str, ...] = ()


# --- items -------------------------------------------------------------------------------------------------------


class Citation(Record):
    """One proof of an item: ``normalized[doc_id][start:end] == source_span``.

    ``content_hash`` is that of the chunk the quote stands in; ``version`` that of the normalized text.
    """

    doc_id: str
    uri: str
    source_type: SourceType
    license: str
    source_span: str
    start: int
    end: int
    content_hash: str
    version: str
    fetched_at: str


class Item(Record):
    """One atomic, proven piece of knowledge, as published at ``kb/items/<category>/<id>.json``."""

    schema_version: int = SCHEMA_VERSION
    id: str
    statement: str
    detail: str = ""
    context: str | None = None
    item_type: ItemType = "fact"
    topic: str = ""
    primary_category: str = UNCLASSIFIED
    secondary_categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    note: str | None = None
    entities: tuple[str, ...] = ()
    confidence: Confidence = "high"
    sources: tuple[Citation, ...] = ()
    related_items: tuple[str, ...] = ()
    status: Status = "active"
    superseded_by: str | None = None
    content_hash: str = ""
    embedding_ref: str = ""
    aliases: tuple[str, ...] = ()
    confirmations: int = 1
    valid_from: str | None = None
    valid_to: str | None = None
    engine: str = ""
    needs_review: bool = False
    edited: Mapping[str, str] = Field(default_factory=dict)
    created_at: str = ""
    updated_at: str = ""


class Tagging(Record):
    """A librarian's answer for one item: the primary category is in the closed list or ``UNCLASSIFIED``.

    ``margin`` is the score's distance to the runner-up; ``candidates`` are tags outside the vocabulary.
    """

    primary_category: str
    secondary_categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    note: str | None = None
    margin: float = 0.0
    candidates: tuple[str, ...] = ()


class Ask(Record):
    """One question to a model: ``system`` is the prompt's static part, ``user`` the rest, ``version`` its hash.

    ``source_id`` and ``doc_id`` are for the ledger alone: neither in the prompt nor in the key of the kept reply, so
    that a move costs nothing.
    """

    task: str
    version: str
    system: str
    user: str
    max_tokens: int = 4096
    source_id: str = ""
    doc_id: str = ""


class Spent(Record):
    """What requests to models came to; ``usd`` counts those whose price is known, ``tokens_cached`` are some of
    ``tokens_in``."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    usd: float = 0.0

    @property
    def tokens(self) -> int:
        """Sent and received: all that counts against a budget."""
        return self.tokens_in + self.tokens_out


# --- index and search --------------------------------------------------------------------------------------------


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


# --- evaluation --------------------------------------------------------------------------------------------------


class Question(Record):
    """One gold question. A hard negative has no ``expected_item_id``; a style that the engine cannot make
    honestly has ``question`` null and says why in ``note``. ``about`` is the item it was made from, ``made_from`` the
    hash of what it was made from; both are set outside the engine."""

    schema_version: int = SCHEMA_VERSION
    id: str
    style: QuestionStyle | Literal["hard_negative"]
    question: str | None
    gold_answer: str = ""
    expected_item_id: str | None = None
    about: str = ""
    made_from: str = ""
    source_id: str = ""
    engine: str = ""
    note: str = ""


class Rank(Record):
    """Where the expected item of one question stood (from 1) in one generation's hits, or None beyond ``depth``."""

    generation: str
    question: str
    rank: int | None


class EvalResult(Record):
    """One line of ``kb/eval/results.jsonl``. ``metrics`` maps a slice (``all``, ``style:nl``, ``source:notes``,
    ``human``) to measures (``recall@10``, ``mrr``, ``ndcg@10``, ``n``). ``common`` holds the measures of this
    generation (``candidate``) and of the live one (``live``) over the questions that both can answer."""

    schema_version: int = SCHEMA_VERSION
    generation: str
    engine: str
    at: str
    counts: Mapping[str, int]
    metrics: Mapping[str, Mapping[str, float]]
    compared_with: str | None = None
    common: Mapping[str, Mapping[str, float]] = Field(default_factory=dict)


# --- reports -----------------------------------------------------------------------------------------------------


class Finding(Record):
    """What a check found; ``offenders`` are the first 20."""

    check: str
    stage: str
    ok: bool
    blocking: bool
    message: str
    cure: str = ""
    count: int = 0
    offenders: tuple[str, ...] = ()


class StageReport(Record):
    """What one run of a stage did. ``data_version`` is the hash of the manifest's outputs."""

    stage: str
    partition: str | None = None
    made: int = 0
    kept: int = 0
    rejected: int = 0
    deleted: int = 0
    failed: int = 0
    seconds: float = 0.0
    files_written: int = 0
    embeddings: int = 0
    embedding_seconds: float = 0.0
    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    data_version: str = ""
    warnings: tuple[str, ...] = ()
    details: Mapping[str, Any] = Field(default_factory=dict)


# --- views: what a face shows ------------------------------------------------------------------------------------


class Brief(Record):
    """An item in one line."""

    id: str
    statement: str
    category: str
    status: Status
    start: int = 0
    end: int = 0


class Passage(Record):
    """A quote where it stands: the text ``before`` and ``after`` it, and whether it still stands there."""

    citation: Citation
    title: str
    heading: str
    before: str
    after: str
    proven: bool


class ItemView(Record):
    """An item, its proofs in context, what stands near it, and the decisions that made it."""

    item: Item
    passages: tuple[Passage, ...]
    neighbours: tuple[Brief, ...]
    decisions: tuple[DedupDecision, ...]


class Refused(Record):
    """A model's reply that could not be used: when, to which task, by which model and prompt, why, and its words."""

    at: str
    task: str
    model: str
    prompt: str
    outcome: str
    detail: str
    reply: str


class DocumentView(Record):
    """A document with the items that it proves, in order, and what was said about it to no use."""

    meta: Meta
    text: str
    items: tuple[Brief, ...]
    rejects: tuple[Reject, ...]
    refused: tuple[Refused, ...] = ()


class CostRow(Record):
    """What calls of one kind came to: a stage's, a source's, a model's or a day's. ``usd`` is None where no price is
    known, ``failed`` counts the calls without a usable reply, ``seconds`` adds up all of them."""

    name: str
    calls: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    seconds: float = 0.0
    usd: float | None = None


class PromptRow(Record):
    """A prompt in use: its ``version`` and model, how many ``artefacts`` its stage has, and how many of these an
    ``older`` one made (another version, model or engine)."""

    name: str
    stage: str
    version: str
    model: str
    artefacts: int
    older: int


class Range(Record):
    """From ``low`` to ``high``, both included."""

    low: int
    high: int


class EstimateRow(Record):
    """What one task would ask; ``usd`` is a range in dollars, None where the model's price is not known."""

    stage: str
    task: str
    model: str
    calls: Range
    tokens_in: Range
    tokens_out: Range
    usd: tuple[float, float] | None


class Estimate(Record):
    """What the next build would ask of models; no row for what asks nothing."""

    rows: tuple[EstimateRow, ...] = ()


class SourceStatus(Record):
    """The state of a source. ``stale`` is why it will run next, ``failed`` why it could not be read, ``held_deletions``
    how many documents are gone there but wait for a person to say that this is meant."""

    id: str
    type: str
    documents: int
    failed_documents: int
    deleted_documents: int
    items: int
    held_deletions: int = 0
    last_read: str | None = None
    stale: str | None = None
    failed: str | None = None
    failed_at: str | None = None


class StageStatus(Record):
    """The state of a whole stage."""

    stage: str
    last_run: str | None
    artefacts: int
    stale: str | None = None


class Overview(Record):
    """The state of everything."""

    root: str
    sources: tuple[SourceStatus, ...]
    stages: tuple[StageStatus, ...]
    live: str | None
    candidate: str | None
    pinned: str | None
    generations: tuple[str, ...]
    rows: Mapping[str, int]
    items: Mapping[str, int]
    quarantine: tuple[Reject, ...]
    warnings: tuple[str, ...]


class BuildReport(Record):
    """What one build did; ``next_steps`` say what to look at."""

    documents: Mapping[str, int]
    stages: Mapping[str, Mapping[str, int | float]]
    engine: Mapping[str, int | float]
    files_written: int
    generation: str | None
    live: str | None
    warnings: tuple[str, ...]
    failed: tuple[str, ...] = ()
    quarantined: int = 0
    seconds: float = 0.0
    next_steps: tuple[str, ...] = ()
