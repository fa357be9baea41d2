"""Quotes: found verbatim, found as a model hands them back, and never guessed."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kb_pipeline.rules.grounding import folded, locate, proves

TEXT = "The “KV cache” — 13B of it —\n  is paged… by\u00a0‘blocks’.\nThe end.\nThe end."


@pytest.mark.parametrize(
    ("span", "quoted"),
    [
        ("is paged… by", "is paged… by"),
        ("  The end.\n", "The end."),
        ('The "KV cache" - 13B of it - is paged', "The “KV cache” — 13B of it —\n  is paged"),
        ("paged... by 'blocks'.", "paged… by\u00a0‘blocks’."),
        ("paged.", "paged…"),
        ("13B\u200b of it", "13B of it"),
    ],
)
def test_a_quote_is_found_at_exact_offsets(span: str, quoted: str) -> None:
    """Verbatim at its first occurrence, else where marks, dashes and white space aside it stands alone."""
    found = locate(span, TEXT)
    assert found is not None
    assert TEXT[slice(*found)] == quoted
    assert found[0] == TEXT.index(quoted)


@pytest.mark.parametrize("span", ["", " \n", "\u200b", "the end.", "The  end.", "14B of it", "KVcache", "'KV cache'"])
def test_another_quote_is_not_found(span: str) -> None:
    """Blank, of other words, figures or case, or in two places when not verbatim."""
    assert locate(span, TEXT) is None


def test_proof_is_verbatim_and_within_bounds() -> None:
    """Only the exact slice proves a span; a blank one proves nothing."""
    assert proves("abc d", 1, 3, "bc")
    assert not proves("abc d", 0, 3, "bc")
    assert not proves("abc d", -4, 3, "bc")
    assert not proves("abc d", 3, 4, " ")
    assert not proves("abc", 1, 9, "bc")


SIMILAR = st.sampled_from(
    ["'", "‘", "’", '"', "“", "-", "–", "—", " ", "\n", "  ", "\u00a0", "…", "...", "\u200b", "a", "B", "7", "."]
)
SAME = {
    "'": "’",
    "‘": "'",
    "’": "'",
    '"': "”",
    "“": '"',
    "-": "—",
    "–": "-",
    "—": "-",
    " ": "\n ",
    "\n": " ",
    "\u200b": "",
    "…": "...",
}


@given(parts=st.lists(SIMILAR, min_size=1, max_size=40), data=st.data())
def test_a_mangled_slice_is_located_to_its_equal_or_is_in_two_places(parts: list[str], data: st.DataObject) -> None:
    """Whatever a slice suffers in white space and marks, the offsets found quote the same words."""
    text = "".join(parts)
    start = data.draw(st.integers(0, len(text) - 1))
    span = text[start : data.draw(st.integers(start + 1, len(text)))]
    mangled = "".join(SAME.get(c, c) if data.draw(st.booleans()) else c for c in span)
    assume(folded(mangled))
    found = locate(mangled, text)
    if found is None:
        plain = folded(f"|{text}|")
        assert plain.find(folded(mangled)) != plain.rfind(folded(mangled))
    else:
        assert folded(text[slice(*found)]).strip(".") == folded(mangled).strip(".")
        assert proves(text, *found, text[slice(*found)])


@given(text=st.text(max_size=60), data=st.data())
def test_a_verbatim_slice_is_located_verbatim(text: str, data: st.DataObject) -> None:
    """Every slice with a word in it is found, and what is found equals it."""
    start = data.draw(st.integers(0, len(text)))
    span = text[start : data.draw(st.integers(start, len(text)))]
    found = locate(span, text)
    assert (found is None) == (not span.strip())
    if found:
        assert text[slice(*found)] == span.strip()
