"""Items as published, and what a librarian says of one."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from kb_pipeline.records.record import SCHEMA_VERSION, UNCLASSIFIED, Confidence, ItemType, Record, SourceType, Status


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
    """One atomic, proven piece of knowledge, as published at ``kb/items/<category>/<id>.json``.

    ``edited`` maps each field that a person changed to the hash of what the machine said then; ``clashes`` maps those
    of which the machine says something else since to what it says now.
    """

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
    clashes: Mapping[str, Any] = Field(default_factory=dict)
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
