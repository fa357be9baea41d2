"""Phrases, forms and synonyms."""

from collections import Counter

import pytest

from kb_pipeline.rules import synonyms
from kb_pipeline.rules.phrases import folded
from kb_pipeline.rules.wording import content


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("up to three retries", "at most 3 retries"),
        ("no more than 5 tries", "at most 5 tries"),
        ("larger than 5 MB", "more than 5MB"),
        ("rises above 8 bar", "exceeds 8 bar"),
        ("every day", "daily"),
        ("once a year", "annually"),
        ("turned on", "enabled"),
        ("in order to read", "to read"),
        ("prior to deployment", "before deploying"),
        ("has to be renewed", "must be renewed"),
        ("is unable to write", "cannot write"),
        ("takes place on Monday", "is held on Monday"),
        ("the db config", "the database configuration"),
        ("30 s", "30 seconds"),
        ("1,000 rows", "1000 rows"),
    ],
)
def test_phrases_of_one_meaning_have_the_same_content(a: str, b: str) -> None:
    """What says the same in other words is the same content."""
    assert content(a) == content(b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("need not be renewed", "must not be renewed"),
        ("does not have to be renewed", "must not be renewed"),
        ("cannot write", "does not write"),
        ("often fails", "usually fails"),
        ("rarely fails", "sometimes fails"),
        ("few tests", "many tests"),
        ("any replica", "all replicas"),
        ("should close it", "closes it"),
        ("at most 5", "at least 5"),
        ("call parse_url", "call parse_urls"),
        ("hourly", "daily"),
    ],
)
def test_phrases_that_differ_in_force_differ_in_content(a: str, b: str) -> None:
    """What narrows, weakens or denies is never folded into its neighbour."""
    assert content(a) != content(b)


def test_a_text_without_phrases_goes_through_unchanged() -> None:
    """Nothing else is touched, in any script."""
    for text in ("The pool holds blocks.", "缓存按块存储", ""):
        assert folded(text) == text


def test_no_word_stands_in_two_rows() -> None:
    """A word counts as one other word, so that the tables hold whichever row is read first."""
    for table in (synonyms._FORMS, synonyms._SYNONYMS):
        assert max(Counter(word for row in synonyms.rows(table) for word in row).values()) == 1
