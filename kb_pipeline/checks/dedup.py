"""Whether clusters hold every draft, once."""

from collections import Counter
from typing import cast

from kb_pipeline.checks.findings import finding
from kb_pipeline.records import Cluster, Extraction, Finding
from kb_pipeline.world import Changes, Inputs, World


def run(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """Every draft of a touched document is in exactly one cluster, and no cluster holds a draft that is gone."""
    docs = set(inputs.keys("atomic_items") if changes.everything else changes.touched["atomic_items"])
    drafts = {
        (doc, draft.hash)
        for doc in docs
        for extraction in cast(tuple[Extraction, ...], inputs.records("atomic_items", doc))
        for draft in extraction.drafts
    }
    clusters = cast(tuple[Cluster, ...], inputs.records("dedup", "clusters"))
    held = Counter(
        pair
        for cluster in clusters
        for pair in {(o.doc_id, o.draft) for o in cluster.occurrences if changes.everything or o.doc_id in docs}
    )
    bad = [f"{doc}: draft {draft}" for doc, draft in sorted(drafts ^ held.keys())]
    bad += [f"{doc}: draft {draft} is in {n} clusters" for (doc, draft), n in sorted(held.items()) if n > 1]
    return finding("dedup", "every_draft_is_in_one_cluster", str(run.__doc__), bad, "Run `kb build --full`.")
