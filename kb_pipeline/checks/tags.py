"""Whether what is published is proven and filed."""

from collections.abc import Iterator, Sequence
from typing import cast

from kb_pipeline.checks.findings import finding
from kb_pipeline.records import UNCLASSIFIED, Cluster, Document, Finding, Item
from kb_pipeline.rules.grounding import proves
from kb_pipeline.world import Changes, Inputs, World

Quote = tuple[str, int, int, str]  # item id, offsets, the words


def run(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """Every active item's quote stands verbatim in its document at its offsets, under a category of the closed list."""
    categories = {c.name for c in world.settings.taxonomy.categories} | {UNCLASSIFIED}
    bad: list[str] = []
    quotes: dict[str, list[Quote]] = {}
    for item in _items(changes, inputs):
        if item.primary_category not in categories:
            bad.append(f"{item.id}: unknown category '{item.primary_category}'")
        for c in item.sources:
            quotes.setdefault(c.doc_id, []).append((item.id, c.start, c.end, c.source_span))
        if not item.sources:
            bad.append(f"{item.id}: no source")
    bad += (fault for doc in sorted(quotes) for fault in _unproven(doc, quotes[doc], inputs))
    return finding("tags", "items_are_proven", str(run.__doc__), bad, "Run `kb build --full`; then `kb show ID`.")


def _unproven(doc: str, quotes: Sequence[Quote], inputs: Inputs) -> Iterator[str]:
    """Faults of all quotes from one document, which is read once."""
    records = inputs.records("normalized", doc)
    text = cast(Document, records[0]).text if records else ""
    for item, start, end, quote in quotes:
        if not proves(text, start, end, quote):
            yield f"{item}: its quote does not stand in {doc} at {start}"


def _items(changes: Changes, inputs: Inputs) -> Iterator[Item]:
    """Active items whose file changed, or whose document did: another cannot have lost its proof."""
    docs = changes.touched["normalized"]
    clusters = cast(tuple[Cluster, ...], inputs.records("dedup", "clusters"))
    citing = {c.id for c in clusters if any(o.doc_id in docs for o in c.occurrences)}
    for key in inputs.keys("tags") if changes.everything else sorted(changes.touched["tags"] | citing):
        if inputs.broken("tags", key):
            continue
        for record in inputs.records("tags", key):
            item = cast(Item, record)
            if item.status == "active":
                yield item
