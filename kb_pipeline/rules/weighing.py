"""What code alone says of a candidate pair, what a judge sees of one, and the line that records a verdict. Pure.

Owns that a pair is weighed from what it carries, so that any process may do it. Refuses to read documents, and to know
what a guard or a rule looks at.
"""

from collections.abc import Sequence
from typing import NamedTuple

from rapidfuzz import fuzz

from kb_pipeline.records import DedupDecision, Pair, Side, Verdict
from kb_pipeline.rules import decisions, guards, order
from kb_pipeline.rules.ids import canonical

_LINEAGE = "one document"

Key = tuple[str, str]


class Candidate(NamedTuple):
    """Two statements, their cosine, and where each stands in the lineages that they share; ``same_document`` says that
    one version of a document states both."""

    a: Side
    b: Side
    cosine: float
    places_a: Sequence[order.Place] = ()
    places_b: Sequence[order.Place] = ()
    same_document: bool = False


class Weighed(NamedTuple):
    """``ratio`` and ``guard`` as a ``Pair`` has them; no ``verdict`` where a judge is to be asked."""

    ratio: float
    guard: str
    verdict: Verdict | None


def weighed(candidate: Candidate) -> Weighed:
    """What rules make of a pair."""
    a, b, cosine, places_a, places_b, same_document = candidate
    ratio = round(fuzz.token_sort_ratio(canonical(a.statement), canonical(b.statement)) / 100, 3)
    pair = Pair(a=a, b=b, cosine=cosine, ratio=ratio, guard=guards.fired(a, b))
    newer = order.newer(a, b, pair.guard, places_a, places_b)
    return Weighed(ratio, pair.guard, decisions.rule(pair, newer, same_document))


def question(candidate: Candidate, found: Weighed) -> Pair:
    """A pair as a judge sees it: which of its sides stand in versions of one document, and their dates."""
    a, b = _dated(candidate.a, candidate.places_a), _dated(candidate.b, candidate.places_b)
    return Pair(a=a, b=b, cosine=candidate.cosine, ratio=found.ratio, guard=found.guard)


def _dated(side: Side, places: Sequence[order.Place]) -> Side:
    if not places:
        return side
    date = max(p.date for p in places) if all(p.date for p in places) else ""
    return side.model_copy(update={"lineage": _LINEAGE, "effective_date": date or None})


def line(key: Key, cosine: float, found: Weighed | Pair, verdict: Verdict, engine: str = "") -> DedupDecision:
    """The verdict on the drafts of ``key``, ``a < b``, as it is recorded; ``engine`` is the judge that gave it."""
    return DedupDecision(
        a=key[0],
        b=key[1],
        cosine=cosine,
        ratio=found.ratio,
        guard=found.guard,
        decision=verdict.decision,
        newer=verdict.newer,
        by="judge" if engine else "rule",
        engine=engine,
        reason=verdict.reason,
        needs_review=verdict.needs_review,
    )
