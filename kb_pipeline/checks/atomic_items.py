"""Whether drafts are proven by their chunks, and none was lost."""

from kb_pipeline.checks.findings import finding
from kb_pipeline.checks.judging import judged
from kb_pipeline.records import Finding
from kb_pipeline.rules.coverage import unproven
from kb_pipeline.world import Changes, Inputs, World


def run(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """Every chunk has an extraction, and every draft's quote stands verbatim in its chunk at its offsets."""
    docs = (
        inputs.keys("chunks")
        if changes.everything
        else sorted(changes.touched["chunks"] | changes.touched["atomic_items"])
    )
    told = judged(unproven, docs, "chunks", "atomic_items", inputs, world)
    bad = [f"{doc}: {fault}" for doc, faults in told for fault in faults]
    return finding("atomic_items", "drafts_are_proven", str(run.__doc__), bad, "Run `kb build --full`.")
