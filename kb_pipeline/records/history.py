"""What happened to items, what a purge erased, and what has grown old."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from kb_pipeline.records.items import Citation
from kb_pipeline.records.record import SCHEMA_VERSION, Record

EventKind = Literal[
    "born",
    "merged",
    "superseded",
    "revived",
    "edited",
    "recategorised",
    "retired",
    "returned",
    "sources",
    "changed",
    "absorbed",
    "hidden",
]
"""``merged`` tells of the item that took others in, ``absorbed`` of one whose file left with that, ``hidden`` of one
whose file a person deleted; ``revived`` of one that is no longer superseded, ``returned`` of one that was retired or
away; ``sources`` of proofs alone, ``changed`` of any other field."""


class Quote(Record):
    """The words of a document."""

    doc_id: str
    text: str


class Event(Record):
    """One line of ``kb/history/<2 hex>.jsonl``: what happened to ``item`` at ``at`` (UTC) in ``run``, and why.

    ``run`` is the same for all events of one publication. ``others`` are the items it came from or went to. ``before``
    holds the former values of the fields that changed, of an item that is ``absorbed`` or ``hidden`` all; ``after``
    holds the new ones where a person gave them. ``lost`` are citations that went, ``quotes`` those that came, or, in
    what ``kb history`` shows, the proofs that the item had by then.
    """

    schema_version: int = SCHEMA_VERSION
    item: str
    at: str
    run: str
    kind: EventKind
    by: Literal["machine", "person"] = "machine"
    cause: str = ""
    others: tuple[str, ...] = ()
    before: Mapping[str, Any] = Field(default_factory=dict)
    after: Mapping[str, Any] = Field(default_factory=dict)
    quotes: tuple[Quote, ...] = ()
    lost: tuple[Citation, ...] = ()


class Cause(Record):
    """What a stage knows of why an item became what it is: ``reason`` in words, ``others`` the items concerned."""

    reason: str = ""
    others: tuple[str, ...] = ()
    by: Literal["machine", "person"] = "machine"


class PurgeReport(Record):
    """What a purge erased: counts by kind of artefact. ``residue`` are files in which words of the document still
    stand that no other document holds; empty when the purge is complete. ``warnings`` say what a build must make up."""

    doc_id: str
    erased: Mapping[str, int]
    residue: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class OldSource(Record):
    """A source past its refresh, or that could not be read: since when, and by which rule."""

    id: str
    last_read: str | None
    refresh: str
    why: str


class OldItem(Record):
    """An active item whose only proofs are old: the newest date of its documents."""

    id: str
    statement: str
    doc_id: str
    date: str


class DeadLink(Record):
    """A link in a document to what is known to be gone, and why it is."""

    doc_id: str
    target: str
    why: str


class NearTags(Record):
    """Two tags that may be one, with how many items bear each."""

    a: str
    b: str
    a_items: int
    b_items: int
    why: str


class CategoryWidth(Record):
    """A category that holds too much, or nothing; ``share`` is that of all active items."""

    category: str
    items: int
    share: float


class Staleness(Record):
    """What has grown old or loose, as ``kb/logs/staleness.json`` holds it. ``rechecked`` pairs were decided anew by the
    sweep, of which ``overturned`` came out otherwise."""

    schema_version: int = SCHEMA_VERSION
    at: str
    items: int = 0
    sources: tuple[OldSource, ...] = ()
    old_items: tuple[OldItem, ...] = ()
    dead_links: tuple[DeadLink, ...] = ()
    unused_tags: tuple[str, ...] = ()
    near_tags: tuple[NearTags, ...] = ()
    unclassified: float = 0.0
    wide: tuple[CategoryWidth, ...] = ()
    empty: tuple[str, ...] = ()
    rechecked: int = 0
    overturned: int = 0
