"""Whether every source could be read."""

from typing import cast

from kb_pipeline.checks.findings import finding
from kb_pipeline.records import Finding, RawEntry
from kb_pipeline.world import Changes, Inputs, World


def run(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """Every original in the manifest has bytes and an address."""
    docs = inputs.keys("raw") if changes.everything else sorted(changes.touched["raw"])
    entries = [(key, cast(RawEntry, r)) for key in docs for r in inputs.records("raw", key)]
    bad = [key for key, entry in entries if not entry.uri or not entry.sha256]
    return finding("raw", "sources_are_read", str(run.__doc__), bad, "Run `kb build --full`.", blocking=False)
