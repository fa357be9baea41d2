"""Whether the index holds what is known, and nothing that is gone."""

from kb_pipeline.checks.findings import finding
from kb_pipeline.checks.judging import claimed
from kb_pipeline.records import Finding
from kb_pipeline.rules.claims import status_of
from kb_pipeline.world import Changes, Inputs, World


def run(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """Every row of the candidate rests on a live document, and every active item has its row."""
    generation = world.index.candidate()
    rows = world.index.hashes(generation) if generation else {}
    documents = set(inputs.keys("normalized"))
    ghosts = sorted((row, doc) for row, (_, doc) in rows.items() if doc not in documents)
    bad = [f"{row} rests on {doc}, which is gone" for row, doc in ghosts]
    items = inputs.keys("tags") if changes.everything else sorted(changes.touched["tags"])
    for key, status in claimed(status_of, items, inputs, world):
        if (status == "active") != (key in rows):
            bad.append(f"{key} is {status} and {'in' if key in rows else 'not in'} the index")
    return finding("index", "no_ghosts", str(run.__doc__), bad, "Run `kb build --full`.")
