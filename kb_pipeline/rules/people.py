"""What people decided, for the drafts that there are now: which pairs, and which clusters are set aside. Pure.

Owns that of two decisions about the same the later one counts, and that a decision holds for every draft that was there
when it was made. Refuses to weigh a decision: a person's is final until a person takes it back.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal

from kb_pipeline.records import Decision, DedupDecision, HumanDecision
from kb_pipeline.rules.ids import item_id

Key = tuple[str, str]
Aside = Literal["", "retired", "hidden"]

_TIME = "%Y-%m-%dT%H:%M:%S.%fZ"
_PAIRS: Mapping[str, Decision] = {"merge": "merge", "keep": "keep_both", "supersede": "supersede"}
_ASIDE: Mapping[str, Aside] = {"retire": "retired", "hide": "hidden", "keep": ""}


def ordered(lines: Iterable[HumanDecision]) -> list[HumanDecision]:
    """``lines`` in the order in which they were made."""
    return sorted(lines, key=lambda line: (line.at, line.action, line.items))


def filed(lines: Iterable[HumanDecision]) -> list[HumanDecision]:
    """``lines`` in the order of the file, by what they are about: what two people decide meets nowhere in git."""
    return sorted(lines, key=lambda line: (line.left, line.right, line.items, line.field, line.at))


def after(lines: Iterable[HumanDecision], now: datetime) -> str:
    """The time of a new decision, after that of every other: what was decided last counts, and is undone first."""
    at, last = now.strftime(_TIME), max((line.at for line in lines), default="")
    if at > last:
        return at
    return (datetime.strptime(last, _TIME) + timedelta(microseconds=1)).strftime(_TIME)


def pairs(lines: Iterable[HumanDecision], held: Container[str]) -> dict[Key, DedupDecision]:
    """The decision on each pair of drafts that are ``held`` and that a person decided on, without similarities."""
    decided: dict[Key, DedupDecision] = {}
    for line in ordered(line for line in lines if line.right and line.action in _PAIRS):
        for one in filter(held.__contains__, line.left):
            for other in filter(held.__contains__, line.right):
                if one != other:
                    decided[min(one, other), max(one, other)] = _decision(line, one, other)
    return decided


def _decision(line: HumanDecision, left: str, right: str) -> DedupDecision:
    a, b = sorted((left, right))
    newer: Literal["a", "b"] = "a" if left == a else "b"
    return DedupDecision(
        a=a,
        b=b,
        cosine=0.0,
        ratio=0.0,
        decision=_PAIRS[line.action],
        newer=newer if line.action == "supersede" else None,
        by="human",
        reason=line.reason or "a person said so",
    )


def set_aside(lines: Iterable[HumanDecision], groups: Sequence[Sequence[str]]) -> dict[int, Aside]:
    """Which of ``groups`` (of draft hashes) a person took out of everything live: any of whose drafts is so marked,
    since what says the same is the same."""
    marked = marks(lines)
    found: dict[int, Aside] = {}
    for at, group in enumerate(groups) if marked else ():
        here = {marked[name] for draft in group for name in (draft, item_id(draft)) if name in marked}
        if here:
            found[at] = min(here)  # hidden before retired
    return found


def marks(lines: Iterable[HumanDecision]) -> dict[str, Aside]:
    """The drafts that are set aside, and the ids, each of which stands for the draft that it was made from: of what no
    document states just now the id is all that is known."""
    marked: dict[str, Aside] = {}
    for line in ordered(line for line in lines if not line.right and line.action in _ASIDE):
        marked.update(dict.fromkeys((*line.left, *line.items), _ASIDE[line.action]))
    return {name: aside for name, aside in marked.items() if aside}


def seen(lines: Iterable[HumanDecision]) -> frozenset[str]:
    """Drafts that a person looked at and kept as they are."""
    kept: dict[str, bool] = {}
    for line in ordered(line for line in lines if not line.right and line.action in _ASIDE):
        kept.update(dict.fromkeys(line.left, line.action == "keep"))
    return frozenset(draft for draft, is_kept in kept.items() if is_kept)
