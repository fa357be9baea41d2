"""A page compared with what it was: what came, what went, what was worded otherwise, and where."""

from kb_pipeline.rules.pages.comparing import Said, compared, pieces, said_now, said_then
from kb_pipeline.rules.pages.reading import words_of

THEN = """---
title: "Relay"
---

# Relay

The relay forwards messages.[^kb_00000000000a]

## How it works

### Memory

It holds 16 messages by default.[^kb_00000000000b]
It drops the oldest.[^kb_00000000000c]

### Wire: framing

A frame has 8 bytes.[^kb_00000000000d]

## Related pages

- [Gateway](gateway.md)

[^kb_00000000000a]: “The relay forwards messages.” — [n](../../normalized/n.md), CC0-1.0.
"""
NOW = THEN.replace("16 messages", "32 messages").replace("It drops the oldest.[^kb_00000000000c]\n", "")
NOW = NOW.replace("### Wire: framing\n\nA frame has 8 bytes.[^kb_00000000000d]\n\n", "")
NOW = NOW.replace(
    "## Related", "## Figures\n\n- Its `max_size` is 4 MB[^kb_00000000000e]\n- We like it.[^by-hand]\n\n## Related"
)


def told(then: list[Said], now: list[Said]) -> list[tuple[str, str, tuple[str, ...]]]:
    """Differences as words before, words now and headings."""
    found = []
    for one in compared(then, now)[0]:
        said = one.now or one.before
        assert said is not None
        found.append((one.before.text if one.before else "", one.now.text if one.now else "", said.section))
    return found


def test_a_page_is_compared_sentence_by_sentence() -> None:
    """A changed figure is one change, what went stands where it stood, what came below its heading; links and notes
    are no sentences, and a heading that went is told by its document."""
    then = said_then(words_of(THEN), "Relay", NOW, ["Wire: framing"])
    assert told(then, said_now(NOW)) == [
        ("It holds 16 messages by default.", "It holds 32 messages by default.", ("How it works", "Memory")),
        ("It drops the oldest.", "", ("How it works", "Memory")),
        ("A frame has 8 bytes.", "", ("How it works", "Wire: framing")),
        ("", "Its max_size is 4 MB", ("Figures",)),
        ("", "We like it.", ("Figures",)),
    ]
    assert [(one.cites, one.by_hand) for one in said_now(NOW)][-2:] == [(("kb_00000000000e",), False), ((), True)]


def test_what_is_as_it_was_differs_in_nothing() -> None:
    """Neither a page as it was, nor one whose notes and links alone changed."""
    assert compared(said_then(words_of(THEN), "Relay", THEN, ()), said_now(THEN)) == ([], 0)
    other = THEN.replace("gateway.md", "other.md").replace("CC0-1.0", "MIT")
    assert compared(said_then(words_of(THEN), "Relay", other, ()), said_now(other)) == ([], 0)
    ends = THEN.replace("drops the oldest.", "drops the oldest:")
    assert compared(said_then(words_of(THEN), "Relay", ends, ()), said_now(ends)) == ([], 0)


def test_a_sentence_elsewhere_is_neither_gone_nor_new() -> None:
    """Word for word in another place of the page, it is only counted."""
    lines = [Said(f"Sentence number {word} stands here.") for word in ("one", "two", "three", "four")]
    assert compared(lines, [*lines[2:], *lines[:2]]) == ([], 2)


def test_two_sentences_are_one_reworded_where_most_words_are_the_same() -> None:
    """Below other headings nearly all of them must be; each wording serves one other."""
    a, b = Said("It defaults to 500.", ("Options", "A")), Said("It defaults to True.", ("Options", "B"))
    assert {(before, now) for before, now, _ in told([a], [b])} == {("", b.text), (a.text, "")}
    there = Said(b.text, a.section)
    assert told([a], [there]) == [(a.text, b.text, a.section)]
    assert len(told([a], [there, there])) == 2


def test_a_changed_sentence_is_told_word_by_word() -> None:
    """What went before what came; joined they are the sentence that was and the one that is, in any script."""
    before, now = "The old slow relay waits 5 s, then stops.", "The new relay waits 7.5 s."
    for one, other in ((before, now), (now, before), ("缓存有16页。", "缓存有32页。"), ("", "x"), ("same", "same")):
        found = pieces(one, other)
        assert "".join(p.text for p in found if p.kind != "added") == one
        assert "".join(p.text for p in found if p.kind != "removed") == other
    assert [(p.kind, p.text) for p in pieces("It holds 16 messages.", "It holds 32 messages.")] == [
        ("same", "It holds "),
        ("removed", "16"),
        ("added", "32"),
        ("same", " messages."),
    ]
