"""What people edit beside the sources, as Dagster shows it: a partition a source, and the two external assets."""

from collections.abc import Iterator
from typing import NamedTuple

import dagster as dg
from dagster import DagsterInstance

from kb_pipeline.api import KnowledgeBase
from kb_pipeline.defs import partitions
from kb_pipeline.defs.showing import table

_VERSION = "dagster/data_version"


class Moves(NamedTuple):
    """What differs between the files and what the instance was told last."""

    added: list[str]
    removed: list[str]
    events: list[dg.AssetMaterialization]

    def __bool__(self) -> bool:
        return any(self)


def moves(instance: DagsterInstance, base: KnowledgeBase) -> Moves:
    """Sources to add and to remove as partitions, and the external assets whose content moved."""
    have, now = set(instance.get_dynamic_partitions(partitions.NAME)), {s.id for s in base.settings.sources}
    return Moves(sorted(now - have), sorted(have - now), list(_events(instance, base)))


def apply(instance: DagsterInstance, found: Moves) -> None:
    """Tell the instance at once, as the sensor's result does through the daemon."""
    instance.add_dynamic_partitions(partitions.NAME, found.added)
    for gone in found.removed:
        instance.delete_dynamic_partition(partitions.NAME, gone)
    for event in found.events:
        instance.report_runless_asset_event(event)


def _events(instance: DagsterInstance, base: KnowledgeBase) -> Iterator[dg.AssetMaterialization]:
    for name, version in base.versions().items():
        last = instance.get_latest_materialization_event(dg.AssetKey(name))
        known = last.asset_materialization if last else None
        shown = _SHOWN[name](base)
        if known is None or (known.tags or {}).get(_VERSION) != version or known.metadata != shown:
            yield dg.AssetMaterialization(name, metadata=shown, tags={_VERSION: version})


def _sources(base: KnowledgeBase) -> dict[str, dg.MetadataValue]:
    rows = [
        {"id": s.id, "type": s.type, "uri": ", ".join(s.uri), "refresh": s.refresh, "owners": ", ".join(s.owners)}
        for s in base.settings.sources
    ]
    return {"count": dg.MetadataValue.int(len(rows)), "sources": table(rows)}


def _categories(base: KnowledgeBase) -> dict[str, dg.MetadataValue]:
    taxonomy = base.settings.taxonomy
    rows = [{"category": c.name, "description": c.description} for c in taxonomy.categories]
    counts = {"count": dg.MetadataValue.int(len(rows)), "tag_vocabulary": dg.MetadataValue.int(len(taxonomy.tags))}
    return {**counts, "categories": table(rows)}


_SHOWN = {"source_registry": _sources, "taxonomy": _categories}
