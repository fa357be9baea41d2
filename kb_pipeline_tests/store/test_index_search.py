"""What every index backend must find: words, vectors, scopes, masks, SQL."""

import numpy as np
import pytest

from kb_pipeline.errors import KbError
from kb_pipeline.records import Scope
from kb_pipeline.world import Index
from kb_pipeline_tests.store.backends import ANYWHERE, found, item, near, put, unit


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
        hits = snapshot.nearest(query[None], 20, ANYWHERE)[0]
        assert [name for name, _ in hits] == expected
        assert [score for _, score in hits] == pytest.approx(sorted(cosines.tolist(), reverse=True)[:20], abs=1e-6)
        assert len(snapshot.nearest(query[None], 1000, ANYWHERE)[0]) == 150


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
