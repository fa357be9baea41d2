"""Pairs of drafts, decisions on them, and clusters: what is one item."""

from typing import Literal

from kb_pipeline.records.record import SCHEMA_VERSION, Decision, ItemType, Record


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
    """Drafts that are one item. ``related`` and ``superseded_by`` are cluster ids (= item ids), ``superseded_on`` the
    earliest explicit date of what replaced it directly.

    ``aside`` says that a person took it out of everything live: ``retired`` is kept on disk, ``hidden`` is not.
    """

    schema_version: int = SCHEMA_VERSION
    id: str
    occurrences: tuple[Occurrence, ...]
    superseded_by: str | None = None
    superseded_on: str | None = None
    related: tuple[str, ...] = ()
    needs_review: bool = False
    aliases: tuple[str, ...] = ()
    aside: Literal["", "retired", "hidden"] = ""
