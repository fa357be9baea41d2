"""Which places of one fact are copies of one text, so that they confirm it once. Pure.

Owns the marks by which a copy is told: one document, equal text, an equal passage or an equal quote under equal
headings whatever their markup, versions or renditions of one document, and the same words around the quote. Refuses to
know what is quoted: the same sentence in two places that share nothing else is two confirmations.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from kb_pipeline.rules.ids import digest
from kb_pipeline.rules.order import place

SHARED = 0.6
"""Least share of the smaller surroundings' word runs that the other must hold. Measured on real pages: of 1,644
sentences with 1,500 characters on each side, in two releases of a manual or with and without a web page's frame, 96%
have it (medians .99 and .94); of 210,842 pairs of surroundings from different pages, 600 characters a side, the closest
has .48, and 99% have less than .01."""
RUN = 4
"""Words in a run, as in w-shingling (Broder, 1997)."""
FEWEST = 12
"""Surroundings of fewer words tell nothing: only an equal passage is a copy then."""
MOST = 64
"""So many different passages are compared with each other; of more, only those with an equal mark are one."""

Run = tuple[str, ...]
_MARKUP = re.compile(r"<[^<>]+>|\]\([^()\s]*\)|https?://\S+")
_WORD = re.compile(r"\w+")
_RENDERED = re.compile(r"\.(?:md|markdown|html?|xhtml|pdf|docx?|odt|rst|txt|epub|rtf|adoc|ipynb)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a quote stands: its document and passage, the hashes of both, the quote's offsets in the passage, and the
    headings over it."""

    doc_id: str
    text_hash: str
    passage_hash: str
    passage: str
    start: int
    end: int
    heading: tuple[str, ...] = ()


def texts(standings: Sequence[Standing]) -> list[int]:
    """For each place the number of the independent text that it belongs to; equal numbers are one text.

    Being a copy carries over: what is a copy of a copy is one text with it. The order of places does not matter.
    """
    if len(standings) == 1:
        return [0]
    root = list(range(len(standings)))

    def find(at: int) -> int:
        while root[at] != at:
            root[at] = root[root[at]]
            at = root[at]
        return at

    first: dict[str, int] = {}
    for at, standing in enumerate(standings):
        for mark in _marks(standing):
            root[find(at)] = find(first.setdefault(mark, at))
    around: dict[frozenset[Run], int] = {}
    if any(find(at) != find(0) for at in range(len(standings))):
        for at, standing in enumerate(standings):
            runs = _runs(standing)
            if runs:
                root[find(at)] = find(around.setdefault(runs, at))
    if len(around) <= MOST:
        for (a, here), (b, there) in combinations(around.items(), 2):
            if find(here) != find(there) and _copied(a, b):
                root[find(here)] = find(there)
    return [find(at) for at in range(len(standings))]


def _marks(standing: Standing) -> tuple[str, ...]:
    marks = [f"document {standing.doc_id}", f"passage {standing.passage_hash}", f"text {standing.text_hash}"]
    words, quoted = _words(standing.passage), _words(standing.passage[standing.start : standing.end])
    if len(words) > len(quoted):
        marks.append(f"words {digest(*words)}")
    if standing.heading:
        marks.append(f"quote {digest(*_words(' '.join(standing.heading)), '', *quoted)}")
    where = place(standing.doc_id)
    if where.version:
        marks.append(f"versions {_RENDERED.sub('', where.lineage)}")
    elif _RENDERED.search(standing.doc_id):
        marks.append(f"renditions {_RENDERED.sub('', standing.doc_id)}")
    return tuple(marks)


def _words(text: str) -> list[str]:
    """The words of a text without its markup and addresses."""
    return _WORD.findall(_MARKUP.sub(" ", text).casefold())


def _runs(standing: Standing) -> frozenset[Run]:
    """The runs of words before and after the quote; none where too few words stand there."""
    sides = [_words(standing.passage[: standing.start]), _words(standing.passage[standing.end :])]
    if sum(map(len, sides)) < FEWEST:
        return frozenset()
    return frozenset(tuple(side[at : at + RUN]) for side in sides for at in range(max(1, len(side) - RUN + 1)) if side)


def _copied(a: frozenset[Run], b: frozenset[Run]) -> bool:
    return len(a & b) >= SHARED * min(len(a), len(b))
