"""Search over a small index with the hashing embedder: what comes first, what is refused."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from kb_pipeline.errors import KbError, NotFound
from kb_pipeline.query.search import HITS, documents, ranked_by_each, search
from kb_pipeline.records import Row, Scope
from kb_pipeline.services.embedder import open_embedder
from kb_pipeline.settings import Options, Settings
from kb_pipeline.store.index import LocalIndex
from kb_pipeline.world import World
from kb_pipeline_tests.fakes import reading_world

EMBEDDER = open_embedder("hashing")
Make = Callable[[Sequence[Row]], World]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Makes a world whose live generation holds the given rows; items have vectors, chunks none."""

    def made(rows: Sequence[Row]) -> World:
        index = LocalIndex(tmp_path, embedder=EMBEDDER.name, dim=EMBEDDER.dim)
        vectored = [row.kind != "chunk" for row in rows]
        vectors = EMBEDDER.embed([row.text for row in rows if row.kind != "chunk"])
        index.promote(index.write(index.candidate(), rows, vectors, vectored, []))
        return reading_world(index, EMBEDDER)

    return made


def row(name: str, text: str, doc: str = "notes/a.md", **fields: object) -> Row:
    """An item at the start of a document, unless told otherwise."""
    values: dict[str, object] = {"doc_id": doc, "source_id": "notes", "docs": (doc,), "origins": (doc,), "end": 1}
    return Row.model_validate({"id": name, "kind": "item", "text": text, **values, **fields})


def ids(world: World, query: str, **options: object) -> list[str]:
    """Ids of the hits, best first."""
    return [hit.id for hit in search(query, world, **options).hits]  # type: ignore[arg-type]


DECOYS = [
    "The connection was reset by the peer and an error was logged.",
    "Set the maximum sequence length in the configuration file.",
    "The server refuses connections when all workers are busy.",
    "An illegal value was given for the memory of the access layer.",
    "Errors of the CUDA runtime are reported asynchronously.",
    "Pass the model name and the maximum length as flags.",
    "Hosts in the west region of the example network are slower.",
    "Version 1.13 introduced batching; version 1.14 made it faster.",
    "The A100 has 40 GB or 80 GB of memory.",
    "Requests above the limit are answered with an error status.",
]
PASTED = {
    "ERR_CONN_RESET": "Retry when the client reports ERR_CONN_RESET during a long poll.",
    "ERR_CONN_RESET when polling": "Retry when the client reports ERR_CONN_RESET during a long request.",
    "--max-model-len": "Start with --max-model-len 8192 when prompts are long.",
    "--max-model-len=4096": "Start with --max-model-len 8192 when prompts are long.",
    "api.eu-west-1.example": "Traffic enters at https://api.eu-west-1.example:8443/v1 and is spread from there.",
    "eu-west-1": "Traffic enters at https://api.eu-west-1.example:8443/v1 and is spread from there.",
    "v1.13.28": "The leak was fixed in v1.13.28 of the scheduler.",
    "A100-40GB": "The quantised weights fit one A100-40GB with room for the cache.",
    "13B": "The 13B checkpoint needs two cards.",
    "429": "Back off when the gateway answers 429.",
    "max_seq_len": "max_seq_len must not exceed the trained length.",
    "CUDA error: an illegal memory access was encountered": (
        "CUDA error: an illegal memory access was encountered means that a kernel wrote out of bounds."
    ),
    "/etc/kb/config.yaml": "Limits are read from /etc/kb/config.yaml at start.",
    "检索": "我们使用混合检索系统来回答问题。",
    "cafe": "Le café ouvre à huit heures.",
}


@pytest.mark.parametrize("query", PASTED)
def test_what_is_pasted_comes_first(make: Make, query: str) -> None:
    """An error string, flag, host name or version finds the row that holds it, before all that are merely alike."""
    decoys = [row(f"kb_d{n}", text, doc=f"notes/{n}.md") for n, text in enumerate(DECOYS)]
    assert ids(make([*decoys, row("kb_right", PASTED[query])]), query)[0] == "kb_right"


def test_meaning_finds_what_shares_no_word(make: Make) -> None:
    """A row without any token of the query is found by its vector alone."""
    world = make([row("kb_1", "Tokenization splits texts."), row("kb_2", "Paged memory avoids fragmentation.")])
    (first, _) = search("tokenizer", world).hits
    assert (first.id, "meaning" in first.lists) == ("kb_1", True)


@pytest.mark.parametrize("query", ["", "   ", "\n\t"])
def test_an_empty_query_is_wrong_usage(make: Make, query: str) -> None:
    """There is nothing to search for without a character."""
    world = make([row("kb_1", "one")])
    for ask in (search, documents):
        with pytest.raises(KbError) as caught:
            ask(query, world)
        assert caught.value.code == "usage"


