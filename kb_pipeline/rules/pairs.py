"""Which vectors lie close: every pair above a cosine, exactly, in bounded memory, on every processor. Pure.

Owns blocked products, what spares most of them, rounding and the bound on pairs per row. Refuses to know what a row
stands for or what becomes of a pair.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]
Cosines = npt.NDArray[np.float64]

NEAREST = 32
"""A pair counts only while one side is among the 32 nearest of the other. Texts that repeat one pattern (ten thousand
lines of a log) would otherwise make millions of pairs, and nobody reads more than 32 near-doubles of one statement."""

_BLOCK = 1024  # the products of a block stay in the cache of a processor
_SHORT = 5  # of five coordinates a sketch has one: with MiniLM that leaves 0.03% of the pairs of 44,000 sentences open
_SAMPLE = 4096
_FEW = 256  # where more than one pair in so many is left, the product of all costs less
_PENDING = 4_000_000
_DECIMALS = 3
_EDGE = 1e-5
_GATHER = 16_384
_MANY = 4  # whole products of two blocks: fewer are not worth threads
_MOST = 8  # threads; each holds the products of a block, 5 MB


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of rows, ``left[i] < right[i]``, sorted, with their cosine rounded to 3 decimals; three arrays alike."""

    left: Rows
    right: Rows
    cosine: Cosines

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
    sketches = sketched(vectors) if len(vectors) > _BLOCK else None
    blocks = [_Block.of(vectors, sketches, slice(start, start + _BLOCK)) for start in range(0, len(vectors), _BLOCK)]
    with _side_by_side(len(vectors) ** 2) as each:
        for at, upper in enumerate(blocks):
            close = partial(_close, upper, threshold=threshold, nearest=nearest)
            for to, (rows, columns, cosine) in enumerate(each(close, blocks[at:]), at):
                a, b = rows + at * _BLOCK, columns + to * _BLOCK
                ahead = a < b
                found.add(a[ahead], b[ahead], cosine[ahead])
    return found.pairs()


def pairs_touching(new: Sequence[int] | Rows, vectors: Floats, threshold: float, nearest: int = NEAREST) -> Pairs:
    """All pairs with a side in ``new`` (row numbers), as ``all_pairs`` has them, and perhaps some beyond the bound.

    What the other rows' neighbours are is unknown here: ``bounded`` over these and the older pairs decides.
    """
    is_new = np.zeros(len(vectors), np.bool_)
    is_new[np.asarray(new, np.int64)] = True
    touched = np.flatnonzero(is_new)
    found = _Found(len(vectors), nearest)
    sketches = sketched(vectors) if len(touched) > _BLOCK else None
    blocks = [_Block.of(vectors, sketches, slice(start, start + _BLOCK)) for start in range(0, len(vectors), _BLOCK)]
    with _side_by_side(len(touched) * len(vectors)) as each:
        for top in range(0, len(touched), _BLOCK):
            chosen = touched[top : top + _BLOCK]
            close = partial(_close, _Block.of(vectors, sketches, chosen), threshold=threshold, nearest=nearest)
            for to, (rows, columns, cosine) in enumerate(each(close, blocks)):
                a, b = chosen[rows], columns + to * _BLOCK
                once = (a < b) | ((a > b) & ~is_new[b])
                found.add(np.minimum(a, b)[once], np.maximum(a, b)[once], cosine[once])
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


