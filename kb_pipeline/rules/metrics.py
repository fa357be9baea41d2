"""Retrieval measures and the gate that they decide. Pure; the measures are computed by ir-measures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import ir_measures
from ir_measures import RR, Qrel, R, ScoredDoc, nDCG

from kb_pipeline.records import EvalResult
from kb_pipeline.settings import Options

_MEASURES = {"recall@1": R @ 1, "recall@5": R @ 5, "recall@10": R @ 10, "mrr": RR @ 10, "ndcg@10": nDCG @ 10}
GATED = ("recall@10", "mrr")


def measures(ranks: Sequence[int | None]) -> dict[str, float]:
    """Recall@1/5/10, MRR@10 and nDCG@10 (0 to 1) of questions that have one relevant item each, and their number.

    ``ranks`` are the ranks (from 1) of the relevant item; None counts as not found, never as absent.
    """
    if not ranks:
        return {"n": 0.0}
    found = [_of_one(rank) for rank in ranks]
    means = {name: round(sum(one[name] for one in found) / len(found), 4) for name in _MEASURES}
    return means | {"n": float(len(ranks))}


@lru_cache(maxsize=1 << 6)  # a question's measures follow from its rank alone, and ranks are few
def _of_one(rank: int | None) -> Mapping[str, float]:
    """The measures of one question."""
    places = range(1, (rank or 1) + 1)
    run = [ScoredDoc("q", "gold" if place == rank else f"other-{place}", float(-place)) for place in places]
    values = ir_measures.calc_aggregate(list(_MEASURES.values()), [Qrel("q", "gold", 1)], run)
    return {name: float(values[measure]) for name, measure in _MEASURES.items()}


@dataclass(frozen=True)
class Verdict:
    """Whether a candidate may go live, and why (not); reasons of one that passes are warnings."""

    passed: bool
    reasons: tuple[str, ...] = ()


def gate(result: EvalResult, options: Options) -> Verdict:
    """Hold back a candidate whose recall@10 is under its floor, or whose recall@10 or MRR fell by more than the
    tolerance, and by more than one question weighs, against the live generation on the questions that both can answer.

    Every document that is added can push another one down a rank: of few questions, one alone may tell nothing.
    """
    overall = result.metrics.get("all", {})
    if result.compared_with is None:
        return Verdict(True, _first(overall, options))
    reasons: list[str] = []
    if overall.get("n") and overall["recall@10"] < options.eval_floor_recall10:
        reasons.append(f"recall@10 {overall['recall@10']:.3f} is under its floor {options.eval_floor_recall10}")
    reasons += _falls(result.common, options.eval_tolerance)
    return Verdict(not reasons, tuple(reasons))


def _first(overall: Mapping[str, float], options: Options) -> tuple[str, ...]:
    if not overall.get("n"):
        return ("the first generation goes live without a question to judge it by",)
    if overall["recall@10"] < options.eval_floor_recall10:
        return (f"the first generation goes live with recall@10 {overall['recall@10']:.3f}, under the floor",)
    return ()


def _falls(common: Mapping[str, Mapping[str, float]], tolerance: float) -> list[str]:
    before, after = common.get("live", {}), common.get("candidate", {})
    allowed = max(tolerance, 1 / max(after.get("n", 0), 1))
    return [
        f"{name} fell from {before[name]:.3f} to {after[name]:.3f} on {after['n']:.0f} common questions"
        for name in GATED
        if name in before and name in after and round(before[name] - after[name] - allowed, 3) > 0
    ]
