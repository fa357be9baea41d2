"""Extraction: chunk in, drafts and rejects out. Owns confidence, topic and what a reject says.

A sentence is an item and its span a slice of the chunk, so what it states is always quoted. Nothing vanishes: every
candidate is in the drafts or in the rejects.
"""

import re
from collections.abc import Iterator

from kb_pipeline.engines.extractive.blocks import cells
from kb_pipeline.engines.extractive.candidates import Candidate, candidates
from kb_pipeline.engines.extractive.entities import entities, proper_names
from kb_pipeline.engines.extractive.item_types import item_type
from kb_pipeline.engines.extractive.reasons import REASONS, reason_against
from kb_pipeline.engines.extractive.statements import Statement, statements, without_connective
from kb_pipeline.records import Chunk, Confidence, Draft, Extraction, ItemType, Reject
from kb_pipeline.rules.ids import canonical, digest, draft_hash
from kb_pipeline.rules.words import FUNCTION_WORDS, words

_HEDGES = words(
    "may might could possibly perhaps presumably probably likely suggest suggests seem seems appear appears apparently"
)
_EXCERPT = 200


def extract(chunk: Chunk, engine: str) -> Extraction:
    """One draft a sentence (several for a compound), one reject for each candidate that is no item."""
    drafts: list[Draft] = []
    rejects: list[Reject] = []
    known = frozenset(proper_names(chunk.text))
    for c in candidates(chunk):
        if reason := reason_against(c):
            rejects.append(_reject(chunk, c, reason))
        else:
            drafts.extend(_drafts(chunk, c, known, engine))
    return Extraction(chunk_hash=chunk.hash, drafts=tuple(drafts), rejects=tuple(rejects))


def _drafts(chunk: Chunk, c: Candidate, known: frozenset[str], engine: str) -> Iterator[Draft]:
    parts = statements(c)
    topic = _topic(c.text) if len(parts) > 1 else ""
    for s in parts:
        yield Draft(
            hash=draft_hash(s.text, s.context),
            statement=s.text,
            detail=s.detail,
            context=s.context,
            item_type=_type(c, s),
            topic=topic,
            entities=entities(s.raw, c.text if c.block.kind == "row" else s.text, known),
            confidence=_confidence(c, s),
            source_span=chunk.text[s.start : s.end],
            start=s.start,
            end=s.end,
            engine=engine,
        )


def _type(c: Candidate, s: Statement) -> ItemType:
    """What a list item says of its term defines it, a sentence that shows code is a procedure; else words decide."""
    if c.code:
        return "procedure"
    if c.block.kind == "row":
        values = cells(s.raw)[1:]
        return "metric" if 2 * sum(any(map(str.isdigit, value)) for value in values) > len(values) else "fact"
    if c.block.name and c.opens:
        return "definition"
    if c.place.release and c.block.kind == "bullet":
        return "fact"  # "Fix the …" tells what was done
    return "definition" if c.term and c.opens else item_type(without_connective(s.text))


def _confidence(c: Candidate, s: Statement) -> Confidence:
    """Low where a pronoun hides the subject; medium for hedges, ellipses and what has no full stop."""
    if s.pronoun:
        return "low"
    if s.elliptic or c.foreign or not (c.stops or c.block.kind == "row") or not _HEDGES.isdisjoint(s.text.split()):
        return "medium"
    return "high"


def _topic(sentence: str) -> str:
    """A readable name for what a compound sentence is about, unique by its content."""
    named = [w for w in re.findall(r"[a-z0-9]+", sentence.lower()) if w not in FUNCTION_WORDS and len(w) > 2]
    return "-".join([*named[:4], digest(canonical(sentence))[:6]])


def _reject(chunk: Chunk, c: Candidate, reason: str) -> Reject:
    where = f"{chunk.hash}@{c.start}"
    return Reject(
        stage="atomic_items",
        where=where,
        reason=reason,
        detail=REASONS[reason],
        excerpt=chunk.text[c.start : c.end][:_EXCERPT],
    )