@pytest.mark.parametrize("query", ["429", "???", "=>", "-", "🙂", 'AND OR NOT ( " * :'])
def test_any_other_query_is_answered(make: Make, query: str) -> None:
    """Numbers, marks and what other engines read as syntax are plain text."""
    world = make([row("kb_1", "Back off at 429."), row("kb_2", "Nothing.")])
    assert set(ids(world, query)) <= {"kb_1", "kb_2"}


def test_without_an_index_there_is_an_error(tmp_path: Path) -> None:
    """Nothing built is not the same as nothing found."""
    world = reading_world(LocalIndex(tmp_path, embedder=EMBEDDER.name, dim=EMBEDDER.dim), EMBEDDER)
    with pytest.raises(NotFound, match="kb build"):
        search("anything", world)


def test_an_empty_index_finds_nothing(make: Make) -> None:
    """An index without rows answers with no hits."""
    world = make([])
    assert search("anything at all_codes 429", world).hits == ()
    assert documents("anything", world) == []


def test_hits_tell_where_they_come_from(make: Make) -> None:
    """A hit carries its quote, its place, its documents and its rank in each list."""
    given = row("kb_1", "Paged memory avoids gaps.", uri="file:a", quote="paged memory", start=3, end=9, category="M")
    (hit,) = search("paged memory gaps", make([given])).hits
    assert (hit.uri, hit.quote, hit.start, hit.end, hit.category, hit.docs) == (
        "file:a", "paged memory", 3, 9, "M", ("notes/a.md",)
    )  # fmt: skip
    assert hit.lists == {"words": 1, "meaning": 1}


def test_a_passage_lifts_its_items(make: Make) -> None:
    """Of two equal items, that whose passage speaks of the query comes first, and the passage is no hit beside it."""
    rows = [
        row("kb_a", "It defaults to 30 seconds.", doc="notes/a.md", start=10, end=30),
        row("kb_b", "It defaults to 20 seconds.", doc="notes/b.md", start=10, end=30),
        row("ck_a", "The gateway timeout. It defaults to 30 seconds.", doc="notes/a.md", kind="chunk", end=40),
        row("ck_b", "The polling interval. It defaults to 20 seconds.", doc="notes/b.md", kind="chunk", end=40),
    ]
    world = make(rows)
    assert ids(world, "seconds of the gateway timeout")[:2] == ["kb_a", "kb_b"]
    assert ids(world, "seconds of the polling interval")[:2] == ["kb_b", "kb_a"]


def test_a_passage_without_items_is_a_hit(make: Make) -> None:
    """What no item covers is found as a passage, unless only items are asked for."""
    rows = [
        row("kb_1", "Something else."),
        row("ck_1", "def frobnicate(): ...", kind="chunk", doc="notes/b.md", end=20),
    ]
    world = make(rows)
    assert ids(world, "frobnicate")[0] == "ck_1"
    assert ids(world, "frobnicate", scope=Scope(kinds=("item",))) == ["kb_1"]
    assert ids(world, "frobnicate", scope=Scope(kinds=("chunk",))) == ["ck_1"]


def test_scope_restricts_hits(make: Make) -> None:
    """Source, category and document restrict what is found."""
    rows = [
        row("kb_1", "shared words", category="A"),
        row("kb_2", "shared words two", category="B", doc="web/b.md"),
        row("ck_2", "shared words two and more", kind="chunk", doc="web/b.md", end=9),
    ]
    world = make(rows)
    assert ids(world, "shared words", scope=Scope(sources=("web",))) == ["kb_2"]
    assert ids(world, "shared words", scope=Scope(categories=("A",))) == ["kb_1"]
    assert ids(world, "shared words", scope=Scope(docs=("notes/a.md",))) == ["kb_1"]


def test_newer_wins_a_tie(make: Make) -> None:
    """Of rows that nothing else tells apart, the newer comes first."""
    rows = [
        row(f"kb_{day}", "The limit is ten.", doc=f"notes/{day}.md", heading=day, effective_date=f"2026-01-{day}")
        for day in ("02", "09", "05")
    ]
    world = make(
        [given.model_copy(update={"heading": "", "text": "The limit is ten" + "." * n}) for n, given in enumerate(rows)]
    )
    assert ids(world, "limit is ten", ranking=replace(HITS, weights={**HITS.weights, "meaning": 0.0})) == [
        "kb_09", "kb_05", "kb_02"
    ]  # fmt: skip


