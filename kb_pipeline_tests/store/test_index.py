"""What every index backend must do: write, promote, roll back, collect."""

from collections.abc import Callable

import numpy as np
import pytest

from kb_pipeline.errors import NotFound, StoreError
from kb_pipeline.records import Row, Scope
from kb_pipeline.rules.ids import row_hash
from kb_pipeline.world import Index, Vectors
from kb_pipeline_tests.store.backends import ANYWHERE, found, item, near, put, unit


def test_there_is_nothing_before_the_first_generation(index: Index) -> None:
    """An index without generations says so, and a snapshot names the cure."""
    assert (index.live(), index.candidate(), index.generations(), index.pinned()) == (None, None, [], None)
    with pytest.raises(NotFound, match="kb build"), index.snapshot():
        pass
    with pytest.raises(NotFound), index.snapshot("g00000009"):
        pass


def test_an_empty_generation_answers_everything(index: Index) -> None:
    """No row, no error: each question has its empty answer."""
    generation = put(index, [])
    assert index.hashes(generation) == {}
    with index.snapshot() as snapshot:
        assert found(snapshot, "anything") == []
        assert near(snapshot, 1) == []
        assert snapshot.covering({"anything": 1.0}, 5, Scope(docs=("a/b",))) == []
        assert snapshot.idf(["anything"])["anything"] > 0
        assert snapshot.rows(["kb_1"]) == []
        assert (snapshot.passages(["kb_1"]), snapshot.documents(["kb_1"])) == ({}, {})
        assert snapshot.count() == {}
        assert snapshot.sql("SELECT count(*) AS n FROM rows") == (["n"], [(0,)])


def test_a_generation_is_served_once_promoted(index: Index) -> None:
    """Readers see the live generation until another is promoted, whatever was written since."""
    first = put(index, [item("kb_1", "old words")])
    second = index.write(first, [item("kb_1", "new words")], unit(1), [True], [])
    assert (index.live(), index.candidate(), index.generations()) == (first, second, [first, second])
    with index.snapshot() as snapshot:
        assert found(snapshot, "new") == []
        index.promote(second)
        assert [row.text for row in snapshot.rows(["kb_1"])] == ["old words"]
    with index.snapshot() as snapshot:
        assert (snapshot.generation, found(snapshot, "new"), found(snapshot, "old")) == (second, ["kb_1"], [])
    with index.snapshot(first) as snapshot:
        assert found(snapshot, "old") == ["kb_1"]


def test_a_delta_replaces_adds_and_deletes(index: Index) -> None:
    """After a delta each id has one row, its last one, and hashes tell what a next delta must write."""
    filler = [item(f"kb_x{n}", "filler") for n in range(20)]
    rows = [item("kb_1", "alpha"), item("kb_2", "beta"), item("kb_3", "gamma"), *filler]
    base = put(index, rows)
    assert index.hashes(base) == {row.id: (row_hash(row), "notes/a.md") for row in rows}
    changed = [item("kb_2", "delta"), item("kb_4", "first"), item("kb_4", "epsilon", doc="web/b.md")]
    new = put(index, changed, base, ["kb_3", "kb_unknown"])
    assert index.hashes(new) == {
        row.id: (row_hash(row), row.doc_id) for row in (rows[0], changed[0], changed[2], *filler)
    }
    with index.snapshot() as snapshot:
        assert snapshot.count() == {"item": 23}
        assert [row.text for row in snapshot.rows(["kb_4", "kb_3", "kb_2", "kb_1"])] == ["epsilon", "delta", "alpha"]
        assert [found(snapshot, word) for word in ("beta", "gamma", "first")] == [[], [], []]
        assert (
            {"kb_1", "kb_2", "kb_4"}
            < set(near(snapshot, 0, k=50))
            == set(found(snapshot, "alpha delta epsilon filler", k=50))
        )


def test_every_field_of_a_row_returns(index: Index) -> None:
    """What was written is what is read."""
    row = item(
        "kb_1", "текст 检索 a\nb", heading="A > B", title="T", uri="https://x.example/?a=1", source_type="web",
        license="MIT", category="Serving", item_type="metric", status="active", confidence="low", confirmations=7,
        tags=("a", "b"), entities=("E",), quote="q" * 9000, start=3, end=10**10, origins=(), previous="ck_1",
        next="ck_2", effective_date="2026-01-01", updated_at="2026-01-02T00:00:00Z", engine="x",
    )  # fmt: skip
    put(index, [row])
    with index.snapshot() as snapshot:
        assert snapshot.rows(["kb_1"]) == [row]


