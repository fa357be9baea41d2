"""What every index backend must do. A new backend adds a line to ``BACKENDS``."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from kb_pipeline.errors import KbError, NotFound, StoreError
from kb_pipeline.records import Row, Scope
from kb_pipeline.rules.analyser import query_tokens
from kb_pipeline.rules.ids import row_hash
from kb_pipeline.store.index import LocalIndex
from kb_pipeline.world import Index, Snapshot, Vectors

DIM = 8
ANYWHERE = Scope()
BACKENDS: dict[str, Callable[[Path, str], Index]] = {
    "local": lambda folder, embedder: LocalIndex(folder / "index", embedder=embedder, dim=DIM, retained=3),
}


@pytest.fixture(params=BACKENDS)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Index]:
    """Opens the same index for an embedder's name."""
    backend = BACKENDS[request.param]
    return lambda embedder: backend(tmp_path, embedder)


@pytest.fixture
def index(make: Callable[[str], Index]) -> Index:
    """A new index."""
    return make("unit-8")


def item(name: str, text: str, doc: str = "notes/a.md", **fields: object) -> Row:
    """An item row of one document."""
    values: dict[str, object] = {"doc_id": doc, "source_id": doc.partition("/")[0], "docs": (doc,), "origins": (doc,)}
    return Row.model_validate({"id": name, "kind": "item", "text": text, **values, **fields})


def unit(*seeds: int) -> Vectors:
    """One unit vector a seed."""
    vectors = np.empty((len(seeds), DIM), np.float32)
    for vector, seed in zip(vectors, seeds, strict=True):
        drawn = np.random.default_rng(seed).standard_normal(DIM)
        vector[:] = drawn / np.linalg.norm(drawn)
    return vectors


def put(index: Index, rows: Sequence[Row], base: str | None = None, deletes: Sequence[str] = ()) -> str:
    """Write rows with vectors that follow from their place in ``rows``, and promote."""
    generation = index.write(base, rows, unit(*range(len(rows))), [True] * len(rows), deletes)
    index.promote(generation)
    return generation


def found(snapshot: Snapshot, query: str, scope: Scope = ANYWHERE, k: int = 10) -> list[str]:
    """Ids that lexical search finds."""
    return [name for name, _ in snapshot.lexical(query_tokens(query), k, scope)]


def near(snapshot: Snapshot, seed: int, scope: Scope = ANYWHERE, k: int = 10) -> list[str]:
    """Ids that vector search finds."""
    return [name for name, _ in snapshot.vector(unit(seed)[0], k, scope)]


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


def test_words_rank_by_rarity_and_weight(index: Index) -> None:
    """A rarer word counts more, a heavier one too, and equal rows come in the order of their ids."""
    put(index, [item(f"kb_{n}", "common words here") for n in (3, 1, 2)] + [item("kb_9", "common rare here")])
    with index.snapshot() as snapshot:
        assert found(snapshot, "common rare") == ["kb_9", "kb_1", "kb_2", "kb_3"]
        assert [name for name, _ in snapshot.lexical({"rare": 0.001, "word": 9.0}, 4, ANYWHERE)][-1] == "kb_9"
        assert len(found(snapshot, "common", k=2)) == 2
        idf = snapshot.idf(["rare", "common", "absent"])
        assert idf["absent"] > idf["rare"] > idf["common"] > 0


def test_headings_and_titles_are_searched(index: Index) -> None:
    """A row is found by the heading above it and by its document's title."""
    put(index, [item("kb_1", "Set it to 30 s.", heading="Timeouts"), item("kb_2", "Set it.", title="Gateway")])
    with index.snapshot() as snapshot:
        assert found(snapshot, "timeout") == ["kb_1"]
        assert found(snapshot, "gateway") == ["kb_2"]


def test_coverage_sums_what_a_row_holds(index: Index) -> None:
    """A row that holds two tokens comes before one that repeats a single one."""
    put(
        index,
        [item("kb_1", "err_a err_a err_a"), item("kb_2", "a long text on err_a and later err_b"), item("kb_3", "c")],
    )
    with index.snapshot() as snapshot:
        assert snapshot.covering({"err_a": 2.0, "err_b": 3.0}, 5, ANYWHERE) == [("kb_2", 5.0), ("kb_1", 2.0)]


