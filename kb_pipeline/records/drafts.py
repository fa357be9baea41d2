"""Chunks of a document and what was drafted from them."""

from typing import Literal

from kb_pipeline.records.record import Confidence, ItemType, Record


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
