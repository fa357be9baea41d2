"""What an item's file claims."""

import pytest
from pydantic import ValidationError

from kb_pipeline.records import Citation, Item
from kb_pipeline.rules.claims import Claims, Quote, claims

PROOF = Citation(
    doc_id="notes/a.md", uri="file:a", source_type="note", license="MIT", source_span="It holds 16 blocks.",
    start=3, end=22, content_hash="c", version="v", fetched_at="2026-01-02T03:04:05Z",
)  # fmt: skip
ITEM = Item(id="kb_1", statement="It holds 16 blocks.", primary_category="Memory", sources=(PROOF,))


def data(item: Item) -> bytes:
    return item.model_dump_json().encode()


def test_an_active_item_claims_a_category_and_proofs() -> None:
    """The quotes are told with their documents and offsets."""
    assert claims(data(ITEM)) == Claims("Memory", (Quote("notes/a.md", 3, 22, "It holds 16 blocks."),))


@pytest.mark.parametrize("status", ["superseded", "retired"])
def test_what_is_not_active_claims_nothing(status: str) -> None:
    """No document need stand behind it any more."""
    assert claims(data(ITEM.model_copy(update={"status": status}))) is None


def test_a_file_that_is_no_item_is_told() -> None:
    """It raises, so that whoever asked can name the file."""
    with pytest.raises(ValidationError):
        claims(b"{}")
