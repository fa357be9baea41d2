"""Sentences that announce: with the code that they show they are items, and without it rejects."""

import pytest

from kb_pipeline.engines.extractive.announcing import MOST_LINES
from kb_pipeline.rules.shown import Code, code
from kb_pipeline_tests.engines.test_extraction import drafts, reasons, statements


@pytest.mark.parametrize(
    ("above", "statement"),
    [
        ("You can set the port by hand:", "You can set the port by hand:"),
        ("Here is a complete example of a client.", "Here is a complete example of a client."),
        ("To wait longer, pass a delay. For example:", "To wait longer, pass a delay."),
        ("To wait longer, pass a delay.\n\nIt looks like this:", "To wait longer, pass a delay."),
        ("URL lookups can include parameters...", "URL lookups can include parameters..."),
        ("There are two ways to connect a host", "There are two ways to connect a host"),
        ("> To wait longer, pass a delay:", "To wait longer, pass a delay:"),
    ],
)
def test_what_announces_code_shows_it(above: str, statement: str) -> None:
    """The code right below is its detail, and stands in its quote; where it says nothing by itself, the sentence before
    it shows the code."""
    mark = "> " if above.startswith(">") else ""
    text = f"{above}\n{mark}\n{mark}```python\n{mark}client = Client(\n{mark}    delay=7)\n{mark}```\n"
    (draft,) = drafts(text)
    assert (draft.statement, draft.item_type) == (statement, "procedure")
    assert draft.detail == "client = Client(\n    delay=7)"
    assert code(draft.source_span) == (Code("client = Client(\n    delay=7)", "python"),)
    assert draft.source_span in text


def test_a_statement_above_code_needs_no_code() -> None:
    """What says by itself what is so is quoted without the code below it."""
    (draft,) = drafts("The client waits seven seconds by default.\n\n```python\nclient = Client(delay=7)\n```\n")
    assert (draft.detail, draft.source_span) == ("", "The client waits seven seconds by default.")


def test_a_sentence_shows_all_blocks_that_it_announces_or_none() -> None:
    """Half of what was announced would mislead, and a whole file is no example."""
    first, second = "```\nport = 80\n```\n", "```\nhost = 'a'\n```\n"
    (draft,) = drafts(f"You can set both by hand:\n\n{first}\n{second}")
    assert draft.detail == "port = 80\n\nhost = 'a'"
    long = "```\n" + "port = 80\n" * (MOST_LINES + 1) + "```\n"
    assert [d.detail for d in drafts(f"You can set the port by hand:\n\n{first}\n{long}")] == [""]
    assert reasons(f"Here is a complete example.\n\n{long}") == ["announcement"]


@pytest.mark.parametrize(
    "text",
    [
        "Here we'll take a look at a complete example.",
        "In this section we will see how the relay starts.",
        "Here's how we need to structure our application.",
        "The following example shows how to set the port.",
        "The table below lists all the options.",
        "This guide explains how the relay is installed.",
        "Now let's deal with our test configuration.",
    ],
)
def test_what_tells_of_the_text_is_no_item(text: str) -> None:
    """A sentence that announces and shows nothing is rejected, and counted as such."""
    assert (reasons(text), drafts(text)) == (["announcement"], ())


@pytest.mark.parametrize(
    "text",
    [
        "Here we show that the relay forwards messages in order.",
        "This table stores the sessions of all users.",
        "Let's ship the relay on Friday.",
        "We will discuss the budget with the board on Friday.",
        "The example in the appendix was measured on two machines.",
    ],
)
def test_what_claims_or_decides_is_no_announcement(text: str) -> None:
    """Words of an announcement alone make none."""
    assert statements(text) == [text]
