"""Rows that are columns: what a backend, or a worker's bytes, must give back as it was."""

import pytest

from kb_pipeline.records import Row
from kb_pipeline.rules.columns import Rows, joined, packed, to_table, unpacked
from kb_pipeline.rules.ids import row_hash

ROWS = [
    Row(id=f"kb_{n}", kind="item", text=f"Statement {n}.", docs=("notes/a.md",) * n, start=n, tags=("a", "b")[:n])
    for n in range(3)
]


def test_rows_are_a_sequence_of_the_rows_that_they_were_made_of() -> None:
    """By place, from behind, by slice and one after the other, equal to the records, hash and all."""
    rows = Rows(to_table(ROWS))
    assert list(rows) == ROWS
    assert (rows[0], rows[-1], len(rows)) == (ROWS[0], ROWS[2], 3)
    assert list(rows[::-1]) == ROWS[::-1]
    assert rows.values("hash") == [row_hash(row) for row in ROWS]
    with pytest.raises(IndexError):
        rows[3]


def test_rows_that_are_columns_already_are_taken_as_they_are() -> None:
    """No record is made of them, whether all of them are wanted or the whole table is."""
    rows = Rows(to_table(ROWS))
    assert to_table(rows) is rows.table
    assert rows.take(range(3)) is rows
    assert list(rows.take([2, 0])) == [ROWS[2], ROWS[0]]


def test_rows_travel_as_bytes() -> None:
    """What was packed apart is one sequence again; nothing packed is nothing."""
    parts = [packed(ROWS[:1]), packed([]), packed(ROWS[1:])]
    assert list(joined(map(unpacked, parts))) == ROWS
    assert list(joined([])) == []
