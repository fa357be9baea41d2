"""What code says of a pair."""

import pytest

from kb_pipeline.records import Pair, Side
from kb_pipeline.rules.decisions import rule


def pair(a: str, b: str, cosine: float = 0.95, ratio: float = 0.9, guard: str = "") -> Pair:
    return Pair(a=Side(statement=a), b=Side(statement=b), cosine=cosine, ratio=ratio, guard=guard)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Redis runs commands on one thread.", "Commands are run by Redis on one thread."),
        ("Redis runs commands on one thread.", "Redis executes commands on one thread."),
    ],
)
def test_the_same_words_or_synonyms_merge_where_they_are_near(a: str, b: str) -> None:
    """Rules merge what they can account for word by word, above the least score only."""
    verdict = rule(pair(a, b), None, same_document=False)
    assert verdict is not None
    assert verdict.decision == "merge"
    far = rule(pair(a, b, cosine=0.8, ratio=0.5), None, same_document=False)
    assert far is not None
    assert far.decision == "keep_both"


def test_a_guard_comes_before_equal_words() -> None:
    """Equal words with a guard on record stay apart."""
    verdict = rule(pair("A pool holds blocks.", "A pool holds blocks.", 1.0, 1.0, "numbers"), None, same_document=False)
    assert verdict is not None
    assert verdict.decision == "keep_both"


def test_what_rules_cannot_account_for_is_a_question() -> None:
    """A near pair with another word is left to a judge."""
    assert rule(pair("The drug reduced pain in men.", "The drug reduced pain in women."), None, False) is None


def test_what_two_versions_are_each_said_to_do_is_no_conflict() -> None:
    """Statements that name different versions of a thing may differ in more without denying each other."""
    apart = ("Siskin v0.5 does not support an FP8 cache.", "Siskin v0.6 does not support an FP8 cache on the A100.")
    verdict = rule(pair(*apart, guard="numbers"), None, same_document=False)
    assert verdict is not None
    assert (verdict.decision, verdict.needs_review) == ("keep_both", False)
    one = ("Siskin v0.5 holds 16 tokens a block.", "Siskin v0.5 holds 32 tokens a block.")
    verdict = rule(pair(*one, guard="numbers"), None, same_document=False)
    assert verdict is not None
    assert verdict.needs_review
