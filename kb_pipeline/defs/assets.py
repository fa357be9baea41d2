"""One asset a row of PIPELINE, with the checks that judge it. A body calls one verb and reports."""

from collections.abc import Mapping

import dagster as dg

from kb_pipeline.api import CHECKS, PIPELINE, KnowledgeBase, Stage
from kb_pipeline.defs import showing
from kb_pipeline.defs.failing import told
from kb_pipeline.defs.partitions import SOURCES
from kb_pipeline.defs.resources import KbResource
from kb_pipeline.defs.run_tags import ACCEPT_DELETIONS, FULL
from kb_pipeline.records import (
    Chunk,
    Cluster,
    EvalResult,
    Extraction,
    Item,
    Meta,
    Page,
    RawEntry,
    Record,
    Rendering,
    Row,
    StageReport,
)

_OWNERS = ["team:kb"]
ENGINE_POOL = "engine"  # stages that ask the engine share it: calls are bounded again inside the engine
# What a stage shows: the kinds of its icons, and the record whose fields are its columns.
_LOOKS: Mapping[str, tuple[set[str], type[Record] | None]] = {
    "raw": ({"file"}, RawEntry),
    "normalized": ({"markdown"}, Meta),
    "chunks": ({"json"}, Chunk),
    "atomic_items": ({"json"}, Extraction),
    "dedup": ({"json"}, Cluster),
    "tags": ({"json"}, Item),
    "pages": ({"json"}, Page),
    "wiki": ({"markdown"}, Rendering),
    "index": ({"arrow", "tantivy"}, Row),
    "eval": ({"json"}, EvalResult),
    "live": ({"file"}, None),
}
_COUNTS = {True: "One partition a source. Counts are documents.", False: "All sources at once. Counts are records."}
# A source's originals do not follow from the set of sources: below it, each new source would show all others as stale.
_EXTERNAL_DEPS = {"dedup": ["source_registry"], "tags": ["taxonomy"]}

EXTERNAL = [
    dg.AssetSpec(
        "source_registry",
        description="The set of sources in `sources.yaml`. Edit the file: the sensor adds and removes partitions.",
        group_name="ingest",
        kinds={"yaml"},
        owners=_OWNERS,
    ),
    dg.AssetSpec(
        "taxonomy",
        description="The closed categories and the tag vocabulary in `taxonomy.yaml`.",
        group_name="compile",
        kinds={"yaml"},
        owners=_OWNERS,
    ),
]


def stage_assets(code_versions: Mapping[str, str], *, pools: bool) -> list[dg.AssetsDefinition]:
    """All assets, with the recipe of each as its code version."""
    return [_stage_asset(stage, code_versions.get(stage.name), pools) for stage in PIPELINE.values()]


def _stage_asset(stage: Stage, code_version: str | None, pools: bool) -> dg.AssetsDefinition:
    kinds, record = _LOOKS.get(stage.name, (set(), None))

    @dg.asset(
        name=stage.name,
        deps=[*stage.needs, *_EXTERNAL_DEPS.get(stage.name, [])],
        partitions_def=SOURCES if stage.per_source else None,
        group_name="ingest" if stage.per_source else "compile",
        description=f"{stage.description}\n\n{_COUNTS[stage.per_source]}",
        kinds=kinds,
        owners=_OWNERS,
        pool=ENGINE_POOL if stage.tasks and pools else None,
        code_version=code_version,
        metadata={"dagster/column_schema": showing.columns(record)} if record else {},
        check_specs=[
            dg.AssetCheckSpec(row.name, asset=stage.name, description=row.description, blocking=row.blocking)
            for row in CHECKS
            if row.stage == stage.name
        ],
    )
    def body(context: dg.AssetExecutionContext, kb: KbResource) -> dg.MaterializeResult:  # type: ignore[type-arg]
        source = context.partition_key if stage.per_source else None
        with told(context):
            base = kb.open()
            report = _built(context, base, stage, source)
            findings = base.check(stage.name, source, full=False)
        context.log.info(showing.summary(report))
        for warning in report.warnings:
            context.log.warning(warning)
        return dg.MaterializeResult(
            data_version=dg.DataVersion(report.data_version or "none"),
            metadata=showing.metadata(report),
            check_results=[showing.check_result(found) for found in findings],
        )

    return body


def _built(context: dg.AssetExecutionContext, base: KnowledgeBase, stage: Stage, source: str | None) -> StageReport:
    tags = context.run.tags
    accepted = frozenset(filter(None, tags.get(ACCEPT_DELETIONS, "").split(",")))
    return base.build_stage(stage.name, source, full=FULL in tags, accept_deletions=accepted)
