"""Which places of one fact are copies of one text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.rules import copies
from kb_pipeline.rules.copies import Standing, texts
from kb_pipeline.rules.ids import digest

QUOTE = "The pool holds 16 blocks."
BEFORE = "Every worker has a pool of its own, which it fills when it starts and gives back when it stops. "
AFTER = " When the pool is empty the worker waits, and a waiting worker is reported after ten seconds by the monitor."
OTHER = "We looked at memory last week with the storage team and wrote down what each component keeps to itself. "


def standing(doc: str, before: str = "", after: str = "", quote: str = QUOTE, heading: str = "") -> Standing:
    passage = before + quote + after
    hashes = digest(doc, passage), digest(passage)
    return Standing(
        doc, *hashes, passage, len(before), len(before) + len(quote), tuple(heading.split(" > ")) if heading else ()
    )


def confirmations(*standings: Standing) -> int:
    return len(set(texts(standings)))


def test_one_place_is_one_text() -> None:
    """A single witness confirms once."""
    assert confirmations(standing("a/x.md")) == 1


def test_the_same_fact_in_texts_of_their_own_is_confirmed_by_each() -> None:
    """A sentence that two documents share, and nothing around it, is two confirmations."""
    assert confirmations(standing("a/x.md", BEFORE, AFTER), standing("b/y.md", OTHER)) == 2
    assert confirmations(standing("a/x.md", BEFORE, AFTER), standing("b/y.md")) == 2


@pytest.mark.parametrize(
    "copy",
    [
        standing("a/x.md", OTHER),
        standing("b/y.md", BEFORE, AFTER),
        standing("b/y.md", BEFORE.replace("worker", "<b>worker</b>").replace("pool", "**pool**"), AFTER),
        standing("b/y.md", "Menu Home Search Imprint " + BEFORE, AFTER + " Was this page helpful? Yes No"),
        standing("b/y.md", BEFORE, AFTER, quote="A pool keeps sixteen blocks."),
        standing("a/x.html", OTHER),
        standing("a/x.pdf"),
    ],
)
def test_a_copy_confirms_nothing(copy: Standing) -> None:
    """One document, an equal passage whatever its markup, a frame around it, a reworded quote in the same surroundings
    and another rendition of the document are one text."""
    assert confirmations(standing("a/x.md", BEFORE, AFTER), copy) == 1


def test_versions_of_one_document_are_one_voice() -> None:
    """What a guide says in every release it says once; a series of minutes speaks anew each time."""
    assert confirmations(standing("d/0.5/guide.md", BEFORE), standing("d/0.6/guide.md", OTHER)) == 1
    assert confirmations(standing("d/minutes-2024-01-05.md", BEFORE), standing("d/minutes-2024-02-05.md", OTHER)) == 2


def test_an_equal_quote_under_equal_headings_is_a_copy() -> None:
    """A sentence under the same headings elsewhere was carried there; under others it need not have been."""
    here = standing("a/x.md", BEFORE, heading="Guide > Pool")
    assert confirmations(here, standing("b/y.md", OTHER, heading="Guide > Pool")) == 1
    assert confirmations(here, standing("b/y.md", OTHER, heading="Notes > Pool")) == 2


def test_files_of_code_that_share_a_name_are_no_renditions() -> None:
    """Only formats that documents are rendered in tell a rendition by its name."""
    assert confirmations(standing("a/pool.py", BEFORE), standing("a/pool.c", OTHER)) == 2


def test_a_copy_of_a_copy_is_one_text() -> None:
    """What two texts share with a third makes them one, though they share nothing with each other."""
    chain = [standing("a/x.md", BEFORE, AFTER), standing("b/y.md", BEFORE, AFTER), standing("b/y.md", OTHER)]
    assert confirmations(*chain) == 1


def test_many_passages_are_compared_by_their_marks_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bound only equal marks count, so that a licence in every file costs nothing."""
    framed = standing("b/y.md", "Menu Home " + BEFORE, AFTER)
    monkeypatch.setattr(copies, "MOST", 1)
    assert confirmations(standing("a/x.md", BEFORE, AFTER), framed) == 2
    assert confirmations(standing("a/x.md", BEFORE, AFTER), standing("b/y.md", BEFORE, AFTER)) == 1


_standings = st.lists(
    st.builds(
        standing,
        st.sampled_from(["a/x.md", "a/x.html", "b/y.md", "c/0.5/z.md", "c/0.6/z.md", "d/w.md", "e/v.md"]),
        st.sampled_from(["", BEFORE, OTHER, "Menu " + BEFORE]),
        st.sampled_from(["", AFTER]),
    ),
    min_size=1,
    max_size=7,
)


@given(standings=_standings, data=st.data())
def test_the_order_of_places_does_not_matter(standings: Any, data: Any) -> None:
    """Any order parts the places into the same texts."""
    order = data.draw(st.permutations(range(len(standings))))
    found, shuffled = texts(standings), texts([standings[at] for at in order])
    for a in range(len(order)):
        for b in range(len(order)):
            assert (shuffled[a] == shuffled[b]) == (found[order[a]] == found[order[b]])


@given(standings=_standings, extra=_standings)
def test_another_source_never_adds_more_than_one_confirmation(standings: Any, extra: Any) -> None:
    """A further place adds one confirmation at most; a place that is there already adds none."""
    known = confirmations(*standings)
    assert confirmations(*standings, extra[0]) <= known + 1
    assert confirmations(*standings, standings[0]) == known
