"""Measures of ranks, and the gate that they decide."""

import pytest

from kb_pipeline.records import EvalResult
from kb_pipeline.rules.metrics import gate, measures
from kb_pipeline.settings import Options

OPTIONS = Options(eval_floor_recall10=0.7, eval_tolerance=0.05)


def result(before: list[int | None], after: list[int | None]) -> EvalResult:
    """An evaluation of questions that were found at these ranks, live and in the candidate."""
    return EvalResult(
        generation="g00000002",
        engine="e",
        at="2026-01-01T00:00:00Z",
        counts={},
        metrics={"all": measures(after)},
        compared_with="g00000001",
        common={"live": measures(before), "candidate": measures(after)},
    )


def test_measures_of_ranks() -> None:
    """What is not found counts as not found, never as absent."""
    assert measures([1, 2, None, 7]) == pytest.approx(
        {"recall@1": 0.25, "recall@5": 0.5, "recall@10": 0.75, "mrr": 0.4107, "ndcg@10": 0.491, "n": 4}, abs=1e-3
    )
    assert measures([]) == {"n": 0}


@pytest.mark.parametrize(
    ("before", "after", "passes"),
    [
        ([1] * 6, [1] * 6, True),
        ([1] * 6, [1] * 5 + [2], True),  # one of six fell by a rank: mrr by 0.083
        ([1] * 6, [1] * 5 + [None], True),  # one of six is lost
        ([1] * 6, [1] * 4 + [None] * 2, False),
        ([1] * 100, [1] * 95 + [None] * 5, True),
        ([1] * 100, [1] * 94 + [None] * 6, False),
        ([1] * 100, [2] * 100, False),
        ([], [], True),
    ],
)
def test_a_fall_holds_back_when_it_is_more_than_chance(
    before: list[int | None], after: list[int | None], passes: bool
) -> None:
    """The tolerance decides, but of few questions one alone does not."""
    assert gate(result(before, after), OPTIONS).passed == passes


def test_a_recall_under_its_floor_holds_back() -> None:
    """The floor is absolute, whatever the live generation reaches; the first generation goes live with a warning."""
    low = result([1, 1, None, None], [1, 1, None, None])
    assert not gate(low, OPTIONS).passed
    first = gate(low.model_copy(update={"compared_with": None}), OPTIONS)
    assert (first.passed, len(first.reasons)) == (True, 1)
