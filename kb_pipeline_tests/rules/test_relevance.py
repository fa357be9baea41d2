"""What a question asks for, how well a text answers it, and how age counts."""

import pytest

from kb_pipeline.records import Card, Trial
from kb_pipeline.rules import catalogue, relevance
from kb_pipeline.rules.analyser import analyse
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


def test_words_that_only_ask_ask_for_nothing() -> None:
    """A question without any other word has nothing that a text could answer."""
    assert not any(map(relevance.specific, ("What is it?", "the of and", "?", "Are there any?")))
    assert relevance.specific("What is a KV block?")


@pytest.mark.parametrize(
    ("question", "text", "may"),
    [
        ("Which block size has v0.5?", "The engine guide v0.6: 32 tokens.", False),
        ("Which block size has v0.5?", "engine-guide-v0.5.md 16 tokens", True),
        ("What is new in version 0.46?", "New in 0.47", False),
        ("How many KV heads has Llama 3 405B?", "Llama 3 70B has 8 KV heads.", False),
        ("How much memory do H100s have?", "An H100 has 80 GB.", True),
        ("The size of a 13B model in FP8?", "A 13B model in FP16 takes 26 GB.", False),
        ("FP8 or FP16 for a 13B model?", "A 13B model in FP16 takes 26 GB.", True),
        ("What does --warp do?", "The flag --wrap folds lines.", False),
        ("What is max_files by default?", "max_fields is 1000 by default.", False),
        ("Is the block size 64 tokens?", "It is 32 tokens.", True),
        ("Does it give up after 30s or 64GB?", "It never gives up.", True),
    ],
)
def test_what_is_named_to_the_letter_must_be_there(question: str, text: str, may: bool) -> None:
    """A text about another version, model, flag or code is no answer; a bare number or a measure may be corrected."""
    assert relevance.about(question, frozenset(analyse(text))) is may


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    """The word that fewer texts hold weighs more; each weight is positive."""
    weights = relevance.by_rarity({"relay": 1.0, "window": 1.0}, [{"relay"}, {"relay"}, {"relay", "window"}])
    assert 0 < weights["relay"] < weights["window"]
