"""Whether chunks cover their document."""

from kb_pipeline.checks.findings import finding
from kb_pipeline.checks.judging import judged
from kb_pipeline.records import Finding
from kb_pipeline.rules.coverage import covers
from kb_pipeline.world import Changes, Inputs, World


def run(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """Every non-space character of a document is in exactly one chunk, at the recorded offsets."""
    docs = inputs.keys("chunks") if changes.everything else sorted(changes.touched["chunks"])
    known = set(inputs.keys("normalized"))
    held = [doc for doc in docs if doc in known]
    bad = [doc for doc, whole in judged(covers, held, "normalized", "chunks", inputs, world) if not whole]
    return finding("chunks", "text_is_covered", str(run.__doc__), bad, "Run `kb build --full`.")
