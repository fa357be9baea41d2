"""What a face shows: items, documents and the state of it all."""

from collections.abc import Mapping

from kb_pipeline.records.clusters import DedupDecision
from kb_pipeline.records.documents import Meta
from kb_pipeline.records.drafts import Reject
from kb_pipeline.records.items import Citation, Item
from kb_pipeline.records.models import Refused
from kb_pipeline.records.record import Record, Status


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
    """An item, its proofs in context, what stands near it, and the decisions that made it. ``fault`` says why its file
    cannot stand as a person left it, where this is its last valid version."""

    item: Item
    passages: tuple[Passage, ...]
    neighbours: tuple[Brief, ...]
    decisions: tuple[DedupDecision, ...]
    fault: str = ""


class DocumentView(Record):
    """A document with the items that it proves, in order, and what was said about it to no use."""

    meta: Meta
    text: str
    items: tuple[Brief, ...]
    rejects: tuple[Reject, ...]
    refused: tuple[Refused, ...] = ()


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
