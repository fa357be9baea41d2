"""What happened between two publications, and undoing it: a story is enough to tell every state that was."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.records import Cause, Citation, Cluster, DedupDecision, Event, Item, Occurrence
from kb_pipeline.rules.history import NO_CAUSE, Turn, as_of, events, explained, moment, with_quotes


def cited(doc: str, words: str = "words", start: int = 0) -> Citation:
    end, empty = start + len(words), {"uri": "", "license": "", "content_hash": "", "version": "", "fetched_at": ""}
    return Citation(doc_id=doc, source_type="note", source_span=words, start=start, end=end, **empty)


def item(**fields: Any) -> Item:
    given = {"id": "kb_1", "statement": "words", "created_at": "2026-01-01T00:00:00Z", "sources": (cited("n/a.md"),)}
    return Item.model_validate({**given, **fields})


def step(before: Item | None, now: Item | None, past: Sequence[Event] = (), cause: Cause = NO_CAUSE) -> list[Event]:
    return events(Turn(before, now, now), past, cause, "2026-01-02T00:00:00Z", "run")


CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "superseded": ({}, {"status": "superseded", "superseded_by": "kb_2"}, ["superseded"]),
    "revived": ({"status": "superseded", "superseded_by": "kb_2"}, {}, ["revived"]),
    "retired": ({}, {"status": "retired", "valid_to": "2026-01-02T00:00:00Z"}, ["retired"]),
    "returned": ({"status": "retired"}, {}, ["returned"]),
    "filed anew": ({}, {"primary_category": "B"}, ["recategorised"]),
    "a copy comes": ({}, {"sources": (cited("n/a.md"), cited("n/b.md"))}, ["sources"]),
    "another wording comes": ({}, {"sources": (cited("n/a.md"), cited("n/b.md", "other words"))}, ["merged"]),
    "another item comes": ({}, {"aliases": ("kb_2",)}, ["merged"]),
    "tags": ({"tags": ("a",)}, {"tags": ("a", "b"), "confirmations": 2}, ["changed"]),
    "a move": ({}, {"sources": (cited("n/a.md", start=7),), "updated_at": "2026-01-02T00:00:00Z"}, []),
    "several": (
        {},
        {"status": "retired", "primary_category": "B", "detail": "d"},
        ["retired", "recategorised", "changed"],
    ),
}


@pytest.mark.parametrize(("before", "after", "kinds"), CHANGES.values(), ids=CHANGES)
def test_a_change_makes_its_events(before: dict[str, Any], after: dict[str, Any], kinds: list[str]) -> None:
    """Each kind of change is one event, moves of a quote are none, and undoing them gives what was."""
    old, new = item(**before), item(**after)
    told = step(old, new)
    assert [event.kind for event in told] == kinds
    assert bare(as_of(new, told, moment("2026-01-01"))) == bare(old)


def bare(found: Item | None) -> dict[str, Any] | None:
    """An item as far as its story tells of it: offsets, versions and dates aside."""
    if found is None:
        return None
    proofs = sorted((c.doc_id, c.source_span) for c in found.sources)
    return {**found.model_dump(exclude={"sources", "content_hash", "updated_at", "created_at"}), "sources": proofs}


def test_one_that_is_merged_away_is_kept_whole() -> None:
    """What left with its file is in its last event, with the item it went to."""
    before = item(statement="all that it was")
    (event,) = step(before, None, cause=Cause(others=("kb_2",)))
    assert (event.kind, event.others, event.cause) == ("absorbed", ("kb_2",), "merged into kb_2")
    assert as_of(None, [event], moment("2026-01-01")) == before
    assert as_of(None, [event], moment("2026-01-03")) is None


def test_a_persons_words_are_told_from_the_machines() -> None:
    """The file holds the person's words already: what they replaced is what the machine says."""
    said = item(statement="the machine's")
    file, now = item(statement="mine"), item(statement="mine", edited={"statement": "hash"})
    (event,) = events(Turn(file, said, now), (), NO_CAUSE, "2026-01-02T00:00:00Z", "run")
    assert (event.kind, event.by, event.before["statement"]) == ("edited", "person", "the machine's")
    assert event.after == {"statement": "mine"}


def test_a_clock_that_is_set_back_changes_no_order() -> None:
    """Events are never dated before those that they follow."""
    past = step(None, item())
    (later,) = events(Turn(item(), item(), item(detail="d")), past, NO_CAUSE, "2025-01-01T00:00:00Z", "run")
    assert later.at == past[-1].at


def test_an_item_older_than_its_history_has_a_beginning() -> None:
    """Its story begins with a birth on the day that its file tells."""
    story = with_quotes(item(detail="d"), step(item(), item(detail="d")))
    assert [(event.kind, event.cause) for event in story] == [
        ("born", "before its history was kept"),
        ("changed", "detail"),
    ]


def test_causes_come_from_decisions_and_documents() -> None:
    """A supersession has its decision's reason, a retirement the documents that went, a merger its heir."""
    older, newer, both = cluster("kb_1", "a", superseded_by="kb_2"), cluster("kb_2", "b"), cluster("kb_3", "c", "d")
    lines = [decision("a", "b", "supersede", newer="b", reason="version 2"), decision("c", "d", "merge", reason="same")]
    gone = item(id="kb_4", sources=(cited("n/gone.md"), cited("n/silent.md")))
    causes = explained([older, newer, both], lines, [gone], frozenset({"n/silent.md"}), {"kb_5": "kb_3"})
    assert {name: (cause.reason, cause.others) for name, cause in causes.items()} == {
        "kb_1": ("version 2", ("kb_2",)),
        "kb_3": ("same", ()),
        "kb_4": ("n/gone.md is gone; n/silent.md states it no longer", ()),
        "kb_5": ("", ("kb_3",)),
    }


def cluster(name: str, *drafts: str, superseded_by: str | None = None) -> Cluster:
    places = tuple(Occurrence(draft=draft, text_key="", doc_id="n/a.md", chunk_hash="") for draft in drafts)
    return Cluster(id=name, occurrences=places, superseded_by=superseded_by)


def decision(a: str, b: str, decided: Any, *, newer: Any = None, reason: str) -> DedupDecision:
    return DedupDecision(a=a, b=b, cosine=1.0, ratio=1.0, decision=decided, newer=newer, reason=reason)


WORDS = st.sampled_from(["one", "two", "three"])
STATES = st.none() | st.builds(
    item,
    statement=WORDS,
    detail=WORDS,
    status=st.sampled_from(["active", "retired"]),
    primary_category=WORDS,
    tags=st.lists(WORDS, max_size=2, unique=True).map(tuple),
    aliases=st.lists(WORDS, max_size=2, unique=True).map(tuple),
    sources=st.lists(st.builds(cited, WORDS, WORDS), min_size=1, max_size=3, unique=True).map(tuple),
)


@given(st.lists(STATES, min_size=1, max_size=8))
def test_every_state_that_was_can_be_told(states: list[Item | None]) -> None:
    """Whatever becomes of an item, as of each day it is what was published on that day."""
    told: list[Event] = []
    before: Item | None = None
    for day, now in enumerate(states, start=1):
        at = f"2026-02-{day:02}T12:00:00Z"
        told += events(Turn(before, now, now), told, Cause(others=("kb_2",)), at, "run")
        before = now
    for day, state in enumerate(states, start=1):
        assert bare(as_of(before, told, moment(f"2026-02-{day:02}"))) == bare(state)
