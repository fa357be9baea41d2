"""An item written by hand: its document, its chunk and its draft."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_pipeline.errors import StoreError
from kb_pipeline.rules import written
from kb_pipeline.rules.grounding import proves

NOW = "2026-01-01T00:00:00Z"
TEXT = st.text(st.characters(codec="utf-8"), max_size=60)


@settings(deadline=None)
@given(TEXT.filter(str.strip), TEXT)
def test_whatever_a_person_writes_is_proven_by_its_own_document(statement: str, detail: str) -> None:
    """The draft says what the file says and quotes the document verbatim, which is covered by its one chunk."""
    item = written.read("items/x.json", json.dumps({"statement": statement, "detail": detail}).encode())
    document = written.document(item, NOW)
    chunk, extraction = written.pieces(document)
    (draft,) = extraction.drafts
    assert (draft.statement, draft.detail) == (statement.strip(), detail)
    assert proves(chunk.text, draft.start, draft.end, draft.source_span)
    assert document.text[chunk.start : chunk.end] == chunk.text
    assert document.meta.doc_id == written.document_of(item.id)
    assert written.item_of(document.meta.doc_id) == item.id


def test_a_document_keeps_its_date_while_its_words_stay() -> None:
    """Read again it is as old as before; with other words it is new."""
    item = written.read("items/x.json", b'{"statement": "A fact."}')
    first = written.document(item, NOW)
    again = written.document(item, "2026-02-02T00:00:00Z", first.meta)
    assert again == first
    other = written.document(item.model_copy(update={"statement": "B."}), "2026-02-02T00:00:00Z", first.meta)
    assert other.meta.fetched_at == "2026-02-02T00:00:00Z"


def test_a_mistyped_field_is_named_before_the_one_that_lacks() -> None:
    """Who writes statment is told of statment."""
    with pytest.raises(StoreError, match=r"x\.json: statment: is no field of an item\. .*Fields: statement,"):
        written.read("items/x.json", b'{"statment": "x"}')


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"\xff", b'{"statement": 1}', b'{"statement": " "}', b'{"statment": "x"}']
)
def test_what_is_no_item_is_named(data: bytes) -> None:
    """File and cure, whatever stands in it."""
    with pytest.raises(StoreError, match=r"kb/items/x\.json: .*Write \{"):
        written.read("items/x.json", data)