def test_more_confirmations_win_a_tie_before_age(make: Make) -> None:
    """Of rows with equal scores those that more independent texts state come first, of these the newer."""
    rows = [
        row("kb_new", "The limit is ten", effective_date="2026-01-09"),
        row("kb_old", "The limit is ten.", effective_date="2026-01-02", doc="notes/b.md", confirmations=3),
        row("kb_mid", "The limit is ten..", effective_date="2026-01-05", doc="notes/c.md", confirmations=3),
    ]
    ranking = replace(HITS, weights={**HITS.weights, "meaning": 0.0})
    assert ids(make(rows), "limit is ten", ranking=ranking) == ["kb_mid", "kb_old", "kb_new"]


def test_copies_are_one_hit(make: Make) -> None:
    """One text under one heading is shown once, however many documents hold it."""
    rows = [row(f"ck_{n}", "the same licence text", kind="chunk", doc=f"notes/{n}.md") for n in range(5)]
    assert len(ids(make(rows), "licence text")) == 1


def test_no_document_fills_the_list_alone(make: Make) -> None:
    """Beyond so many hits of one document those of others come first, but nothing is lost where there are none."""
    rows = [row(f"kb_a{n}", f"cache policy number {n} of the cache") for n in range(9)]
    rows += [row("kb_b", "The cache of another document.", doc="notes/b.md")]
    world = make(rows)
    assert ids(world, "cache policy")[5] == "kb_b"
    assert ids(world, "cache policy", k=3, ranking=replace(HITS, per_document=2))[2] == "kb_b"
    assert len(ids(world, "cache policy", scope=Scope(docs=("notes/a.md",)))) == 9


def test_as_many_hits_as_asked_for(make: Make) -> None:
    """A long list is as long as it was asked for, where there are so many rows."""
    rows = [row(f"kb_{n:03}", f"word number {n}", doc=f"notes/{n}.md") for n in range(300)]
    assert len(set(ids(make(rows), "word", k=250))) == 250


def test_documents_count_their_best_rows(make: Make) -> None:
    """A document ranks by its best item and its best passage, a merged item for each document it cites."""
    rows = [
        row("kb_a", "Paged attention stores keys in blocks.", doc="notes/a.md"),
        row("ck_a", "Paged attention stores keys in blocks. It is fast.", kind="chunk", doc="notes/a.md", end=60),
        row("kb_b", "Blocks of flats are tall.", doc="notes/b.md", docs=("notes/b.md", "web/c.md")),
    ]
    found = documents("paged attention blocks", make(rows))
    assert [name for name, _ in found] == ["notes/a.md", "notes/b.md", "web/c.md"]
    assert found[0][1] > found[1][1] == found[2][1]


@pytest.mark.parametrize("method", ["convex", "rrf"])
def test_both_methods_rank_the_evident_first(make: Make, method: str) -> None:
    """What every list ranks first is first, whichever way lists are fused."""
    rows = [row(f"kb_{n}", text, doc=f"notes/{n}.md") for n, text in enumerate(DECOYS)]
    world = make([*rows, row("kb_right", "Continuous batching raises throughput of the decoder.")])
    assert ids(world, "continuous batching throughput", ranking=replace(HITS, method=method))[0] == "kb_right"


def test_equal_queries_give_equal_hits(make: Make) -> None:
    """A search has no memory and no chance in it."""
    world = make([row(f"kb_{n}", text, doc=f"notes/{n}.md") for n, text in enumerate(DECOYS)])
    assert search("error of the server", world).hits == search("error of the server", world).hits


@pytest.mark.parametrize("kinds", [(), ("item",), ("chunk",)])
def test_queries_asked_together_find_what_each_finds(make: Make, kinds: tuple[str, ...]) -> None:
    """Many at once, of every kind and with copies among them, find what one by one finds, in the same order."""
    texts = [*DECOYS, *PASTED.values()]
    items = [row(f"kb_{n}", text, doc=f"notes/{n}.md") for n, text in enumerate(texts)]
    chunks = [row(f"ck_{n}", text * 2, doc=f"notes/{n}.md", kind="chunk", end=9) for n, text in enumerate(texts)]
    world, scope = make([*items, *chunks]), Scope(kinds=kinds)
    queries = [*PASTED, "???", *texts, *PASTED]
    with world.index.snapshot() as snapshot:
        together = list(ranked_by_each(queries, world, snapshot, scope=scope, k=5))
    assert together == [[hit.id for hit in search(query, world, scope=scope, k=5).hits] for query in queries]


# --- reread, explained, bounded --------------------------------------------------------------------------------------


def ranked_by(world: World, way: str) -> World:
    """``world`` with another ``rerank``."""
    return replace(world, settings=Settings(Path(), options=Options.model_validate({"rerank": way})))


