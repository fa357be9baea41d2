"""Labelled pairs of statements and what dedup makes of them. Knows no threshold.

``samples/pairs.jsonl`` serves to choose rules and thresholds; its last 240 pairs tested them once, until they had been
run too often for that. ``samples/pairs_fresh.jsonl`` tests them: it was written apart, by someone who knew neither the
rules nor the other pairs.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from rapidfuzz import fuzz

from kb_pipeline.engines.extractive.judge import judge_pairs
from kb_pipeline.records import Decision, Pair, Side
from kb_pipeline.rules import decisions, guards, order
from kb_pipeline.rules.ids import canonical

SAMPLES = Path(__file__).parent / "samples"


@dataclass(frozen=True)
class Labelled:
    """Two statements, how they differ (``kind``) and what should become of them."""

    kind: str
    label: Decision
    a: str
    b: str


@dataclass(frozen=True)
class Outcome:
    """A labelled pair as dedup decided it."""

    pair: Labelled
    decision: Decision
    needs_review: bool
    score: float


def tune() -> list[Labelled]:
    """The half that rules and thresholds were chosen on."""
    return _read("pairs.jsonl")


def held_out() -> list[Labelled]:
    """The half that tests them, on which nothing is tuned."""
    return _read("pairs_fresh.jsonl")


def outcomes(pairs: Sequence[Labelled], embedder: Any, candidate: float) -> list[Outcome]:
    """What rules and the extractive judge decide; a pair below the ``candidate`` cosine is kept without a question."""
    texts = [canonical(text) for pair in pairs for text in (pair.a, pair.b)]
    vectors = np.asarray(embedder.embed(texts))
    cosines = np.round((vectors[0::2] * vectors[1::2]).sum(axis=1), 3).tolist()
    return [_outcome(pair, cosine, candidate) for pair, cosine in zip(pairs, cosines, strict=True)]


def interval(count: int, of: int) -> tuple[float, float]:
    """The exact 95% interval (Clopper and Pearson, 1934) of a share of which ``count`` in ``of`` were seen."""

    def solve(wanted: float, at_most: int) -> float:
        low, high = 0.0, 1.0
        for _ in range(60):
            share = (low + high) / 2
            tail = sum(comb(of, n) * share**n * (1 - share) ** (of - n) for n in range(at_most + 1))
            low, high = (share, high) if tail > wanted else (low, share)
        return low

    return solve(0.975, count - 1) if count else 0.0, solve(0.025, count) if count < of else 1.0


def _read(name: str) -> list[Labelled]:
    return [_labelled(json.loads(line)) for line in (SAMPLES / name).read_text(encoding="utf-8").splitlines()]


def _labelled(row: dict[str, Any]) -> Labelled:
    """A line of either file; the held one says ``same`` only, so a version there may as well be superseded."""
    kind = "entity swap" if row["kind"] == "entity" else row["kind"]
    label: Decision = row.get("label") or ("merge" if row["same"] else "keep_both")
    return Labelled(kind, label, row["a"], row["b"])


def _outcome(labelled: Labelled, cosine: float, candidate: float) -> Outcome:
    a, b = Side(statement=labelled.a), Side(statement=labelled.b)
    ratio = round(fuzz.token_sort_ratio(canonical(labelled.a), canonical(labelled.b)) / 100, 3)
    score = decisions.score(cosine, ratio)
    if cosine < candidate:
        return Outcome(labelled, "keep_both", False, score)
    pair = Pair(a=a, b=b, cosine=cosine, ratio=ratio, guard=guards.fired(a, b))
    verdict = decisions.rule(pair, order.newer(a, b, pair.guard, (), ()), same_document=False) or judge_pairs([pair])[0]
    return Outcome(labelled, verdict.decision, verdict.needs_review, score)