def test_vectors_are_ranked_exactly(index: Index) -> None:
    """The nearest rows by cosine are those of a full scan in float32, rows without a vector left out."""
    rows = [item(f"kb_{n:03}", "x") for n in range(300)]
    vectors, vectored = unit(*range(1000, 1150)), [n % 2 == 1 for n in range(300)]
    index.promote(index.write(None, rows, vectors, vectored, []))
    query = unit(7)[0]
    cosines = vectors @ query
    expected = [f"kb_{2 * n + 1:03}" for n in np.argsort(-cosines)[:20]]
    with index.snapshot() as snapshot:
        hits = snapshot.vector(query, 20, ANYWHERE)
        assert [name for name, _ in hits] == expected
        assert [score for _, score in hits] == pytest.approx(sorted(cosines.tolist(), reverse=True)[:20], abs=1e-6)
        assert len(snapshot.vector(query, 1000, ANYWHERE)) == 150


def test_a_row_stands_in_a_passage(index: Index) -> None:
    """Each row knows the chunk of its first document in which it begins, as long as that is there."""
    rows = [
        item("kb_1", "x", start=0, end=5), item("kb_2", "x", start=99, end=120), item("kb_3", "x", start=100, end=105),
        item("kb_4", "x", start=250, end=260), item("kb_5", "x", doc="web/b.md", start=100, end=101),
        item("ck_1", "x", kind="chunk", start=0, end=100), item("ck_2", "x", kind="chunk", start=100, end=200),
        item("ck_3", "x", kind="chunk", doc="web/c.md", start=0, end=500),
    ]  # fmt: skip
    generation = put(index, rows)
    with index.snapshot() as snapshot:
        assert snapshot.passages([row.id for row in rows]) == {"kb_1": "ck_1", "kb_2": "ck_1", "kb_3": "ck_2"}
    put(index, [], generation, ["ck_1"])
    with index.snapshot() as snapshot:
        assert snapshot.passages([row.id for row in rows]) == {"kb_3": "ck_2"}
    index.mask(frozenset({"notes/a.md"}))
    with index.snapshot() as snapshot:
        assert snapshot.passages([row.id for row in rows]) == {}


def test_a_scope_is_applied_before_ranking(index: Index) -> None:
    """Each restriction holds for words and vectors alike, and the list is filled from within it."""
    rows = [item(f"kb_{n}", "same words", category="A" if n < 8 else "B") for n in range(10)]
    rows.append(item("kb_m", "same words", doc="web/x.md", docs=("notes/a.md", "web/x.md")))
    rows.append(item("ck_1", "same words", kind="chunk", doc="web/y.md"))
    put(index, rows)
    expected = {
        Scope(kinds=("chunk",)): {"ck_1"},
        Scope(categories=("B",)): {"kb_8", "kb_9"},
        Scope(sources=("web",)): {"kb_m", "ck_1"},
        Scope(sources=("web",), kinds=("item", "page")): {"kb_m"},
        Scope(docs=("web/y.md", "no/such.md")): {"ck_1"},
        Scope(docs=("notes/a.md",), categories=("A",)): {f"kb_{n}" for n in range(8)},
        Scope(sources=("nowhere",)): set(),
    }
    with index.snapshot() as snapshot:
        for scope, names in expected.items():
            assert set(found(snapshot, "words", scope, k=max(1, len(names)))) == names
            assert set(near(snapshot, 3, scope, k=max(1, len(names)))) == names
            assert {name for name, _ in snapshot.covering({"same": 1.0}, 12, scope)} == names


