"""What a document says is in its chunks, and what a draft quotes is in its chunk."""

import pytest
from pydantic import ValidationError

from kb_pipeline.records import Chunk, Draft, Extraction
from kb_pipeline.rules.coverage import Made, covers, unproven

TEXT = "Pages hold 16 tokens.\n\nBlocks are shared."


def chunk(start: int, end: int, text: str = "") -> Chunk:
    """The chunk that stands there."""
    said = text or TEXT[start:end]
    name = f"{start:032d}"
    return Chunk(id=name, doc_id="s/a.md", hash=name, kind="text", heading=(), text=said, start=start, end=end)


def encoded(*records: Chunk | Extraction) -> bytes:
    """A file of these records."""
    return "".join(f"{record.model_dump_json()}\n" for record in records).encode()


@pytest.mark.parametrize(
    ("chunks", "whole"),
    [
        ((chunk(0, 21), chunk(23, len(TEXT))), True),
        ((chunk(0, 21),), False),
        ((chunk(0, 21), chunk(20, len(TEXT))), False),
        ((chunk(0, 21, "Pages hold 61 tokens."), chunk(23, len(TEXT))), False),
    ],
)
def test_chunks_cover_a_text(chunks: tuple[Chunk, ...], whole: bool) -> None:
    """Only blanks may lie between them; none overlaps another or says anything else."""
    assert covers(Made(TEXT.encode(), encoded(*chunks))) is whole


def test_a_draft_stands_in_its_chunk() -> None:
    """A quote that stands elsewhere, or nowhere, and a chunk that nobody read are told."""
    kept, lost = chunk(0, 21), chunk(23, len(TEXT))
    proven = Draft(
        hash="a" * 32,
        statement="Pages hold 16 tokens.",
        item_type="fact",
        confidence="high",
        source_span="Pages hold 16 tokens.",
        start=0,
        end=21,
        engine="test",
    )
    moved = proven.model_copy(update={"hash": "b" * 32, "start": 1})
    told = unproven(Made(encoded(kept, lost), encoded(Extraction(chunk_hash=kept.hash, drafts=(proven, moved)))))
    assert told == [f"chunk {lost.hash} was not extracted", "Pages hold 16 tokens."]


def test_what_cannot_be_read_is_no_proof() -> None:
    """A file that is none of ours raises."""
    with pytest.raises(ValidationError):
        unproven(Made(b"{}\n", b""))
