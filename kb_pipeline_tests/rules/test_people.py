"""What people decided, for the drafts that there are."""

from datetime import UTC, datetime
from typing import Any

import pytest

from kb_pipeline.records import HumanDecision
from kb_pipeline.rules import people
from kb_pipeline.rules.ids import item_id

A, B, C, D = (letter * 32 for letter in "abcd")


def line(action: Any, left: tuple[str, ...], right: Any = (), at: int = 1, items: Any = ()) -> HumanDecision:
    return HumanDecision(at=f"2026-01-01T00:00:0{at}.000000Z", action=action, items=items, left=left, right=right)


def test_a_decision_holds_for_every_pair_across() -> None:
    """Each draft of one side with each of the other, as far as they are there; the later decision on a pair counts."""
    lines = [line("keep", (A, B), (C, D)), line("merge", (B,), (C,), at=2)]
    found = people.pairs(lines, {A, B, C})
    assert {key: d.decision for key, d in found.items()} == {(A, C): "keep_both", (B, C): "merge"}
    assert people.pairs(reversed(lines), {A, B, C}) == found


@pytest.mark.parametrize(("left", "right", "newer"), [(A, B, "a"), (B, A, "b")])
def test_the_left_side_replaces_the_right_one(left: str, right: str, newer: str) -> None:
    """Whichever hash is smaller."""
    (decision,) = people.pairs([line("supersede", (left,), (right,))], {A, B}).values()
    assert (decision.decision, decision.newer, decision.by) == ("supersede", newer, "human")


def test_a_group_is_set_aside_for_any_of_its_drafts() -> None:
    """By the draft, or by the id that was made from it; hidden before retired; what was kept later is back."""
    lines = [line("retire", (A,)), line("hide", (), items=(item_id(B),)), line("hide", (C,)), line("keep", (C,), at=2)]
    assert people.set_aside(lines, [(A, D), (A, B), (C,), (D,)]) == {0: "retired", 1: "hidden"}
    assert people.seen(lines) == {C}
    assert people.set_aside([], [(A,)]) == {}


def test_a_decision_comes_after_every_other() -> None:
    """Also on a clock that stands still, or was set back."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    first = people.after([], now)
    known = [line("keep", (A,)).model_copy(update={"at": first})]
    assert people.after(known, now) > first
    assert people.after([line("keep", (A,), at=9)], now) > "2026-01-01T00:00:09.000000Z"
