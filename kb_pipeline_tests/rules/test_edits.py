"""A person's words and the machine's in one item."""

import pytest

from kb_pipeline.records import Citation, Item
from kb_pipeline.rules.edits import overlaid, settled

PROOF = Citation(
    doc_id="notes/a.md",
    uri="a.md",
    source_type="note",
    license="CC0-1.0",
    source_span="A fact.",
    start=0,
    end=7,
    content_hash="h",
    version="v1",
    fetched_at="2026-01-01T00:00:00Z",
)
MACHINE = Item(id="kb_1", statement="A fact.", tags=("one",), sources=(PROOF,))
MOVED = MACHINE.model_copy(update={"sources": (PROOF.model_copy(update={"start": 9, "end": 16, "version": "v2"}),)})


def edited(item: Item, **changes: object) -> Item:
    return item.model_copy(update=changes)


def test_a_persons_words_stay_and_proofs_follow_the_document() -> None:
    """What was changed is the person's from then on; all else is the machine's as it is now."""
    first = overlaid(edited(MACHINE, statement="A better fact."), MACHINE, fresh=True)
    assert (first.statement, set(first.edited)) == ("A better fact.", {"statement"})
    later = overlaid(first, edited(MOVED, tags=("two",)), fresh=False)
    assert (later.statement, later.tags, later.sources) == ("A better fact.", ("two",), MOVED.sources)


def test_a_changed_quote_is_the_documents_again() -> None:
    """Nobody's edit can make a quote stand where it does not."""
    forged = edited(MACHINE, sources=(PROOF.model_copy(update={"source_span": "Another fact."}),), status="superseded")
    assert overlaid(forged, MACHINE, fresh=True) == MACHINE


def test_a_second_edit_joins_the_first() -> None:
    """Each fresh edit adds its fields; a field set back to the machine's words follows the machine again."""
    first = overlaid(edited(MACHINE, statement="A better fact."), MACHINE, fresh=True)
    second = overlaid(edited(first, tags=("mine",)), MACHINE, fresh=True)
    assert (second.statement, second.tags, set(second.edited)) == ("A better fact.", ("mine",), {"statement", "tags"})
    back = overlaid(edited(second, statement="A fact."), MACHINE, fresh=True)
    assert set(back.edited) == {"tags"}


def test_a_later_change_of_the_machine_clashes_until_it_is_settled() -> None:
    """What the machine says now stands beside the person's words, which stay; either may be taken."""
    newer = edited(MACHINE, statement="A newer fact.")
    first = overlaid(edited(MACHINE, statement="A better fact."), MACHINE, fresh=True)
    assert first.clashes == {}
    later = overlaid(first, newer, fresh=False)
    assert (later.statement, later.clashes) == ("A better fact.", {"statement": "A newer fact."})
    assert overlaid(later, newer, fresh=False) == later
    mine = overlaid(settled(later, "statement", "mine"), newer, fresh=True)
    assert (mine.statement, mine.clashes, set(mine.edited)) == ("A better fact.", {}, {"statement"})
    assert overlaid(settled(later, "statement", "machine"), newer, fresh=True) == newer
    assert overlaid(later, MACHINE, fresh=False) == first
    with pytest.raises(KeyError):
        settled(mine, "statement", "mine")


def test_a_persons_field_stays_so_while_the_machine_says_the_same() -> None:
    """The machine comes to agree and changes its mind again: the words are the person's all along."""
    first = overlaid(edited(MACHINE, tags=("mine",)), MACHINE, fresh=True)
    agreed = overlaid(first, edited(MACHINE, tags=("mine",)), fresh=False)
    assert (agreed.clashes, set(agreed.edited)) == ({}, {"tags"})
    assert overlaid(agreed, MACHINE, fresh=False) == first
    assert overlaid(agreed, edited(MACHINE, tags=("three",)), fresh=False).tags == ("mine",)


def test_what_the_machine_changed_meanwhile_is_no_persons_edit() -> None:
    """Between two builds a person changes a tag and the documents a detail: the detail follows the documents."""
    both = edited(MACHINE, detail="More.", entities=("B",))
    found = overlaid(edited(MACHINE, tags=("mine",)), both, fresh=True, written=MACHINE.__eq__)
    assert (found.tags, found.detail, set(found.edited)) == (("mine",), "More.", {"tags"})
    unknown = overlaid(edited(MACHINE, tags=("mine",)), both, fresh=True)
    assert set(unknown.edited) == {"tags", "detail", "entities"}


def test_an_item_retired_by_hand_stays_so_while_it_is_superseded_and_after() -> None:
    """The machine's word on its status comes and goes; the person's stays."""
    first = overlaid(edited(MACHINE, status="retired"), MACHINE, fresh=True)
    again = overlaid(first, edited(MACHINE, status="superseded"), fresh=False)
    assert overlaid(again, MACHINE, fresh=False).status == "retired"


@pytest.mark.parametrize(("machine", "expected"), [("active", "retired"), ("superseded", "superseded")])
def test_a_person_may_retire_what_is_active(machine: str, expected: str) -> None:
    """Retired by hand stays retired while documents state it; superseded is superseded all the same."""
    by_hand = edited(MACHINE, status="retired")
    assert overlaid(by_hand, edited(MACHINE, status=machine), fresh=True).status == expected


def test_a_retired_item_remembers_whose_words_it_holds() -> None:
    """When its document returns, a person's words return with it, edited long before or in the same moment."""
    first = overlaid(edited(MACHINE, statement="A better fact."), MACHINE, fresh=True)
    for person, fresh in ((first, False), (edited(MACHINE, statement="A better fact."), True)):
        retired = overlaid(person, edited(person, status="retired"), fresh=fresh)
        assert retired.status == "retired"
        assert fresh or retired.edited == first.edited  # nobody edited it, and nothing says so
        returned = overlaid(retired, MOVED, fresh=False)
        assert (returned.statement, returned.status, returned.sources) == ("A better fact.", "active", MOVED.sources)
