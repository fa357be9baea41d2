"""What people decide about items, what waits for their decision, and what contradicts itself."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from kb_pipeline.records.history import Quote
from kb_pipeline.records.record import SCHEMA_VERSION, Record
from kb_pipeline.records.views import Brief

ReviewKind = Literal["edit", "conflict", "pair", "unclassified", "low_confidence", "page"]
Action = Literal["merge", "keep", "supersede", "retire", "hide", "mine", "machine", "skip"]


class Conflict(Record):
    """One line of ``kb/dedup/conflicts.jsonl``: two active items, ``a < b``, that disagree about the same thing, with
    no evidence of which is newer.

    ``drafts`` and ``quotes`` are those of the two statements that disagree, in the order of ``a`` and ``b``.
    """

    schema_version: int = SCHEMA_VERSION
    a: str
    b: str
    kind: Literal["number", "version", "polarity", "other"]
    why: str
    drafts: tuple[str, str]
    quotes: tuple[Quote, Quote]


class HumanDecision(Record):
    """One line of ``kb/dedup/human.jsonl``, which is tracked and sorted by what the lines are about; of two about the
    same, the later counts.

    ``left`` and ``right`` are sorted hashes of drafts, so that a move of their documents changes nothing; ``items`` are
    the ids that they had, for people. ``merge``, ``keep`` and ``supersede`` (``left`` replaces ``right``) are about two
    sides; ``keep``, ``retire`` (kept on disk, out of everything live) and ``hide`` (its file deleted by hand) about
    one. ``mine`` and ``machine`` settle who words ``field`` of an item; ``before`` is what undoing that restores.
    """

    schema_version: int = SCHEMA_VERSION
    at: str
    action: Action
    items: tuple[str, ...]
    left: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    field: str = ""
    before: Mapping[str, Any] = Field(default_factory=dict)
    reason: str = ""
    who: str = ""


class Review(Record):
    """Something that waits for a person.

    ``name`` is stable: ``pair:<id>:<id>``, ``conflict:<id>:<id>`` (ids sorted), ``item:<id>:<kind>`` or, for an edit
    that the machine would word otherwise now, ``item:<id>:edit:<field>``; ``mine`` and ``machine`` of ``values`` are
    the two wordings then. ``actions`` are those that ``decide`` takes for it.
    """

    name: str
    kind: ReviewKind
    why: str
    items: tuple[Brief, ...]
    quotes: tuple[Quote, ...] = ()
    actions: tuple[Action, ...] = ()
    field: str = ""
    values: Mapping[str, Any] = Field(default_factory=dict)
