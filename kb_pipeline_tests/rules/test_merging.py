"""The fields of an item from the drafts of its cluster."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.records import Chunk, Cluster, Draft, Meta, Occurrence
from kb_pipeline.rules.ids import digest, draft_hash
from kb_pipeline.rules.merging import Witness, merge


def witness(
    statement: str, doc: str = "a/x.md", text: str = "", chunk: str = "", date: str | None = None, **fields: Any
) -> Witness:
    """A draft that is the whole of a chunk which starts at 100; documents and chunks differ unless named alike."""
    draft = Draft(
        **{
            "hash": draft_hash(statement, fields.get("context")),
            "statement": statement,
            "source_span": statement,
            "start": 0,
            "end": len(statement),
            "engine": "test@1",
            **fields,
        }
    )
    meta = Meta(
        doc_id=doc,
        source_id=doc.split("/")[0],
        title="",
        uri=f"file:{doc}",
        source_type="doc",
        license="MIT",
        language="en",
        raw_sha256="",
        text_sha256=text or doc,
        effective_date=date,
        fetched_at="2026-01-02T03:04:05Z",
        converter="",
        converter_version="",
    )
    hashed = digest(chunk or doc + statement)
    piece = Chunk(
        id=hashed, doc_id=doc, hash=hashed, kind="text", heading=(), text=statement, start=100, end=100 + len(statement)
    )
    return Witness(draft, piece, meta)


def cluster(*witnesses: Witness, **fields: Any) -> Cluster:
    occurrences = tuple(
        Occurrence(draft=w.draft.hash, text_key=w.draft.hash[:8], doc_id=w.meta.doc_id, chunk_hash=w.chunk.hash)
        for w in witnesses
    )
    return Cluster(**{"id": "kb_1", "occurrences": occurrences, **fields})


def merged(*witnesses: Witness, **fields: Any) -> Any:
    return merge(cluster(*witnesses, **fields), witnesses)


def test_every_source_keeps_its_own_quote_at_its_own_place() -> None:
    """Citations are the union, sorted by document, with offsets into the document's text."""
    item = merged(witness("Blocks are fixed", "b/y.md"), witness("Blocks are fixed.", "a/x.md", date="2025-01-01"))
    assert [(s.doc_id, s.source_span, s.start, s.end) for s in item.sources] == [
        ("a/x.md", "Blocks are fixed.", 100, 117),
        ("b/y.md", "Blocks are fixed", 100, 116),
    ]
    assert (item.sources[0].license, item.sources[0].uri, item.sources[0].version) == ("MIT", "file:a/x.md", "a/x.md")
    assert item.valid_from == "2025-01-01"


def test_the_wording_with_more_and_more_precise_figures_represents_the_rest() -> None:
    """More figures win, then more digits, however often the vaguer wording occurs."""
    vague = [witness("It takes half of the memory of v1.", f"a/{n}.md") for n in range(3)]
    assert merged(*vague, witness("It takes 48% of the 80 GB.", "b/y.md")).statement == "It takes 48% of the 80 GB."
    assert (
        merged(witness("The latency of it is 12 ms."), witness("Latency is 12.4 ms.", "b/y.md")).statement
        == "Latency is 12.4 ms."
    )


def test_without_figures_the_wording_of_more_independent_texts_wins() -> None:
    """A wording in two texts outweighs a longer one in a text and its copy."""
    long = [witness("The cache always holds fixed blocks.", f"c/{n}.md", text="copy") for n in range(3)]
    short = [witness("The cache holds blocks.", f"a/{n}.md") for n in range(2)]
    assert merged(*long, *short).statement == "The cache holds blocks."


def test_unions_and_the_best_support() -> None:
    """Entities are united, the widest context is kept, the best confidence counts, the majority names the type."""
    item = merged(
        witness("A", entities=("vLLM",), context="Cache", confidence="low", item_type="fact"),
        witness(
            "B", "b/y.md", entities=("GPU", "vLLM"), context="Guide > Cache", confidence="medium", item_type="metric"
        ),
        witness("C", "c/z.md", detail="More.", item_type="metric", confidence="medium", topic="t"),
    )
    assert item.entities == ("GPU", "vLLM")
    assert item.context == "Guide > Cache"
    assert item.confidence == "medium"
    assert item.item_type == "metric"
    assert (item.detail, item.topic) == ("More.", "t")


def test_copies_confirm_nothing() -> None:
    """Equal texts under two names, equal passages in two documents and two places in one document are one voice."""
    assert merged(witness("A", "a/x.md", text="t"), witness("A", "b/y.md", text="t")).confirmations == 1
    assert merged(witness("A", "a/x.md", chunk="c"), witness("A", "b/y.md", chunk="c")).confirmations == 1
    assert merged(witness("A", "a/x.md", chunk="c"), witness("B", "a/x.md", chunk="d")).confirmations == 1
    assert merged(witness("A", "a/x.md"), witness("A", "b/y.md")).confirmations == 2
    chain = [
        witness("A", "a/1.md", text="t"),
        witness("A", "a/2.md", text="t", chunk="c"),
        witness("A", "a/3.md", chunk="c"),
    ]
    assert merged(*chain).confirmations == 1


def test_what_the_cluster_knows_is_taken_over() -> None:
    """Id, aliases, relations, status and the vector's name come from the cluster."""
    w = witness("A")
    item = merged(w, aliases=("kb_2",), related=("kb_3",), superseded_by="kb_4", needs_review=True)
    assert (item.id, item.aliases, item.related_items) == ("kb_1", ("kb_2",), ("kb_3",))
    assert (item.status, item.superseded_by, item.needs_review) == ("superseded", "kb_4", True)
    assert item.embedding_ref == w.draft.hash[:8]
    assert merged(w).status == "active"


def test_what_was_replaced_was_valid_until_its_successor_began() -> None:
    """The end is the successor's explicit date; one that lies before the beginning is none."""
    w = witness("A", date="2024-01-01")
    assert merged(w, superseded_by="kb_4", superseded_on="2025-01-01").valid_to == "2025-01-01"
    assert merged(w, superseded_by="kb_4", superseded_on="2023-01-01").valid_to is None
    assert merged(w, superseded_by="kb_4").valid_to is None
    assert merged(w).valid_to is None


_witnesses = st.lists(
    st.builds(
        witness,
        st.sampled_from(["The pool holds 16 blocks.", "the pool holds 16 blocks", "A pool of 16 blocks.", "A pool."]),
        doc=st.sampled_from(["a/x.md", "b/y.md", "c/z.md"]),
        text=st.sampled_from(["", "t"]),
        chunk=st.sampled_from(["", "c", "d"]),
        date=st.sampled_from([None, "2024-01-01", "2025-01-01"]),
        context=st.sampled_from([None, "Pool", "Guide"]),
        item_type=st.sampled_from(["fact", "metric", "procedure"]),
        confidence=st.sampled_from(["high", "low"]),
        detail=st.sampled_from(["", "x", "y"]),
        topic=st.sampled_from(["", "t", "u"]),
    ),
    min_size=1,
    max_size=6,
)


@given(witnesses=_witnesses, data=st.data())
def test_the_order_of_witnesses_does_not_matter(witnesses: Any, data: Any) -> None:
    """Any order of the same drafts gives the same item."""
    known = cluster(*sorted(witnesses, key=lambda w: (w.draft.hash, w.meta.doc_id)))
    assert merge(known, data.draw(st.permutations(witnesses))) == merge(known, witnesses)
