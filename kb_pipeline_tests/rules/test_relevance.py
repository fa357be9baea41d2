"""What a question asks for, how well a text answers it, and how age counts."""

import pytest

from kb_pipeline.records import Card, Trial
from kb_pipeline.rules import catalogue, relevance
from kb_pipeline.rules.trials import HARD, answer_measures, costs


def test_words_that_only_ask_do_not_count() -> None:
    """What makes a sentence a question is no part of what it asks for."""
    assert set(relevance.asked("What is the block size?")) == set(relevance.asked("block size"))
    assert relevance.asked("What is it?")


def test_coverage_is_the_share_that_is_held() -> None:
    """A text that holds all of it covers it whole, inflected or not; one that holds nothing, not at all."""
    asked = relevance.asked("How many pages does the cache keep?")
    assert relevance.coverage(asked, "The caches keep a page.") == 1.0
    assert 0 < relevance.coverage(asked, "The cache is cold.") < 0.5
    assert relevance.coverage(asked, "Nothing of that kind.") == 0.0
    assert relevance.coverage({}, "anything") == 0.0


def test_even_odds_are_five() -> None:
    """Relevance rises with nearness and coverage, between 0 and 10."""
    strengths = [relevance.strength(cosine, share) for cosine, share in ((0.1, 0.0), (0.45, 0.5), (0.9, 1.0))]
    low, even, high = map(relevance.logistic, strengths)
    assert 0 <= low < 1 < even == 5.0 < 9 < high <= 10
    assert relevance.rerank(1.0, 1.0, 1.0) == 10.0
    assert relevance.rerank(-0.2, 0.0, 0.0) == 0.0


@pytest.mark.parametrize(
    ("day", "factor"), [("2026-01-10", 1.0), ("2025-12-31", 0.5), ("2026-02-01", 1.0), ("", 1.0), ("soon", 1.0)]
)
def test_age_halves(day: str, factor: float) -> None:
    """After one half-life half is left; a day that lies ahead or is none takes nothing."""
    assert relevance.decay(day, "2026-01-10", 10) == factor


def test_a_card_is_found_by_its_title_first() -> None:
    """A word of the title counts more than one of the headings, and that more than one of the summary."""
    cards = [
        Card(ref="a", kind="page", title="Gateway", summary="About timeouts."),
        Card(ref="b", kind="document", title="Relay", headings=("Timeouts",)),
        Card(ref="c", kind="document", title="Timeouts"),
        Card(ref="d", kind="document", title="Bread"),
    ]
    assert catalogue.ranked("Which timeouts are there?", cards) == ["c", "b", "a"]
    assert catalogue.ranked("penguins", cards) == []
    assert catalogue.ranked("anything", []) == []


def test_answers_are_measured_by_what_they_cite() -> None:
    """The expected item, or what its document was read whole in, is a right citation; a hard negative has none."""
    trials = [
        Trial(question="1", style="nl", expected="kb_1", about="kb_1", answered=True, cited=(("kb_1",), ("kb_2",)),
              passed=2, dropped=1, ms=4.0),
        Trial(question="2", style="nl", expected="kb_3", about="kb_3", answered=True, cited=(("page", "notes/a.md"),),
              passed=1, ms=6.0),
        Trial(question="3", style="nl", expected="kb_4", about="kb_4", answered=False, ms=5.0, calls=3),
        Trial(question="4", style=HARD, expected="", about="kb_5", answered=True, cited=(("kb_5",),), passed=1),
        Trial(question="5", style=HARD, expected="", about="kb_6", answered=True, cited=(("kb_7",),), passed=1),
        Trial(question="6", style=HARD, expected="", about="kb_8", answered=False),
    ]  # fmt: skip
    found = answer_measures(trials, {"kb_3": "notes/a.md"})
    assert (found["n"], found["n_hard"]) == (3.0, 3.0)
    assert found["cited"] == found["answered"] == found["precision"] == 0.6667
    assert found["silent"] == found["hard_silent"] == found["hard_own"] == found["hard_other"] == 0.3333
    assert found["faithfulness"] == round(5 / 6, 4)
    assert costs(trials)["calls"] == 0.5
    assert answer_measures([], {})["n"] == 0.0
    assert costs([]) == {}
