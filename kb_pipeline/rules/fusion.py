"""Many ranked lists into one: reciprocal ranks or a convex combination of scores. Pure; knows no row and no query."""

from collections.abc import Callable, Iterable, Mapping, Sequence

Ranked = Sequence[tuple[str, float]]
"""``(id, score)``, best first."""

Scores = Mapping[str, float]
"""Ids to scores between 0 and 1."""

SMOOTHING = 60
"""Of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""


def reciprocal_ranks(ranked: Ranked, depth: int) -> Scores:
    """``1 / (60 + rank)`` of each entry; ranks count from 1."""
    return {name: 1 / (SMOOTHING + rank) for rank, (name, _) in enumerate(ranked[:depth], 1)}


def min_max(ranked: Ranked, depth: int) -> Scores:
    """Scores scaled to 0 … 1 between the floor and the best.

    The floor is what an entry outside the list scores at most: the last score of a list cut at ``depth``, else 0,
    the least that BM25 and a useful cosine give (Bruch, Gai and Ingber 2023 call this theoretical minimum).
    """
    ranked = [(name, max(score, 0.0)) for name, score in ranked[:depth]]
    if not ranked:
        return {}
    best, floor = ranked[0][1], ranked[-1][1] if len(ranked) == depth else 0.0
    if best <= floor:
        return {name: 1.0 for name, _ in ranked}
    return {name: (score - floor) / (best - floor) for name, score in ranked}


METHODS: Mapping[str, Callable[[Ranked, int], Scores]] = {"convex": min_max, "rrf": reciprocal_ranks}


def project(scores: Scores, targets: Callable[[str], Iterable[str]]) -> Scores:
    """What the ``targets`` of each entry inherit from it: of several, the most."""
    found: dict[str, float] = {}
    for name, score in scores.items():
        for target in targets(name):
            found[target] = max(score, found.get(target, 0.0))
    return found


def fuse(lists: Mapping[str, Scores], weights: Mapping[str, float]) -> dict[str, float]:
    """The weighted sum of an id's scores in all lists; a list that lacks it gives 0."""
    total: dict[str, float] = {}
    for name, scores in lists.items():
        for key, score in scores.items():
            total[key] = total.get(key, 0.0) + weights[name] * score
    return total


def ranks(lists: Mapping[str, Ranked], wanted: Iterable[str]) -> dict[str, dict[str, int]]:
    """Of each ``wanted`` id its rank, from 1, in each list that holds it."""
    found: dict[str, dict[str, int]] = {key: {} for key in wanted}
    for name, ranked in lists.items():
        for rank, (key, _) in enumerate(ranked, 1):
            if key in found:
                found[key][name] = rank
    return found