def test_a_hit_tells_why_it_stands_there(make: Make) -> None:
    """Its share of each list adds up to its fused score; what moved it, its age and who reread it stand beside."""
    rows = [row("kb_1", "Paged memory avoids gaps."), row("kb_2", "Memory is paged, gaps and all, memory paged.")]
    world = make(rows)
    first, second = search("paged memory gaps", world, explain=True).hits
    for hit in (first, second):
        assert hit.explanation is not None
        assert sum(hit.explanation.added.values()) == pytest.approx(hit.score, abs=1e-3)
        assert hit.explanation.added.keys() == hit.explanation.weights.keys()
        assert hit.explanation.reranked_by == "heuristic"
        assert 0 < hit.explanation.decay <= 1
    assert search("paged memory gaps", world).hits[0].explanation is None
    unread = search("paged memory gaps", ranked_by(world, "off"), explain=True).hits[0]
    assert unread.explanation is not None
    assert unread.explanation.rerank is None


def test_rereading_says_whom_it_moved(make: Make) -> None:
    """Of an order that fusion and rereading do not share, each hit that moved says from where to where."""
    long = "The limit of the relay is told elsewhere, the relay, the relay, limit, relay limit and relay."
    world = make([row("kb_1", long, doc="notes/a.md"), row("kb_2", "The relay limit is ten.", doc="notes/b.md")])
    before = ids(ranked_by(world, "off"), "relay limit ten")
    hits = search("relay limit ten", world, explain=True).hits
    for hit in hits:
        moved = before.index(hit.id) != [h.id for h in hits].index(hit.id)
        assert hit.explanation is not None
        assert moved == hit.explanation.why.startswith("from ")


def test_what_is_mostly_pasted_is_outranked_by_no_likeness(make: Make) -> None:
    """In a question about an error code the row that holds the code comes before rows that hold all other words."""
    decoys = [row(f"kb_d{n}", f"What an error of kind {n} means and how to fix it.", doc=f"d/{n}.md") for n in range(9)]
    world = make([*decoys, row("kb_right", "Restart after ERR_KV_EXHAUSTED.")])
    (first, *_) = search("what does the error ERR_KV_EXHAUSTED mean", world, explain=True).hits
    assert first.id == "kb_right"
    assert first.explanation is not None
    assert first.explanation.why.startswith("holds what was pasted")


def test_age_breaks_ties_by_the_kind_of_source(make: Make) -> None:
    """A chat of last year is staler than a paper of the year before; a half-life of one's own changes that."""
    rows = [
        row("kb_chat", "The limit is ten.", doc="a/1.md", source_type="chat", effective_date="2025-01-01"),
        row("kb_paper", "The limit is ten..", doc="a/2.md", source_type="paper", effective_date="2024-01-01"),
    ]
    words = replace(HITS, weights={**HITS.weights, "meaning": 0.0})
    world = ranked_by(make(rows), "off")
    assert ids(world, "limit is ten", ranking=words) == ["kb_paper", "kb_chat"]
    options = Options.model_validate({"rerank": "off", "half_lives": {"chat": 99999}})
    assert (
        ids(replace(world, settings=Settings(Path(), options=options)), "limit is ten", ranking=words)[0] == "kb_chat"
    )


def test_neighbours_stand_beside_the_winners(make: Make) -> None:
    """A hit brings the passages before and after the one it stands in, where they are asked for."""
    chunks = [
        row("ck_1", "# One", kind="chunk", start=0, end=9, next="ck_2", quote="# One"),
        row("ck_2", "The limit is ten.", kind="chunk", start=10, end=29, previous="ck_1", next="ck_3", quote="x"),
        row("ck_3", "Then it ends.", kind="chunk", start=30, end=49, previous="ck_2", quote="Then it ends."),
    ]
    world = make([*chunks, row("kb_1", "The limit is ten.", start=12, end=20)])
    (hit, *_) = search("limit ten", world, neighbours=True).hits
    assert (hit.id, hit.before, hit.after) == ("kb_1", "# One", "Then it ends.")
    assert search("limit ten", world).hits[0].before == ""


def test_tags_days_and_status_bound_a_search(make: Make) -> None:
    """Only rows that bear a tag, are from a span of days, or have a status are hits; others do not count at all."""
    rows = [
        row("kb_1", "The limit is ten.", tags=("limit", "gateway"), effective_date="2026-01-05"),
        row("kb_2", "The limit was nine.", tags=("limit",), updated_at="2025-06-01T10:00:00Z", status="superseded"),
    ]
    world = make(rows)
    assert ids(world, "limit", scope=Scope(tags=("gateway", "none"))) == ["kb_1"]
    assert ids(world, "limit", scope=Scope(since="2026-01-05")) == ["kb_1"]
    assert ids(world, "limit", scope=Scope(until="2025-06-01")) == ["kb_2"]
    assert ids(world, "limit", scope=Scope(since="2025-06-02", until="2026-01-04")) == []
    assert ids(world, "limit", scope=Scope(statuses=("superseded",))) == ["kb_2"]
