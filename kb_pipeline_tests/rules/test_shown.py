"""What of a quote is prose, and what of it is code."""

import pytest

from kb_pipeline.rules.shown import Code, code, names, prose

BOTH = "Set the port:\n\n```python title='a.py'\nport = 80\n\n```\n\n~~~\n```\nhost\n~~~"


def test_blocks_are_read_as_their_fences_mark_them() -> None:
    """A longer or another fence holds the marks of one; the last may lack its end, as a quote does."""
    assert prose(BOTH) == "Set the port:"
    assert code(BOTH) == (Code("port = 80", "python"), Code("```\nhost"))
    assert code("Set the port:\n```\nport = 80") == (Code("port = 80"),)


def test_indented_and_quoted_code_loses_its_margin() -> None:
    """Four columns after a blank line are code, and so is a fence within a quotation."""
    assert code("Set the port:\n\n    if free:\n        port = 80") == (Code("if free:\n    port = 80"),)
    assert code("Set the port:\n> ```\n> if free:\n>     port = 80") == (Code("if free:\n    port = 80"),)


@pytest.mark.parametrize("quote", ["The port is 80.", "The port\nis 80.", "```\nport = 80\n```", "- a\n- b\n  c", ""])
def test_what_shows_no_code_is_prose(quote: str) -> None:
    """So is code with no sentence above it."""
    assert (prose(quote), code(quote)) == (quote, ()) or quote.startswith("```")


def test_a_name_is_code_where_it_is_written_so() -> None:
    """Each time by itself, in the order of the text."""
    told = "The client has a `client`, and `a\nb` is `client=1`."
    assert names(told) == {"client": (False, True), "a b": (True,), "client=1": (True,)}
    assert names("No code at all.") == {}
