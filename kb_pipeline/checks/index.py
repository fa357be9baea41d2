"""Whether the index holds what is known, and nothing that is gone."""

from typing import cast

from kb_pipeline.checks.findings import finding
from kb_pipeline.records import Finding, Item
from kb_pipeline.world import Changes, Inputs, World


def run(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """Every row of the candidate rests on a live document, and every active item has its row."""
    generation = world.index.candidate()
    rows = world.index.hashes(generation) if generation else {}
    documents = set(inputs.keys("normalized"))
    bad = [f"{row} rests on {doc}, which is gone" for row, (_, doc) in sorted(rows.items()) if doc not in documents]
    items = inputs.keys("tags") if changes.everything else sorted(changes.touched["tags"])
    for key in items:
        if not inputs.broken("tags", key):
            for record in inputs.records("tags", key):
                active = cast(Item, record).status == "active"
                if active != (key in rows):
                    bad.append(
                        f"{key} is {cast(Item, record).status} and {'in' if key in rows else 'not in'} the index"
                    )
    return finding("index", "no_ghosts", str(run.__doc__), bad, "Run `kb build --full`.")
