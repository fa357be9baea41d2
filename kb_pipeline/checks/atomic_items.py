"""Whether drafts are proven by their chunks, and none was lost."""

from typing import cast

from kb_pipeline.checks.findings import finding
from kb_pipeline.records import Chunk, Extraction, Finding
from kb_pipeline.rules.grounding import proves
from kb_pipeline.world import Changes, Inputs, World


def run(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """Every chunk has an extraction, and every draft's quote stands verbatim in its chunk at its offsets."""
    docs = (
        inputs.keys("chunks")
        if changes.everything
        else sorted(changes.touched["chunks"] | changes.touched["atomic_items"])
    )
    bad = [fault for doc in docs for fault in _faults(doc, inputs)]
    return finding("atomic_items", "drafts_are_proven", str(run.__doc__), bad, "Run `kb build --full`.")


def _faults(doc: str, inputs: Inputs) -> list[str]:
    chunks = {c.hash: c for c in cast(tuple[Chunk, ...], inputs.records("chunks", doc))}
    extractions = {e.chunk_hash: e for e in cast(tuple[Extraction, ...], inputs.records("atomic_items", doc))}
    faults = [f"{doc}: chunk {chunk} was not extracted" for chunk in chunks if chunk not in extractions]
    for key, extraction in extractions.items():
        if key in chunks:
            text = chunks[key].text
            faults += [
                f"{doc}: {d.statement[:80]}"
                for d in extraction.drafts
                if not proves(text, d.start, d.end, d.source_span)
            ]
    return faults