def test_masked_documents_are_hidden_everywhere(index: Index) -> None:
    """A row goes when all its origins are masked; others lose the masked documents; all returns with the mask."""
    rows = [
        item("kb_gone", "shared words", doc="web/x.md", category="A"),
        item("kb_kept", "shared words", doc="web/x.md", docs=("notes/a.md", "web/x.md"),
             origins=("web/x.md", "notes/a.md"), quote="as x says", uri="https://x.example", title="X", heading="X"),
        item("kb_borrowed", "shared words", doc="notes/a.md", docs=("notes/a.md", "web/x.md"), origins=("web/x.md",)),
        item("kb_other", "other words", doc="notes/b.md"),
    ]  # fmt: skip
    generation = put(index, rows)
    index.mask(frozenset({"web/x.md"}))
    with index.snapshot() as snapshot:
        assert set(found(snapshot, "words")) == set(near(snapshot, 1)) == {"kb_kept", "kb_other"}
        assert found(snapshot, "words", Scope(docs=("web/x.md",))) == near(snapshot, 1, Scope(sources=("web",))) == []
        assert snapshot.count() == {"item": 2}
        kept = snapshot.rows([row.id for row in rows])[0]
        assert (kept.doc_id, kept.source_id, kept.docs, kept.origins) == (
            "notes/a.md", "notes", ("notes/a.md",), ("notes/a.md",)
        )  # fmt: skip
        assert "x" not in f"{kept.quote}{kept.uri}{kept.title}{kept.heading}".casefold()
        assert snapshot.documents([row.id for row in rows]) == {
            "kb_kept": ("notes/a.md",), "kb_other": ("notes/b.md",)
        }  # fmt: skip
        assert snapshot.sql("SELECT id, docs FROM rows ORDER BY id")[1] == [
            ("kb_kept", ["notes/a.md"]), ("kb_other", ["notes/b.md"])
        ]  # fmt: skip
    assert set(index.hashes(generation)) == {row.id for row in rows}
    newer = index.write(generation, [item("kb_new", "new words", doc="web/x.md")], unit(9), [True], [])
    with index.snapshot(newer) as snapshot:
        assert "kb_new" not in found(snapshot, "words")
    index.mask(frozenset())
    with index.snapshot() as snapshot:
        assert set(found(snapshot, "words")) == {row.id for row in rows}


def test_a_mask_does_not_shorten_a_list(index: Index) -> None:
    """Where the best rows are masked, the list is filled from those that are not."""
    rows = [item(f"kb_{n:03}", "word word word" if n < 90 else "a word", doc=f"d/{n < 90}.md") for n in range(100)]
    put(index, rows)
    index.mask(frozenset({"d/True.md"}))
    with index.snapshot() as snapshot:
        assert len(found(snapshot, "word", k=5)) == len(near(snapshot, 1, k=5)) == 5


def test_sql_reads_live_rows(index: Index) -> None:
    """Replaced and deleted rows are not in the table, and lists are lists."""
    base = put(
        index, [item("kb_1", "a", category="A"), item("kb_2", "b", category="A"), item("kb_3", "c", category="B")]
    )
    put(index, [item("kb_1", "z", category="C")], base, ["kb_2"])
    with index.snapshot() as snapshot:
        names, rows = snapshot.sql("SELECT category, count(*) AS n FROM rows GROUP BY 1 ORDER BY 1")
        assert (names, rows) == (["category", "n"], [("B", 1), ("C", 1)])
        assert snapshot.sql("FROM rows SELECT docs[1] WHERE id = 'kb_1'")[1] == [("notes/a.md",)]
        assert ("docs", "VARCHAR[]") in [row[:2] for row in snapshot.sql("DESCRIBE rows")[1]]


@pytest.mark.parametrize(
    "query",
    [
        "", "SELEC", "SELECT nothing FROM rows", "SELECT 1; SELECT 2", "INSERT INTO rows VALUES (1)", "DROP VIEW rows",
        "CREATE TABLE t (a INT)", "ATTACH '/tmp/x.db'", "COPY rows TO '/tmp/x.csv'", "INSTALL httpfs", "LOAD httpfs",
        "SET memory_limit = '9GB'", "PRAGMA version", "CALL pragma_version()",
        "SELECT * FROM read_text('/etc/passwd')", "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM glob('/*')", "SELECT * FROM range(100000000)",
    ],
)  # fmt: skip
def test_sql_can_only_read_rows(index: Index, query: str) -> None:
    """Anything but one question about the rows is refused with a cure."""
    put(index, [item("kb_1", "a")])
    with index.snapshot() as snapshot, pytest.raises(KbError) as caught:
        snapshot.sql(query)
    assert caught.value.code == "sql"
    assert caught.value.cure


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
        assert old.vector(unit(3)[0], 30, ANYWHERE) == new.vector(unit(3)[0], 30, ANYWHERE)
        for n in range(9):
            assert set(found(old, f"word{n}", k=60)) == set(found(new, f"word{n}", k=60))
        query = "SELECT id, text FROM rows ORDER BY id"
        assert old.sql(query) == new.sql(query)
