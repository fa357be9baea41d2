"""Which of two statements is newer, by evidence alone: a version in the text, or the lineage of their documents. Pure.

Owns reading versions and lineages and weighing them. Refuses to guess: similarity, length and the date of fetching say
nothing about order, and evidence that disagrees with itself is none.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from kb_pipeline.records import Side
from kb_pipeline.rules.guards import CONTRADICTING, same_frame, without_figures
from kb_pipeline.rules.numbers import negated, quantities, version_key, versions
from kb_pipeline.rules.wording import difference

Which = Literal["a", "b"]

_STEP = re.compile(
    r"(?:(?<=^)|(?<=[/_.\-\s(]))(?:"
    r"(?P<date>(?:19|20)\d\d[-_.]?(?:0[1-9]|1[0-2])(?:[-_.]?(?:0[1-9]|[12]\d|3[01]))?)"
    r"|v(?P<marked>\d+(?:\.\d+)*)|(?P<plain>\d+(?:\.\d+)+))(?=[/_.\-\s)]|$)",
    re.IGNORECASE,
)
_CURRENT = re.compile(
    r"\b(?:latest|current|newest|stable|recommended)\b[^.;]*\b(?:release|version)\b[^.;]*?(?:\bis|:)\s+v?(\d+(?:\.\w+)*)",
    re.IGNORECASE,
)
# Standards whose versions are in force side by side: a newer one does not replace what is said of an older one.
_SIDE_BY_SIDE = re.compile(r"\b(?:TLS|SSL|HTTP|IPv?|USB|PCIe?|Wi-?Fi|Bluetooth|OAuth|OpenGL|SMB|NFS|SNMP)\b")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a statement stands: ``lineage`` is shared by versions of one document, ``version`` comes from its path,
    ``date`` is its explicit effective date."""

    lineage: str
    version: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class Newer:
    """The side that is newer and the evidence in words."""

    which: Which
    reason: str


def place(doc_id: str, date: str = "") -> Place:
    """The lineage of a document (its path without versions and dates) and its place in it.

    ``docs/guide-v0.5.md`` and ``docs/guide-v0.6.md`` are one lineage, so are ``docs/0.5/guide.md`` and its next.
    """
    steps = list(_STEP.finditer(doc_id))
    found = [m["marked"] or m["plain"] for m in steps if not m["date"]]
    return Place(_STEP.sub("*", doc_id) if steps else doc_id, ".".join(found[:1]), date)


def newer(a: Side, b: Side, guard: str, places_a: Sequence[Place], places_b: Sequence[Place]) -> Newer | None:
    """Which side replaces the other, or ``None``: for want of evidence, because the evidence disagrees, or since they
    do not speak of one thing with one value changed."""
    x, y = a.statement, b.statement
    if guard not in CONTRADICTING or not same_frame(x, y) or not _one_value(x, y):
        return None
    return evidence(a, b, places_a, places_b)


def evidence(a: Side, b: Side, places_a: Sequence[Place], places_b: Sequence[Place]) -> Newer | None:
    """Which of two statements that are known to disagree is newer, or ``None`` for want of evidence or of agreement in
    it: a version that the text names, the versions or the dates of one document."""
    votes = [*_stated(a, b), *_by_lineage(places_a, places_b)]
    if not votes or len({vote.which for vote in votes}) > 1:
        return None
    return votes[0]


def _one_value(a: str, b: str) -> bool:
    """Whether at most one figure besides versions was replaced; a second one, or one added, would be a condition."""
    ours, theirs = _values(a), _values(b)
    return (ours - theirs).total() == (theirs - ours).total() <= 1


def _values(text: str) -> Counter[tuple[tuple[str, ...], str]]:
    return Counter((q.values, q.unit) for q in quantities(text) if q.kind != "version")


def _stated(a: Side, b: Side) -> Iterable[Newer]:
    """Evidence within the text: a version in the statement or its context, or a current version that has moved."""
    x, y = a.statement, b.statement
    now_x, now_y = _CURRENT.search(x), _CURRENT.search(y)
    if now_x and now_y:
        yield from _higher(now_x[1], now_y[1], "names the current version")
        return
    if _value_changed(x, y) and not (_SIDE_BY_SIDE.search(x) or _SIDE_BY_SIDE.search(y)):
        yield from _higher(*_own_versions(x, y), "states the higher version")
        context_a, context_b = a.context or "", b.context or ""
        if not difference(without_figures(context_a), without_figures(context_b)):
            yield from _higher(*_own_versions(context_a, context_b), "stands under the higher version")


def _value_changed(a: str, b: str) -> bool:
    """Whether more than the version differs: what holds in two versions alike is no contradiction."""
    if _values(a) != _values(b) or negated(a) != negated(b):
        return True
    return bool(difference(without_figures(a), without_figures(b)))


def _own_versions(a: str, b: str) -> tuple[str, str]:
    """The one version that each text has and the other lacks; empty where there is not exactly one on each side."""
    ours, theirs = Counter(versions(a)), Counter(versions(b))
    left, right = list((ours - theirs).elements()), list((theirs - ours).elements())
    return (left[0], right[0]) if len(left) == len(right) == 1 else ("", "")


def _higher(a: str, b: str, why: str) -> Iterable[Newer]:
    if a and b and version_key(a) != version_key(b):
        which: Which = "a" if version_key(a) > version_key(b) else "b"
        high, low = (a, b) if which == "a" else (b, a)
        yield Newer(which, f"the newer one {why} ({high} after {low})")


def _by_lineage(places_a: Sequence[Place], places_b: Sequence[Place]) -> Iterable[Newer]:
    """Evidence of every lineage that both sides stand in: the newest place of each counts."""
    for lineage in sorted({p.lineage for p in places_a} & {p.lineage for p in places_b}):
        ours, theirs = ([p for p in places if p.lineage == lineage] for places in (places_a, places_b))
        if all(p.version for p in (*ours, *theirs)):
            high_a, high_b = (max((p.version for p in side), key=version_key) for side in (ours, theirs))
            yield from _higher(high_a, high_b, "stands in the later version of the same document")
        if all(p.date for p in (*ours, *theirs)):
            last_a, last_b = max(p.date for p in ours), max(p.date for p in theirs)
            if last_a != last_b:
                when = f"{max(last_a, last_b)} after {min(last_a, last_b)}"
                yield Newer("a" if last_a > last_b else "b", f"the same document says it later ({when})")
