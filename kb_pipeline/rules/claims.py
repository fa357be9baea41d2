"""What the file of a published item claims: what a check compares with what stands. Pure: work for a pool."""

from typing import NamedTuple

from kb_pipeline.records import Item


class Quote(NamedTuple):
    """Words that stand in a document at these offsets, as an item says."""

    doc_id: str
    start: int
    end: int
    words: str


class Claims(NamedTuple):
    """The category of an active item, and its proofs."""

    category: str
    quotes: tuple[Quote, ...]


def claims(data: bytes) -> Claims | None:
    """What an item claims; nothing where it is not active. Raises ``pydantic.ValidationError``."""
    item = Item.model_validate_json(data)
    if item.status != "active":
        return None
    return Claims(item.primary_category, tuple(Quote(c.doc_id, c.start, c.end, c.source_span) for c in item.sources))


def status_of(data: bytes) -> str:
    """The status of an item. Raises ``pydantic.ValidationError``."""
    return Item.model_validate_json(data).status
