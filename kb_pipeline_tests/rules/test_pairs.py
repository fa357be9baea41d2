"""Candidate pairs against the plain product of all vectors with all."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_pipeline.rules import pairs
from kb_pipeline.rules.pairs import Pairs, all_pairs, bounded, joined, pairs_of, pairs_touching, sketched


def vectors(count: int, dim: int, seed: int, spread: float = 0.3) -> Any:
    """Unit vectors in a few bundles, so that many lie close."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((max(1, count // 6), dim))
    rows = centres[rng.integers(0, len(centres), count)] + spread * rng.standard_normal((count, dim))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def plain(rows: Any, threshold: float) -> dict[tuple[int, int], float]:
    products = np.round(rows.astype(np.float64) @ rows.T.astype(np.float64), 3)
    return {
        (i, j): products[i, j] for i in range(len(rows)) for j in range(i + 1, len(rows)) if products[i, j] >= threshold
    }


def as_dict(found: Pairs) -> dict[tuple[int, int], float]:
    return dict(zip(zip(found.left.tolist(), found.right.tolist(), strict=True), found.cosine.tolist(), strict=True))


@pytest.fixture(params=[(3, 10**6), (3, 1), (2048, 1)], ids=["products", "sketches", "one block"])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks smaller than the data, multiplied whole or where their sketches allow it, and larger."""
    size, few = request.param
    monkeypatch.setattr(pairs, "_BLOCK", size)
    monkeypatch.setattr(pairs, "_FEW", few)


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("threshold", [-1.0, 0.3, 0.86, 1.0])
def test_all_pairs_are_those_of_the_plain_product(threshold: float) -> None:
    """Every pair at or above the threshold is found once, with its rounded cosine, whatever the blocks."""
    rows = vectors(40, 12, seed=1)
    assert as_dict(all_pairs(rows, threshold, nearest=99)) == plain(rows, threshold)


@pytest.mark.usefixtures("block")
def test_touching_pairs_are_all_pairs_with_a_side_in_the_new_rows() -> None:
    """Only pairs of the new rows are found, pairs among them once."""
    rows = vectors(40, 12, seed=2)
    new = {0, 7, 8, 39}
    wanted = {pair: c for pair, c in plain(rows, 0.5).items() if new & set(pair)}
    assert as_dict(pairs_touching(sorted(new), rows, 0.5, nearest=99)) == wanted


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), dim=st.sampled_from([2, 7, 60, 384]), spread=st.sampled_from([0.0, 0.01, 0.3, 3.0]))
def test_sketches_are_never_further_apart_than_their_vectors(seed: int, dim: int, spread: float) -> None:
    """No product of two sketches is below that of the vectors, of equal and of scattered ones."""
    rows = vectors(30, dim, seed, spread)
    short = sketched(rows)
    assert (short @ short.T >= rows.astype(np.float64) @ rows.T.astype(np.float64)).all()
    assert short.shape == (30, dim // 5 + 1 if dim >= 5 else dim + 1)


def test_no_rows_and_no_new_rows_give_no_pairs() -> None:
    """An empty matrix, a single row and no new rows give empty arrays."""
    assert len(all_pairs(np.zeros((0, 4), np.float32), 0.5)) == 0
    assert len(all_pairs(vectors(1, 4, 0), 0.5)) == 0
    assert len(pairs_touching([], vectors(5, 4, 0), 0.5)) == 0


@pytest.mark.parametrize(("cosine", "kept"), [(0.8604, True), (0.8596, True), (0.8594, False)])
def test_a_cosine_is_rounded_before_the_threshold(cosine: float, kept: bool) -> None:
    """What rounds to the threshold counts, though its last digits are below it."""
    rows = np.array([[1, 0], [cosine, np.sqrt(1 - cosine**2)]], np.float32)
    assert (len(all_pairs(rows, 0.86)) == 1) == kept


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6), nearest=st.integers(1, 4), split=st.integers(0, 25), pending=st.sampled_from([1, 10**6])
)
def test_the_bound_may_be_applied_as_pairs_come_in(seed: int, nearest: int, split: int, pending: int) -> None:
    """Bounding early, late or in parts gives the same pairs: each has a side among the nearest of the other."""
    rows = vectors(25, 6, seed)
    whole = plain(rows, 0.2)
    left, right = zip(*whole, strict=True) if whole else ((), ())
    wanted = as_dict(bounded(pairs_of(left, right, list(whole.values())), nearest))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "_PENDING", pending)
        patch.setattr(pairs, "_BLOCK", 4)
        assert as_dict(all_pairs(rows, 0.2, nearest)) == wanted
        parts = [pairs_touching(part, rows, 0.2, nearest) for part in (range(split), range(split, 25))]
    assert as_dict(bounded(joined(*parts), nearest)) == wanted
    degree = np.bincount([node for pair in wanted for node in pair], minlength=25)
    full = np.bincount([node for pair in whole for node in pair], minlength=25)
    assert (degree >= np.minimum(full, nearest)).all()


def test_equal_vectors_stay_within_the_bound_and_ties_go_to_the_lower_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many equal vectors make few pairs, the same ones whatever the blocks."""
    rows = np.tile(vectors(1, 8, 0), (60, 1))
    left, right = zip(*plain(rows, 0.9), strict=True)
    wanted = as_dict(bounded(pairs_of(left, right, [1.0] * len(left)), nearest=2))
    for size in (16, 2048):
        monkeypatch.setattr(pairs, "_BLOCK", size)
        assert as_dict(all_pairs(rows, 0.9, nearest=2)) == wanted
    assert len(wanted) <= 120


def test_cosines_are_rounded_from_double_precision() -> None:
    """No single-precision product moves the third decimal of any of half a million pairs."""
    rows = vectors(1000, 384, seed=6, spread=0.1)
    found = all_pairs(rows, -1.0, nearest=1000)
    exact = np.round((rows.astype(np.float64) @ rows.T.astype(np.float64))[found.left, found.right], 3)
    assert len(found) == 1000 * 999 // 2
    assert (found.cosine == exact).all()