def test_every_document_is_named(index: Index) -> None:
    """A generation tells which documents its rows name, as theirs, as cited or as an origin, and no masked one."""
    rows = [item("kb_1", "one", doc="a/1", docs=("a/1", "a/2")), item("kb_2", "two", doc="a/3", origins=("a/4",))]
    base = put(index, [*rows, item("kb_3", "three", doc="a/5"), item("kb_4", "four", doc="")])
    put(index, [], base, ["kb_3"])
    with index.snapshot() as snapshot:
        assert snapshot.named() == {"a/1", "a/2", "a/3", "a/4"}
    index.mask(frozenset({"a/1", "a/9"}))
    with index.snapshot() as snapshot:
        assert snapshot.named() == {"a/2", "a/3", "a/4"}


def test_a_rollback_stands_until_the_next_promotion(index: Index) -> None:
    """A pin serves an earlier generation and remembers the candidate it turned down."""
    first = put(index, [item("kb_1", "one")])
    second = put(index, [item("kb_1", "two")], first)
    index.pin(first)
    assert (index.live(), index.pinned(), index.candidate()) == (first, (first, second), second)
    third = index.write(second, [item("kb_1", "three")], unit(1), [True], [])
    assert (index.live(), index.pinned()) == (first, (first, second))
    index.promote(third)
    assert (index.live(), index.pinned()) == (third, None)


def test_old_generations_are_collected(index: Index) -> None:
    """The newest few up to the live one stay, and as many after it; the live and the pinned one always do."""
    names: list[str] = []
    for n in range(5):
        names.append(put(index, [item("kb_1", f"text {n}")], names[-1] if names else None))
    assert index.generations() == names[-3:]
    held = live = names[-1]
    for n in range(5):
        held = index.write(held, [item("kb_1", f"held back {n}")], unit(1), [True], [])
    assert len(index.generations()) == 6
    assert index.live() == live
    oldest = index.generations()[0]
    index.pin(oldest)
    for n in range(4):
        held = index.write(held, [item("kb_1", f"again {n}")], unit(1), [True], [])
    assert oldest in index.generations()


def test_promoting_what_is_not_there_is_refused(index: Index) -> None:
    """Neither promotion nor a pin can lead readers astray."""
    live = put(index, [item("kb_1", "one")])
    for move in (index.promote, index.pin):
        with pytest.raises(NotFound):
            move("g00000077")
    assert index.live() == live


def test_another_embedder_starts_anew(make: Callable[[str], Index]) -> None:
    """Vectors of two embedders never mix: a delta starts from nothing, and a search says what to do."""
    first = put(make("unit-8"), [item("kb_1", "one"), item("kb_2", "two")])
    other = make("other-8")
    assert other.hashes(first) == {}
    with other.snapshot() as snapshot:
        assert found(snapshot, "one") == ["kb_1"]
        with pytest.raises(StoreError, match="unit-8"):
            near(snapshot, 1)
    put(other, [item("kb_1", "one")], first)
    with other.snapshot() as snapshot:
        assert snapshot.count() == {"item": 1}


def test_a_long_life_ends_as_a_fresh_build(index: Index) -> None:
    """After many deltas (so many that parts are merged) an index holds what one made at once holds."""
    chance = np.random.default_rng(5)
    state: dict[str, tuple[Row, Vectors, bool]] = {}
    generation: str | None = None
    for step in range(20):
        names = [f"kb_{n}" for n in chance.choice(60, size=5, replace=False)]
        changed = [item(name, f"word{chance.integers(9)} step{step}", doc=f"d/{name}.md") for name in names]
        vectored = [bool(chance.integers(2)) for _ in changed]
        vectors = unit(*(step * 100 + n for n, wanted in enumerate(vectored) if wanted))
        deletes = [f"kb_{n}" for n in chance.choice(60, size=2) if f"kb_{n}" not in names]
        generation = index.write(generation, changed, vectors, vectored, deletes)
        given = iter(vectors)
        for name in deletes:
            state.pop(name, None)
        state |= {
            row.id: (row, next(given) if wanted else unit(0)[0], wanted)
            for row, wanted in zip(changed, vectored, strict=True)
        }
    held = np.array([vector for _, vector, wanted in state.values() if wanted], np.float32)
    fresh = index.write(
        None, [row for row, _, _ in state.values()], held, [wanted for _, _, wanted in state.values()], []
    )
    assert generation is not None
    assert index.hashes(generation) == index.hashes(fresh)
    with index.snapshot(generation) as old, index.snapshot(fresh) as new:
        assert old.rows(sorted(state)) == new.rows(sorted(state))
        assert old.count() == new.count()
        assert old.nearest(unit(3), 30, ANYWHERE) == new.nearest(unit(3), 30, ANYWHERE)
        for n in range(9):
            assert set(found(old, f"word{n}", k=60)) == set(found(new, f"word{n}", k=60))
        query = "SELECT id, text FROM rows ORDER BY id"
        assert old.sql(query) == new.sql(query)
