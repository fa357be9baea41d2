"""A page as a person edits it: what he is shown, and that all else stays as it was."""

import pytest

from kb_pipeline.rules.pages.drafting import tidy, with_words, words_in

TEXT = """---
id: "pg_1"
title: "Relay"
tags: ["relay"]
rendering: 0123456789abcdef
---

# Relay

It holds 16 messages.[^kb_00000000000a]

## Related pages

- [Hidden](hidden.md)
- [Gateway](gateway.md)

[^kb_00000000000a]: “It holds 16 messages.” — [n](../../normalized/n.md), CC0-1.0.
[^by-hand]: A person wrote or changed this sentence; no quote proves it.
"""
HIDDEN = ["- [Hidden](hidden.md)"]


def test_a_person_is_shown_sentences_and_what_he_may_set() -> None:
    """Footnotes are not among his words, and neither is a line that is not his to see."""
    words = words_in(TEXT, HIDDEN)
    assert words.body.startswith("# Relay\n\nIt holds 16 messages.[^kb_00000000000a]\n")
    assert words.body.endswith("- [Gateway](gateway.md)")
    assert "Hidden" not in words.body
    assert (words.reviewed, words.tags, words.aliases, words.summary) == (False, ("relay",), (), "")


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("\n---\n\n", "\n---\n"), "# Without a head\n\nA sentence.\n"])
def test_a_page_saved_as_it_was_is_as_it_was(text: str) -> None:
    """To the byte."""
    assert with_words(text, words_in(text, HIDDEN), HIDDEN) == text


def test_what_a_person_changed_changes_alone() -> None:
    """His sentence and his fields; footnotes, hidden lines and all other fields stand where they stood."""
    words = words_in(TEXT, HIDDEN)
    body = words.body.replace("16 messages", "32 messages")
    found = with_words(TEXT, words.model_copy(update={"body": body, "reviewed": True, "aliases": ("Rélais",)}), HIDDEN)
    added = 'reviewed: true\naliases: ["Rélais"]\n'
    expected = TEXT.replace("16 messages.[", "32 messages.[").replace("abcdef\n---", f"abcdef\n{added}---")
    assert [line for line in found.split("\n") if line] == [line for line in expected.split("\n") if line]
    back = with_words(found, words_in(found, HIDDEN).model_copy(update={"reviewed": False}), HIDDEN)
    assert "reviewed" not in back


def test_a_hidden_line_outlives_what_it_followed() -> None:
    """At the end, where the line before it is gone."""
    words = words_in(TEXT, HIDDEN)
    found = with_words(TEXT, words.model_copy(update={"body": "# Relay\n\nNothing else."}), HIDDEN)
    assert found.index("Nothing else.") < found.index("- [Hidden]") < found.index("[^kb_00000000000a]:")


def test_text_of_a_form_is_text_of_a_file() -> None:
    """Whatever ends its lines."""
    assert tidy("\r\na\r\nb\rc\0\n\n") == "a\nb\nc"
