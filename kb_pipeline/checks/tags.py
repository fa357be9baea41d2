"""Whether what is published is proven and filed, and what people said of it holds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from kb_pipeline.checks.findings import finding
from kb_pipeline.checks.judging import claimed
from kb_pipeline.records import UNCLASSIFIED, Cluster, Conflict, Document, Finding, Item
from kb_pipeline.rules.claims import Quote, claims
from kb_pipeline.rules.grounding import proves
from kb_pipeline.world import Changes, Inputs, World


def run(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """Every active item's quote stands verbatim in its document at its offsets, under a category of the closed list."""
    categories = {c.name for c in world.settings.taxonomy.categories} | {UNCLASSIFIED}
    bad: list[str] = []
    quotes: dict[str, list[tuple[str, Quote]]] = {}
    for key, said in claimed(claims, _suspects(changes, inputs), inputs, world):
        if said and said.category not in categories:
            bad.append(f"{key}: unknown category '{said.category}'")
        if said and not said.quotes:
            bad.append(f"{key}: no source")
        for quote in said.quotes if said else ():
            quotes.setdefault(quote.doc_id, []).append((key, quote))
    bad += (fault for doc in sorted(quotes) for fault in _unproven(doc, quotes[doc], inputs))
    return finding("tags", "items_are_proven", str(run.__doc__), bad, "Run `kb build --full`; then `kb show ID`.")


def edits_stand(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """Every item file that a person wrote or edited says what an item may say."""
    bad = [fault for stage in ("normalized", "tags") for _, fault in sorted(inputs.faults(stage).items())]
    cure = "Correct them; until then the last valid version of each is served."
    return finding("tags", "edits_stand", str(edits_stand.__doc__), bad, cure, blocking=False)


def decisions_hold(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """What a person hid is not published, what a person retired is not active, and every conflict is between two active
    items."""
    conflicts = cast(tuple[Conflict, ...], inputs.records("dedup", "conflicts"))
    disputed = {key for conflict in conflicts for key in (conflict.a, conflict.b)}
    known = cast(tuple[Cluster, ...], inputs.records("dedup", "clusters"))
    clusters = {c.id: c for c in known if c.aside or c.id in disputed}
    published = set(inputs.keys("tags"))
    aside = {key: clusters[key].aside for key in sorted(published & clusters.keys()) if clusters[key].aside}
    bad = [f"{key} is published, and a person hid it" for key, how in aside.items() if how == "hidden"]
    retired = (key for key, how in aside.items() if how == "retired" and _active(inputs, key))
    bad += [f"{key} is active, and a person retired it" for key in retired]
    for conflict in conflicts:
        dead = [key for key in (conflict.a, conflict.b) if key not in published or _superseded(clusters, key)]
        bad += [f"{key} is part of a conflict, and not active" for key in dead]
    return finding("tags", "decisions_hold", str(decisions_hold.__doc__), bad, "Run `kb build --full`.")


def _superseded(clusters: Mapping[str, Cluster], key: str) -> bool:
    return key not in clusters or bool(clusters[key].superseded_by or clusters[key].aside)


def _active(inputs: Inputs, key: str) -> bool:
    return not inputs.broken("tags", key) and cast(Item, inputs.records("tags", key)[0]).status == "active"


def _unproven(doc: str, quotes: Sequence[tuple[str, Quote]], inputs: Inputs) -> Iterator[str]:
    """Faults of all quotes from one document, which is read once."""
    records = inputs.records("normalized", doc)
    text = cast(Document, records[0]).text if records else ""
    for item, quote in quotes:
        if not proves(text, quote.start, quote.end, quote.words):
            yield f"{item}: its quote does not stand in {doc} at {quote.start}"


def _suspects(changes: Changes, inputs: Inputs) -> Sequence[str]:
    """Items whose file changed, or whose document did: another cannot have lost its proof."""
    if changes.everything:
        return inputs.keys("tags")
    docs = changes.touched["normalized"]
    clusters = cast(tuple[Cluster, ...], inputs.records("dedup", "clusters"))
    return sorted(changes.touched["tags"] | {c.id for c in clusters for o in c.occurrences if o.doc_id in docs})
