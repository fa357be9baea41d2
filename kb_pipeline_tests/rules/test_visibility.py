"""What is left of an item and a document for one who may read some sources alone."""

from kb_pipeline.records import Brief, Citation, DedupDecision, DocumentView, Item, ItemView, Meta, Passage
from kb_pipeline.rules import visibility

SAID, OTHERWISE = "The cache holds 16 pages.", "It is 16 pages that the cache holds."


def citation(doc: str, span: str) -> Citation:
    return Citation.model_validate(
        {"doc_id": doc, "uri": doc, "source_type": "note", "license": "CC0-1.0", "source_span": span, "start": 0}
        | {"end": len(span), "content_hash": "h", "version": "v", "fetched_at": "2026-11-30T00:00:00Z"}
    )


def view(*citations: Citation) -> ItemView:
    """An item with everything that could betray a source."""
    item = Item(
        id="kb_1",
        statement=SAID,
        detail="Blue adds this.",
        note="a note",
        entities=("cache", "Blue thing"),
        sources=citations,
        related_items=("kb_2", "kb_3"),
        aliases=("kb_4",),
        confirmations=2,
        superseded_by="kb_3",
    )
    near = tuple(Brief(id=i, statement="s", category="c", status="active") for i in ("kb_2", "kb_3"))
    passages = tuple(
        Passage(citation=c, title=c.doc_id, heading="", before="", after="", proven=True) for c in citations
    )
    why = DedupDecision(a="a", b="b", cosine=1, ratio=1, decision="merge", newer=None, by="rule", reason="blue said")
    return ItemView(item=item, passages=passages, neighbours=near, decisions=(why,))


def known(names: object) -> frozenset[str]:
    return frozenset({"kb_2"})


def test_an_item_of_others_does_not_exist() -> None:
    """Words that stand in no document of his are not his, though one of his documents proves the same."""
    theirs = view(citation("blue/a.md", SAID), citation("red/b.md", OTHERWISE))
    assert visibility.item(theirs, frozenset({"green"}), known) is None
    assert visibility.item(theirs, frozenset({"red"}), known) is None
    assert visibility.item(theirs, frozenset({"blue"}), known) is not None


def test_of_a_shared_item_only_ones_own_share_is_left() -> None:
    """Citations, confirmations, neighbours and all that others added are cut to what he could know."""
    shared = view(citation("blue/a.md", SAID), citation("red/b.md", SAID))
    found = visibility.item(shared, frozenset({"red"}), known)
    assert found is not None
    assert [c.doc_id for c in found.item.sources] == ["red/b.md"]
    assert [p.citation.doc_id for p in found.passages] == ["red/b.md"]
    assert (found.item.confirmations, found.item.detail, found.item.note) == (1, "", None)
    assert (found.item.related_items, found.item.superseded_by, found.item.aliases) == (("kb_2",), None, ())
    assert [b.id for b in found.neighbours] == ["kb_2"]
    assert found.item.entities == ("cache",)
    assert found.decisions == ()


def test_a_document_shows_items_that_exist_for_him() -> None:
    """A document of his lists no item that is not his; one of others does not exist."""
    meta = Meta.model_validate(
        {"doc_id": "red/b.md", "source_id": "red", "title": "B", "uri": "b", "source_type": "note", "license": "x"}
        | {"language": "en", "raw_sha256": "r", "text_sha256": "t", "fetched_at": "f", "converter": "c"}
        | {"converter_version": "1"}
    )
    briefs = tuple(Brief(id=i, statement="s", category="c", status="active") for i in ("kb_2", "kb_3"))
    whole = DocumentView(meta=meta, text=SAID, items=briefs, rejects=())
    found = visibility.document(whole, frozenset({"red"}), known)
    assert found is not None
    assert [b.id for b in found.items] == ["kb_2"]
    assert visibility.document(whole, frozenset({"blue"}), known) is None