def sketched(vectors: Floats) -> Floats:
    """Short vectors ``(n, dim // 5 + 1)`` whose products are never below those of ``vectors`` ``(n, dim)``.

    A sketch holds the coordinates of ``a`` along the few orthonormal directions that a sample of the rows extends most
    in, ``p``, and the length of all the rest ``q`` of it. What two rests contribute is at most the product of their
    lengths (Cauchy-Schwarz), so ``a·b = p·p' + q·q' <= p·p' + |q||q'|``. ``|q|²`` has ``s = 1e-5`` added, more than
    32 bits lose on the way; since ``(x² + s)(y² + s) >= (xy + s)²``, the product of two sketches is ``s`` above that.
    """
    sample = vectors[:: len(vectors) // _SAMPLE + 1].astype(np.float64)
    _, directions = np.linalg.eigh(sample.T @ sample)
    chosen = directions[:, -(vectors.shape[1] // _SHORT) :].astype(np.float32)
    sketches = np.empty((len(vectors), chosen.shape[1] + 1), np.float32)
    for start in range(0, len(vectors), _BLOCK):
        part, short = vectors[start : start + _BLOCK], sketches[start : start + _BLOCK]
        short[:, :-1] = along = part @ chosen
        rest = np.einsum("ij,ij->i", part, part) - np.einsum("ij,ij->i", along, along)
        short[:, -1] = np.sqrt(np.maximum(rest, 0) + _EDGE)
    return sketches


_NONE = Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float64))


class _Found:
    """Pairs as they come in, cut back to the bound before they fill the memory."""

    def __init__(self, rows: int, nearest: int) -> None:
        self._nearest = nearest
        self._limit = max(_PENDING, 2 * rows * nearest)
        self._parts: list[Pairs] = []
        self._pending = 0

    def add(self, left: Rows, right: Rows, cosine: Cosines) -> None:
        if not len(left):
            return
        self._parts.append(Pairs(left, right, cosine))
        self._pending += len(left)
        if self._pending > self._limit:
            self._parts = [self.pairs()]
            self._pending = len(self._parts[0])

    def pairs(self) -> Pairs:
        return bounded(joined(_NONE, *self._parts), self._nearest)


@dataclass(frozen=True, slots=True)
class _Block:
    """Some rows, and their sketches where there are such."""

    vectors: Floats
    sketches: Floats | None

    @classmethod
    def of(cls, vectors: Floats, sketches: Floats | None, rows: slice | Rows) -> "_Block":
        return cls(vectors[rows], None if sketches is None else sketches[rows])

    def __len__(self) -> int:
        return len(self.vectors)


_Close = tuple[Rows, Rows, Cosines]
_Each = Callable[[Callable[["_Block"], _Close], Sequence["_Block"]], Iterator[_Close]]


@contextmanager
def _side_by_side(products: int) -> Iterator[_Each]:
    """A ``map`` over blocks, on every processor where it takes many products.

    A product of two blocks is too small to be shared out: on two processors OpenBLAS takes nearly as long for all pairs
    of 44,000 rows as on one, and for those of ten rows ten times the work, since its threads spin while they wait for
    each other. So it has one thread, and there are as many of ours as it would use, each with products of its own.
    """
    from threadpoolctl import ThreadpoolController

    blas = ThreadpoolController().select(user_api="blas")
    usable = max((library["num_threads"] for library in blas.info()), default=1)
    with blas.limit(limits=1), ThreadPoolExecutor(min(usable, _MOST)) as threads:
        yield threads.map if products >= _MANY * _BLOCK**2 else map


def _close(upper: _Block, lower: _Block, threshold: float, nearest: int) -> _Close:
    """Rows, columns and rounded cosines of a block; where it is dense, only what is near for its row or its column."""
    rows, columns, products = _above(upper, lower, threshold - 0.5 * 10**-_DECIMALS - _EDGE)
    cosine = _rounded(products, upper.vectors, lower.vectors, rows, columns)
    kept = cosine >= round(threshold, _DECIMALS)
    rows, columns, cosine = rows[kept], columns[kept], cosine[kept]
    if len(rows) > 2 * nearest * max(len(upper), len(lower)):
        kept = _near(rows, columns, cosine, (len(upper), len(lower)), nearest)
        rows, columns, cosine = rows[kept], columns[kept], cosine[kept]
    return rows, columns, cosine


def _above(upper: _Block, lower: _Block, least: float) -> tuple[Rows, Rows, Floats]:
    """Rows, columns and products of a block that reach ``least``: of all pairs, or of those that the sketches leave."""
    if upper.sketches is not None and lower.sketches is not None:
        left = (upper.sketches @ lower.sketches.T).ravel() >= least
        if np.count_nonzero(left) * _FEW <= len(left):
            rows, columns = np.divmod(np.flatnonzero(left), len(lower))
            products = _products(upper.vectors, lower.vectors, rows, columns)
            kept = products >= least
            return rows[kept], columns[kept], products[kept]
    products = (upper.vectors @ lower.vectors.T).ravel()
    hits = np.flatnonzero(products >= least)
    rows, columns = np.divmod(hits, len(lower))
    return rows, columns, products[hits]


def _products(upper: Floats, lower: Floats, rows: Rows, columns: Rows) -> Floats:
    """The products of single pairs, in the precision of the vectors."""
    found = np.empty(len(rows), upper.dtype)
    for start in range(0, len(rows), _GATHER):
        step = slice(start, start + _GATHER)
        found[step] = np.einsum("ij,ij->i", upper[rows[step]], lower[columns[step]])
    return found


def _rounded(products: Floats, upper: Floats, lower: Floats, rows: Rows, columns: Rows) -> Cosines:
    """Cosines to 3 decimals. Those next to an edge of rounding are computed again in double precision, so that the
    block a pair falls into cannot move its last decimal."""
    cosine = products.astype(np.float64)
    steps = cosine * 10**_DECIMALS
    edge = np.flatnonzero(np.abs(steps - np.floor(steps) - 0.5) < _EDGE * 10**_DECIMALS)
    for start in range(0, len(edge), _GATHER):
        at = edge[start : start + _GATHER]
        a, b = upper[rows[at]].astype(np.float64), lower[columns[at]].astype(np.float64)
        cosine[at] = np.einsum("ij,ij->i", a, b)
    return np.asarray(np.round(cosine, _DECIMALS), np.float64)


def _near(rows: Rows, columns: Rows, cosine: Cosines, shape: tuple[int, int], nearest: int) -> npt.NDArray[np.bool_]:
    """Which pairs of a block are among the nearest of their row or column, and one more: a row may meet itself."""
    steps = np.full(shape, -1, np.int64)
    steps[rows, columns] = np.round((cosine + 1) * 10**_DECIMALS).astype(np.int64)
    kept = np.zeros(shape, np.bool_)
    for ranked, mask in ((steps, kept), (steps.T, kept.T)):
        width = ranked.shape[1]
        if width <= nearest + 1:
            return np.ones(len(rows), np.bool_)
        keys = ranked * width + np.arange(width)[::-1]
        mask |= keys >= np.partition(keys, -nearest - 1, axis=1)[:, [-nearest - 1]]
    return np.asarray(kept[rows, columns], np.bool_)


def _normal(left: Rows, right: Rows, cosine: Cosines) -> Pairs:
    order = np.lexsort((right, left))
    left, right, cosine = left[order], right[order], cosine[order]
    fresh = np.r_[True, (np.diff(left) != 0) | (np.diff(right) != 0)] if len(left) else np.zeros(0, np.bool_)
    return Pairs(left[fresh], right[fresh], cosine[fresh])
