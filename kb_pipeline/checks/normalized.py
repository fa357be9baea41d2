"""Whether every original became text, and which did not."""

from typing import cast

from kb_pipeline.checks.findings import finding
from kb_pipeline.records import Document, Finding
from kb_pipeline.world import Changes, Inputs, World


def run(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """Every original is converted and holds more than hardly any text."""
    converted = set(inputs.keys("normalized"))
    missing = [key for key in inputs.keys("raw") if key not in converted]
    scanty = [
        key
        for key in sorted(converted)
        if (changes.everything or key in changes.touched["normalized"])
        and cast(Document, inputs.records("normalized", key)[0]).meta.status != "ok"
    ]
    cure = "See `kb status` for the reasons; a scanned document needs text recognition before it is added."
    return finding(
        "normalized", "every_original_is_converted", str(run.__doc__), missing + scanty, cure, blocking=False
    )
