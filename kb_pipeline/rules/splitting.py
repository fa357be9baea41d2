"""Where a long section is cut so that its chunks keep still. Owns cuts between blocks; refuses to know any format.

Two rules, the second only where the first leaves too much:

1. *Natural cuts.* A block begins a chunk when its own words say so (a hash, more likely the longer the block) and at
   least ``minimum`` code points pass before the next such block; a section's first chunk has the minimum too. Nothing
   else is asked, so a changed, added or removed block changes the stretch it stands in and at most one neighbour.
2. *Forced cuts.* A stretch over ``maximum`` is halved where the hash of a block is smallest (among those that leave
   the minimum on both sides), again and again; a single block over it is opened into its children (list items, table
   rows), then blank-line groups, lines, sentences, words, code points. Neighbours may move, but only within the
   stretch.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise
from math import exp
from typing import Literal, NamedTuple

Kind = Literal["text", "code", "table", "transcript"]

WHOLE = 4
"""A block that must not be broken (a fence) stays whole up to so many times the maximum."""

_RUNGS = (
    re.compile(r"\n(?:[^\S\n]*\n)+"),
    re.compile(r"\n"),
    re.compile(r"[.!?…][\"'”’»)\]]*\s+|[。！？][”’」』）]*\s*"),
    re.compile(r"\s+"),
)


class Sizes(NamedTuple):
    """What a chunk should measure, in code points."""

    minimum: int
    target: int
    maximum: int


@dataclass(frozen=True, slots=True)
class Block:
    """A piece that is kept together where possible; it ends where the next one starts.

    ``opens`` says that a chunk may naturally begin here; ``whole`` that it is broken only beyond ``WHOLE`` times the
    maximum; ``header`` goes with every piece that begins here; ``rung`` is the next means to break it without children.
    """

    start: int
    kind: Kind = "text"
    opens: bool = True
    whole: bool = False
    children: tuple["Block", ...] = ()
    header: str = ""
    rung: int = 0


@dataclass(frozen=True, slots=True)
class Section:
    """Consecutive blocks under one heading path, up to ``end``."""

    path: tuple[str, ...]
    blocks: Sequence[Block]
    end: int


class Piece(NamedTuple):
    """One chunk to be: ``text[start:end]``, with white space around it."""

    start: int
    end: int
    kind: Kind
    header: str


def split(text: str, section: Section, sizes: Sizes) -> Iterator[Piece]:
    """The pieces of ``section`` in order, without gaps; linear but for the logarithm of the number of forced cuts."""
    row = _Row(text, section.blocks, section.end)
    cuts = [0, *_natural_cuts(row, sizes), len(row.blocks)]
    for left, right in pairwise(cuts):
        yield from _fit(row, left, right, sizes)


class _Row:
    """Sibling blocks with their bounds: block ``i`` is ``text[bounds[i]:bounds[i + 1]]``."""

    def __init__(self, text: str, blocks: Sequence[Block], end: int) -> None:
        self.text = text
        self.blocks = blocks
        self.bounds = [block.start for block in blocks] + [end]

    def size(self, left: int, right: int) -> int:
        return self.bounds[right] - self.bounds[left]

    def words(self, left: int, right: int) -> str:
        return self.text[self.bounds[left] : self.bounds[right]].strip()

    def piece(self, left: int, right: int) -> Piece:
        kinds = {block.kind for block in self.blocks[left:right]}
        kind = kinds.pop() if len(kinds) == 1 else "text"
        return Piece(self.bounds[left], self.bounds[right], kind, self.blocks[left].header)


def _natural_cuts(row: _Row, sizes: Sizes) -> list[int]:
    count = len(row.blocks)
    if row.size(0, count) < 2 * sizes.minimum:
        return []
    heads = [i for i in range(1, count) if row.blocks[i].opens and _is_head(row.words(i, i + 1), sizes)]
    cuts = [i for i, after in pairwise([*heads, count]) if row.size(i, after) >= sizes.minimum]
    if cuts and row.size(0, cuts[0]) < sizes.minimum:
        del cuts[0]
    return cuts


def _is_head(words: str, sizes: Sizes) -> bool:
    """Heads come like a Poisson process over code points, on average every half target; the minimum does the rest."""
    return _rank(words) < 1 - exp(-2 * len(words) / sizes.target)


def _rank(words: str) -> float:
    """From 0 to 1, evenly, by content alone."""
    return int.from_bytes(blake2b(words.encode(errors="replace"), digest_size=6).digest()) / (1 << 48)


def _fit(row: _Row, left: int, right: int, sizes: Sizes) -> Iterator[Piece]:
    """The stretch whole if it fits, else halved and opened until every piece does."""
    if _fits(row, left, right, sizes):
        yield row.piece(left, right)
        return
    ranks = [_rank(row.words(i, i + 1)) + (not row.blocks[i].opens) for i in range(left, right)]
    waiting = [(left, right)]
    while waiting:
        start, end = waiting.pop()
        if _fits(row, start, end, sizes):
            yield row.piece(start, end)
        elif end - start == 1:
            inner = _opened(row, start, sizes)
            yield from _fit(inner, 0, len(inner.blocks), sizes)
        else:
            cut = _forced_cut(row, start, end, ranks[start - left : end - left], sizes)
            waiting += [(cut, end), (start, cut)]


def _fits(row: _Row, left: int, right: int, sizes: Sizes) -> bool:
    """Up to the maximum, or one unbreakable block beyond it with hardly anything around."""
    size = len(row.words(left, right))
    if size <= sizes.maximum:
        return True
    if size > WHOLE * sizes.maximum + sizes.minimum:
        return False
    largest = max((row.size(i, i + 1) for i in range(left, right) if row.blocks[i].whole), default=0)
    return sizes.maximum < largest <= WHOLE * sizes.maximum and size - largest < sizes.minimum


def _forced_cut(row: _Row, left: int, right: int, ranks: Sequence[float], sizes: Sizes) -> int:
    """The block of the smallest rank, of equal ones the nearest to the middle (repeated text must not cost n²)."""
    bounds = row.bounds
    first = bisect_left(bounds, bounds[left] + sizes.minimum, left + 1, right)
    last = bisect_right(bounds, bounds[right] - sizes.minimum, left + 1, right)
    if first >= last:
        first, last = left + 1, right
    smallest = min(ranks[first - left : last - left])
    middle = (bounds[left] + bounds[right]) / 2
    equal = [i for i in range(first, last) if ranks[i - left] == smallest]
    return min(equal, key=lambda i: abs(bounds[i] - middle))


def _opened(row: _Row, i: int, sizes: Sizes) -> _Row:
    block, start, end = row.blocks[i], row.bounds[i], row.bounds[i + 1]
    children = block.children or _by_rungs(row.text, block, start, end, sizes)
    # What stands before the first child (a heading, a marker, a table's header) goes with it.
    return _Row(row.text, (replace(children[0], start=start), *children[1:]), end)


def _by_rungs(text: str, block: Block, start: int, end: int, sizes: Sizes) -> tuple[Block, ...]:
    """The coarsest division there is: by the first means that divides at all."""
    kind: Kind = "code" if block.whole else block.kind
    for rung in range(block.rung, len(_RUNGS)):
        starts = [m.end() for m in _RUNGS[rung].finditer(text, start, end) if m.end() < end]
        if starts:
            break
    else:
        rung, starts = len(_RUNGS), list(range(start + sizes.maximum, end, sizes.maximum))
    # The opening fence makes the first piece Markdown; the later ones are bare code.
    first = Block(start, block.kind, header=block.header, rung=rung + 1)
    return (first, *(Block(s, kind, header=block.header, rung=rung + 1) for s in starts))
