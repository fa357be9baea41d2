"""Which statements are one item: clusters from decisions on pairs, whatever order they came in. Pure.

Owns joining under vetoes, what a change can reach, superseding between clusters and what is related to what. Refuses
to know texts: whether two statements without a decision must stay apart is asked of the caller.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kb_pipeline.records import DedupDecision
from kb_pipeline.rules.decisions import score

Decisions = Mapping[tuple[str, str], DedupDecision]
Group = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Before:
    """Groups (sorted tuples) and decisions of the last time."""

    groups: Sequence[Group]
    decisions: Decisions


MOST_WORDINGS = 64
"""A cluster takes no more wordings than this: a bound on the cross checks, far above what a person would call one."""
MOST_RELATED = 8


def merges(decisions: Iterable[DedupDecision]) -> list[tuple[str, str]]:
    """The pairs to be joined, in the order of joining: a human's first, then the closest, then by hash."""
    joined = [d for d in decisions if d.decision == "merge"]
    return [(d.a, d.b) for d in sorted(joined, key=_rank)]


def vetoes(decision: DedupDecision) -> bool:
    """Whether a decision forbids that its two sides ever share a cluster: all but a merge or an open question."""
    if decision.decision == "keep_both":
        return bool(decision.guard) or decision.by == "human" or (decision.by == "judge" and not decision.needs_review)
    return decision.decision == "supersede"


def linked(edges: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Every node of ``edges`` mapped to the smallest node that it is connected with."""
    root: dict[str, str] = {}
    for a, b in edges:
        low, high = sorted((_find(root, a), _find(root, b)))
        root[high] = low
    return {node: _find(root, node) for node in sorted(root)}


def form(nodes: Iterable[str], decisions: Decisions, apart: Callable[[str, str], bool]) -> list[Group]:
    """Groups of ``nodes``, each sorted, all sorted; single nodes included.

    Merges are taken in their order; one is refused where some pair across the two clusters is vetoed, or, for a pair
    that was never a candidate, where ``apart(a, b)`` (``a < b``) says so. So ``A~B, B~C, A≁C`` keeps the closer of the
    two merges, whichever draft came first. A person's merge yields to a person's veto alone.
    """
    groups = {node: [node] for node in nodes}
    for a, b in merges(d for (x, y), d in decisions.items() if x in groups and y in groups):
        left, right = groups[a], groups[b]
        final = decisions[a, b].by == "human"
        if left is right or len(left) + len(right) > MOST_WORDINGS or _forbidden(left, right, decisions, apart, final):
            continue
        small, large = sorted((left, right), key=len)
        large.extend(small)
        for node in small:
            groups[node] = large
    return sorted({tuple(sorted(group)) for group in groups.values()})


def reform(
    nodes: Iterable[str],
    decisions: Decisions,
    apart: Callable[[str, str], bool],
    before: Before,
    changed: Iterable[str],
) -> list[Group]:
    """What ``form`` gives for all ``nodes``, formed anew only where a change reaches.

    ``changed`` are nodes that came, went or say something new. A change reaches what merges connect with it now; a
    merge that is no more is a change at both its ends. Every other group is as it was.
    """
    stirred = {*changed}
    for pair in decisions.keys() | before.decisions.keys():
        now, then = decisions.get(pair), before.decisions.get(pair)
        if now is not then and now != then:
            stirred.update(pair)
    root = linked(merges(decisions.values()))
    reached = {root.get(node, node) for node in stirred}
    reached.update([node for node, smallest in root.items() if smallest in reached])
    still = [group for group in before.groups if reached.isdisjoint(group)]
    again = form(reached.intersection(nodes), decisions, apart)
    return sorted((*still, *again))


def superseded(groups: Sequence[Group], decisions: Iterable[DedupDecision]) -> dict[int, int]:
    """Groups (by index) that are superseded, mapped to the newest one that their chain leads to."""
    after = successors(groups, decisions)
    return {group: newest(after, group) for group in after}


def successors(groups: Sequence[Group], decisions: Iterable[DedupDecision]) -> dict[int, list[int]]:
    """Groups (by index) that are superseded, mapped to those that replaced them, the closest first.

    A decision that would close a cycle is passed over, the less close one, since a thing is not older than itself.
    """
    home = {node: at for at, group in enumerate(groups) for node in group}
    after: dict[int, list[int]] = {}
    for decision in sorted((d for d in decisions if d.decision == "supersede" and d.newer), key=_rank):
        old, new = (decision.a, decision.b) if decision.newer == "b" else (decision.b, decision.a)
        if home[old] != home[new] and not _leads(after, home[new], home[old]):
            after.setdefault(home[old], []).append(home[new])
    return after


def newest(after: Mapping[int, Sequence[int]], group: int) -> int:
    """Where the chain of ``successors`` leads from ``group``; its own index where nothing replaced it."""
    while group in after:
        group = after[group][0]
    return group


def related(
    groups: Sequence[Group], decisions: Iterable[DedupDecision], topics: Iterable[Iterable[str]]
) -> list[tuple[int, ...]]:
    """For each group the indexes of those related to it, the nearest first, at most ``MOST_RELATED``.

    Disagreements come first, then what was split from one sentence (``topics``: the nodes of each), then the closest
    that were kept apart.
    """
    home = {node: at for at, group in enumerate(groups) for node in group}
    near: dict[int, dict[int, tuple[int, float]]] = defaultdict(dict)

    def relate(a: int, b: int, rank: tuple[int, float]) -> None:
        for one, other in ((a, b), (b, a)):
            if one != other:
                near[one][other] = min(rank, near[one].get(other, rank))

    for decision in decisions:
        if decision.decision == "keep_both":
            disagree = bool(decision.guard) and decision.needs_review
            rank = (0 if disagree else 2, -score(decision.cosine, decision.ratio))
            relate(home[decision.a], home[decision.b], rank)
    for nodes in topics:
        together = sorted({home[node] for node in nodes})
        for at, one in enumerate(together[: MOST_RELATED + 1]):
            for other in together[at + 1 : at + 1 + MOST_RELATED]:
                relate(one, other, (1, 0.0))
    best: list[tuple[int, ...]] = [()] * len(groups)
    for at, found in near.items():
        ranked = sorted(found.items(), key=lambda other: (other[1], groups[other[0]]))
        best[at] = tuple(other for other, _ in ranked[:MOST_RELATED])
    return best


def _rank(decision: DedupDecision) -> tuple[bool, float, str, str]:
    return decision.by != "human", -score(decision.cosine, decision.ratio), decision.a, decision.b


def _find(root: dict[str, str], node: str) -> str:
    root.setdefault(node, node)
    while root[node] != node:
        root[node] = root[root[node]]
        node = root[node]
    return node


def _forbidden(
    left: Sequence[str],
    right: Sequence[str],
    decisions: Decisions,
    apart: Callable[[str, str], bool],
    by_person: bool,
) -> bool:
    for one in left:
        for other in right:
            decision = decisions.get((one, other) if one < other else (other, one))
            if by_person:
                forbidden = decision is not None and decision.by == "human" and vetoes(decision)
            else:
                forbidden = vetoes(decision) if decision else apart(min(one, other), max(one, other))
            if forbidden:
                return True
    return False


def _leads(after: Mapping[int, Sequence[int]], start: int, goal: int) -> bool:
    seen, ahead = {start}, [start]
    while ahead:
        at = ahead.pop()
        if at == goal:
            return True
        ahead.extend(fresh := set(after.get(at, ())) - seen)
        seen |= fresh
    return False
