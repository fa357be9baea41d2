"""Which decisions on pairs tell of a disagreement that nobody could order, and what it is about. Pure.

Refuses to judge: guards, the evidence of order and the judge have spoken before.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from kb_pipeline.records import DedupDecision
from kb_pipeline.rules.decisions import DISAGREE, score
from kb_pipeline.rules.guards import CONTRADICTING

Kind = Literal["number", "version", "polarity", "other"]

_KINDS: Mapping[str, Kind] = {
    "numbers": "number",
    "units": "number",
    "versions": "version",
    "negation": "polarity",
    "antonyms": "polarity",
}


def kind(decision: DedupDecision) -> Kind | None:
    """What the two sides of an open decision disagree about; None where they are merely alike, or a person decided."""
    if decision.decision != "keep_both" or not decision.needs_review:
        return None
    if decision.guard in CONTRADICTING:
        return _KINDS[decision.guard]
    return "other" if decision.reason.startswith(DISAGREE) else None


def between(decisions: Iterable[DedupDecision], home: Mapping[str, str]) -> dict[tuple[str, str], DedupDecision]:
    """The closest disagreement of each two items; ``home`` maps the drafts of active items to their ids."""
    found: dict[tuple[str, str], DedupDecision] = {}
    for decision in decisions:
        if kind(decision) and decision.a in home and decision.b in home:
            pair = min(home[decision.a], home[decision.b]), max(home[decision.a], home[decision.b])
            if pair[0] != pair[1] and (pair not in found or _rank(decision) < _rank(found[pair])):
                found[pair] = decision
    return found


def _rank(decision: DedupDecision) -> tuple[float, str, str]:
    return -score(decision.cosine, decision.ratio), decision.a, decision.b
