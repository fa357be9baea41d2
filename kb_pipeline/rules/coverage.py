"""Whether what was made of a document holds all of it: its chunks its text, its drafts quotes of its chunks. Pure, and
asked of the bytes of files, so that a worker can tell."""

from typing import NamedTuple

from kb_pipeline.records import Chunk, Extraction
from kb_pipeline.rules.encoded import lines
from kb_pipeline.rules.grounding import proves

_SHOWN = 80  # characters of a statement


class Made(NamedTuple):
    """The file of a document in one stage, and the one in the next that was made of it."""

    above: bytes
    below: bytes


def covers(made: Made) -> bool:
    """Whether every non-space character of a text is in exactly one of its chunks, at the recorded offsets. Raises
    ``pydantic.ValidationError``, or ``UnicodeDecodeError`` where the text is none."""
    text, end = made.above.decode(), 0
    for chunk in lines(Chunk, made.below):
        if chunk.start < end or text[end : chunk.start].strip() or text[chunk.start : chunk.end] != chunk.text:
            return False
        end = chunk.end
    return not text[end:].strip()


def unproven(made: Made) -> list[str]:
    """The chunks that have no extraction, and the drafts whose quote does not stand in their chunk, in words. Raises
    ``pydantic.ValidationError``."""
    chunks = {chunk.hash: chunk for chunk in lines(Chunk, made.above)}
    extractions = {extraction.chunk_hash: extraction for extraction in lines(Extraction, made.below)}
    faults = [f"chunk {chunk} was not extracted" for chunk in chunks if chunk not in extractions]
    for key, extraction in extractions.items():
        if key in chunks:
            text = chunks[key].text
            faults += [
                draft.statement[:_SHOWN]
                for draft in extraction.drafts
                if not proves(text, draft.start, draft.end, draft.source_span)
            ]
    return faults
