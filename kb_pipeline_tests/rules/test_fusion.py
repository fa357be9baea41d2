"""Fusion by hand-computed examples."""

import pytest

from kb_pipeline.rules.fusion import METHODS, fuse, min_max, project, ranks, reciprocal_ranks


def test_reciprocal_ranks_are_the_formula() -> None:
    """An entry counts 1 / (60 + rank), whatever its score."""
    assert reciprocal_ranks([("a", 9.0), ("b", 8.9)], 100) == {"a": 1 / 61, "b": 1 / 62}


def test_ranks_agree_where_lists_agree() -> None:
    """An id that two lists hold beats one that a single list ranks first."""
    lists = {"words": [("a", 5.0), ("c", 4.0)], "meaning": [("b", 0.9), ("c", 0.8)]}
    fused = fuse({name: reciprocal_ranks(ranked, 100) for name, ranked in lists.items()}, {"words": 1, "meaning": 1})
    assert max(fused, key=lambda name: fused[name]) == "c"
    assert fused["c"] == pytest.approx(2 / 62)


def test_a_full_list_is_scaled_between_its_ends() -> None:
    """A list cut at its depth scores its last entry 0: what it left out could be as good."""
    assert min_max([("a", 8.0), ("b", 6.0), ("c", 4.0), ("d", 1.0)], 3) == {"a": 1.0, "b": 0.5, "c": 0.0}


def test_a_short_list_is_scaled_from_zero() -> None:
    """In a list that found everything, the last entry keeps its share."""
    assert min_max([("a", 8.0), ("b", 4.0)], 100) == {"a": 1.0, "b": 0.5}


@pytest.mark.parametrize("ranked", [[("a", 3.0)], [("a", 3.0), ("b", 3.0)]])
def test_equal_scores_count_in_full(ranked: list[tuple[str, float]]) -> None:
    """Where nothing tells entries apart, each gets all."""
    assert set(min_max(ranked, len(ranked)).values()) == {1.0}


def test_scores_below_zero_count_nothing() -> None:
    """An opposite vector is no evidence."""
    assert min_max([("a", 0.5), ("b", -0.5)], 100) == {"a": 1.0, "b": 0.0}


@pytest.mark.parametrize("method", METHODS)
def test_an_empty_list_gives_nothing(method: str) -> None:
    """No entry, no score, in every method."""
    assert METHODS[method]([], 100) == {}


def test_weights_and_missing_entries() -> None:
    """A list counts by its weight, and nothing for what it lacks."""
    assert fuse({"x": {"a": 1.0}, "y": {"a": 0.5, "b": 1.0}}, {"x": 2.0, "y": 1.0}) == {"a": 2.5, "b": 1.0}


def test_a_projection_keeps_the_best_score() -> None:
    """A target inherits the most that one of its entries has; an entry without target is dropped."""
    homes = {"a": ["x"], "b": ["x", "y"], "c": []}
    assert project({"a": 0.2, "b": 0.7, "c": 1.0}, lambda name: homes[name]) == {"x": 0.7, "y": 0.7}


def test_ranks_are_told_by_list() -> None:
    """Each id knows where it stood in each list."""
    lists = {"x": [("a", 1.0), ("b", 0.5)], "y": [("b", 3.0)]}
    assert ranks(lists, ["b", "c"]) == {"b": {"x": 2, "y": 1}, "c": {}}
