"""Which vectors lie close: every pair above a cosine, exactly, in bounded memory. Pure.

Owns blocked products, rounding and the bound on pairs per row. Refuses to know what a row stands for or what becomes
of a pair.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]

NEAREST = 32
"""A pair counts only while one side is among the 32 nearest of the other. Texts that repeat one pattern (ten thousand
lines of a log) would otherwise make millions of pairs, and nobody reads more than 32 near-doubles of one statement."""

_BLOCK = 2048
_PENDING = 4_000_000
_DECIMALS = 3
_EDGE = 1e-5
_GATHER = 16_384


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of rows, ``left[i] < right[i]``, sorted, with their cosine rounded to 3 decimals; three arrays alike."""

    left: Rows
    right: Rows
    cosine: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.left)


def pairs_of(left: Sequence[int] | Rows, right: Sequence[int] | Rows, cosine: Sequence[float]) -> Pairs:
    """Pairs from three equally long sequences of row numbers and cosines, in their normal form (each pair once)."""
    a, b = np.asarray(left, np.int64), np.asarray(right, np.int64)
    return _normal(np.minimum(a, b), np.maximum(a, b), np.asarray(cosine, np.float64))


def joined(*parts: Pairs) -> Pairs:
    """All pairs of ``parts``, each once."""
    return _normal(
        np.concatenate([p.left for p in parts]),
        np.concatenate([p.right for p in parts]),
        np.concatenate([p.cosine for p in parts]),
    )


def all_pairs(vectors: Floats, threshold: float, nearest: int = NEAREST) -> Pairs:
    """All pairs of unit ``vectors`` ``(n, dim)`` whose rounded cosine is at least ``threshold``, within the bound.

    Ties for the last place go to the lower row, so rows should be in an order that means the same every time.
    """
    found = _Found(len(vectors), nearest)
    for top in range(0, len(vectors), _BLOCK):
        upper = vectors[top : top + _BLOCK]
        for start in range(top, len(vectors), _BLOCK):
            rows, columns = _close(upper, vectors[start : start + _BLOCK], threshold)
            a, b = rows + top, columns + start
            ahead = a < b
            found.add(vectors, a[ahead], b[ahead], threshold)
    return found.pairs()


def pairs_touching(new: Sequence[int] | Rows, vectors: Floats, threshold: float, nearest: int = NEAREST) -> Pairs:
    """All pairs with a side in ``new`` (row numbers), as ``all_pairs`` has them, and perhaps some beyond the bound.

    What the other rows' neighbours are is unknown here: ``bounded`` over these and the older pairs decides.
    """
    touched = np.unique(np.asarray(new, np.int64))
    is_new = np.zeros(len(vectors), np.bool_)
    is_new[touched] = True
    found = _Found(len(vectors), nearest)
    for top in range(0, len(touched), _BLOCK):
        chosen = touched[top : top + _BLOCK]
        upper = vectors[chosen]
        for start in range(0, len(vectors), _BLOCK):
            rows, columns = _close(upper, vectors[start : start + _BLOCK], threshold)
            a, b = chosen[rows], columns + start
            once = (a < b) | ((a > b) & ~is_new[b])
            found.add(vectors, np.minimum(a, b)[once], np.maximum(a, b)[once], threshold)
    return found.pairs()


def bounded(pairs: Pairs, nearest: int = NEAREST) -> Pairs:
    """The pairs in which one side is among the ``nearest`` of the other; ties go to the lower row.

    Pairs that this drops from a part of all pairs it would also drop from all, so it may be applied as they come in.
    """
    if len(pairs) <= nearest:
        return pairs
    count = len(pairs)
    source = np.concatenate([pairs.left, pairs.right])
    other = np.concatenate([pairs.right, pairs.left])
    order = np.lexsort((other, -np.concatenate([pairs.cosine, pairs.cosine]), source))
    first = np.flatnonzero(np.r_[True, np.diff(source[order]) != 0])
    rank = np.arange(2 * count) - np.repeat(first, np.diff(np.r_[first, 2 * count]))
    kept = np.zeros(count, np.bool_)
    kept[order[rank < nearest] % count] = True
    return Pairs(pairs.left[kept], pairs.right[kept], pairs.cosine[kept])


_NONE = Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float64))


class _Found:
    """Pairs as they come in, cut back to the bound before they fill the memory."""

    def __init__(self, rows: int, nearest: int) -> None:
        self._nearest = nearest
        self._limit = max(_PENDING, 2 * rows * nearest)
        self._parts: list[Pairs] = []
        self._pending = 0

    def add(self, vectors: Floats, left: Rows, right: Rows, threshold: float) -> None:
        if not len(left):
            return
        cosine = _rounded(vectors, left, right)
        kept = cosine >= round(threshold, _DECIMALS)
        self._parts.append(Pairs(left[kept], right[kept], cosine[kept]))
        self._pending += int(kept.sum())
        if self._pending > self._limit:
            self._parts = [self.pairs()]
            self._pending = len(self._parts[0])

    def pairs(self) -> Pairs:
        return bounded(joined(_NONE, *self._parts), self._nearest)


def _close(upper: Floats, lower: Floats, threshold: float) -> tuple[Rows, Rows]:
    """Row and column of every product that may round to the threshold or more."""
    products = upper @ lower.T
    hits = np.flatnonzero(products.ravel() >= threshold - 0.5 * 10**-_DECIMALS - _EDGE)
    return np.divmod(hits, len(lower))


def _rounded(vectors: Floats, left: Rows, right: Rows) -> npt.NDArray[np.float64]:
    """Cosines in double precision, so that the block a pair falls into cannot move its last decimal."""
    out = np.empty(len(left), np.float64)
    for start in range(0, len(left), _GATHER):
        part = slice(start, start + _GATHER)
        a, b = vectors[left[part]].astype(np.float64), vectors[right[part]].astype(np.float64)
        out[part] = np.einsum("ij,ij->i", a, b)
    return np.asarray(np.round(np.clip(out, -1.0, 1.0), _DECIMALS), np.float64)


def _normal(left: Rows, right: Rows, cosine: npt.NDArray[np.float64]) -> Pairs:
    order = np.lexsort((right, left))
    left, right, cosine = left[order], right[order], cosine[order]
    fresh = np.r_[True, (np.diff(left) != 0) | (np.diff(right) != 0)] if len(left) else np.zeros(0, np.bool_)
    return Pairs(left[fresh], right[fresh], cosine[fresh])
