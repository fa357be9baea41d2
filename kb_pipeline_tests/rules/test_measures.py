"""Figures and measures in one spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.records import Side
from kb_pipeline.rules import measures
from kb_pipeline.rules.guards import fired
from kb_pipeline.rules.measures import plain


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("takes two hours", "takes 120 minutes"),
        ("expires after a day", "expires after 24 hours"),
        ("within one year", "within 12 months"),
        ("1.2 million rows", "1,200,000 rows"),
        ("twenty-five nodes", "25 nodes"),
        ("a dozen nodes", "12 nodes"),
        ("10k requests", "10,000 requests"),
        ("half of the nodes", "50% of the nodes"),
        ("at 5 pm", "at 17:00"),
        ("at 12:30 a.m.", "at 0:30"),
        ("on 3 March 2021", "on March 3rd, 2021"),
        ("on 3 March 2021", "on 2021-03-03"),
        ("8GB of memory", "8 gigabytes of memory"),
        ("1.5 km long", "1500 metres long"),
        ("5 or more nodes", "at least 5 nodes"),
        ("a 3-node cluster", "a three-node cluster"),
        ("every 24 hours", "every day"),
    ],
)
def test_one_amount_has_one_spelling(a: str, b: str) -> None:
    """Equal amounts are no difference of figures, whichever way they are written."""
    assert fired(Side(statement=f"It is {a}."), Side(statement=f"It is {b}.")) not in ("numbers", "units", "versions")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("takes two hours", "takes 110 minutes"),
        ("1.2 million rows", "1.2 billion rows"),
        ("at 5 pm", "at 5 am"),
        ("on 3 March 2021", "on 3 May 2021"),
        ("8 GB", "8 MB"),
        ("10 ms", "10 s"),
        ("half of the nodes", "40% of the nodes"),
        ("5 km", "5 m long"),
    ],
)
def test_another_amount_stays_another(a: str, b: str) -> None:
    """What differs in amount differs in its one spelling."""
    assert fired(Side(statement=f"It is {a}."), Side(statement=f"It is {b}.")) in ("numbers", "units")


def test_versions_names_and_plain_words_are_left_alone() -> None:
    """Nothing but an amount is respelled."""
    for text in (
        "since v1.2.3 of Python 3.11",
        "an A100-40GB",
        "one of the nodes",
        "twice a day",
        "缓存",
        "10 ms/step",
    ):
        assert plain(text) == text


_PARTS = (
    "every 24 hours,each 1 day,5k rows,3 p.m.,9:30,4 May 2026,May 4th,12 or more,12 or less,5 per cent,$ 3,3 km,20 °C,7"
)


@given(st.lists(st.sampled_from(_PARTS.split(","))))
def test_rules_for_numbers_in_words_change_nothing_where_there_are_none(parts: list[str]) -> None:
    """A text with digits alone reads the same, whether all rules are tried or those of digits."""
    text = tried = " ".join(parts)
    for rule in measures._RULES:
        tried = rule.sought.sub(rule.written, tried)
    assert plain(text) == tried
