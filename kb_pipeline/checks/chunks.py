"""Whether chunks cover their document."""

from typing import cast

from kb_pipeline.checks.findings import finding
from kb_pipeline.records import Chunk, Document, Finding
from kb_pipeline.world import Changes, Inputs, World


def run(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """Every non-space character of a document is in exactly one chunk, at the recorded offsets."""
    docs = inputs.keys("chunks") if changes.everything else sorted(changes.touched["chunks"])
    bad = [doc for doc in docs if inputs.records("normalized", doc) and not _covers(doc, inputs)]
    return finding("chunks", "text_is_covered", str(run.__doc__), bad, "Run `kb build --full`.")


def _covers(doc: str, inputs: Inputs) -> bool:
    text, end = cast(Document, inputs.records("normalized", doc)[0]).text, 0
    for record in inputs.records("chunks", doc):
        chunk = cast(Chunk, record)
        if chunk.start < end or text[end : chunk.start].strip() or text[chunk.start : chunk.end] != chunk.text:
            return False
        end = chunk.end
    return not text[end:].strip()
