"""One asset a row of PIPELINE, with the checks that judge it. A body calls one verb and reports."""

import os
from collections.abc import Iterator, Mapping
from typing import Any

import dagster as dg

from kb_pipeline.api import CHECKS, PIPELINE, KnowledgeBase, Stage
from kb_pipeline.defs.partitions import ACCEPT_DELETIONS, FULL, SOURCES
from kb_pipeline.defs.resources import KbResource
from kb_pipeline.errors import KbError, SourceUnavailable
from kb_pipeline.records import Chunk, Cluster, EvalResult, Finding, Item, Meta, RawEntry, Record, Row, StageReport

PID = "kb/pid"  # run tag: the process that runs it, so that a dead one is known
_OWNERS = ["team:kb"]
_RETRY = dg.RetryPolicy(max_retries=2, delay=2, backoff=dg.Backoff.EXPONENTIAL, jitter=dg.Jitter.PLUS_MINUS)
# What a stage shows in the UI: the kinds of its icon, and the record whose fields are its columns.
_LOOKS: Mapping[str, tuple[set[str], type[Record] | None]] = {
    "raw": ({"file"}, RawEntry),
    "normalized": ({"markdown"}, Meta),
    "chunks": ({"json"}, Chunk),
    "atomic_items": ({"json"}, None),
    "dedup": ({"json"}, Cluster),
    "tags": ({"json"}, Item),
    "index": ({"arrow", "tantivy"}, Row),
    "eval": ({"json"}, EvalResult),
    "live": ({"arrow"}, None),
}
_TASKS_POOL = "engine"  # stages that ask the engine share it: calls are bounded again inside the engine

EXTERNAL = [
    dg.AssetSpec(
        "source_registry",
        description="The set of sources in `sources.yaml`; the sensor reports its changes.",
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
_EXTERNAL_DEPS = {"raw": ["source_registry"], "dedup": ["source_registry"], "tags": ["taxonomy"]}


def stage_asset(stage: Stage, code_version: str | None) -> dg.AssetsDefinition:
    """The asset of one row."""
    kinds, columns = _LOOKS.get(stage.name, (set(), None))

    @dg.asset(
        name=stage.name,
        deps=[*stage.needs, *_EXTERNAL_DEPS.get(stage.name, [])],
        partitions_def=SOURCES if stage.per_source else None,
        group_name="ingest" if stage.per_source else "compile",
        description=stage.description,
        kinds=kinds,
        owners=_OWNERS,
        pool=_TASKS_POOL if stage.tasks else None,
        code_version=code_version,
        metadata={"dagster/column_schema": _schema(columns)} if columns else {},
        retry_policy=_RETRY,
        check_specs=[
            dg.AssetCheckSpec(row.name, asset=stage.name, description=row.description, blocking=row.blocking)
            for row in CHECKS
            if row.stage == stage.name
        ],
    )
    def body(context: dg.AssetExecutionContext, kb: KbResource) -> dg.MaterializeResult:  # type: ignore[type-arg]
        context.instance.add_run_tags(context.run_id, {PID: str(os.getpid())})
        source = context.partition_key if stage.per_source else None
        base = kb.open()
        report = _build(base, stage, source, context.run.tags)
        for warning in report.warnings:
            context.log.warning(warning)
        findings = base.check(stage.name, full=False)
        return dg.MaterializeResult(
            data_version=dg.DataVersion(report.data_version or "none"),
            metadata=dict(_metadata(report)),
            check_results=[_check_result(stage.name, found) for found in findings],
        )

    return body


def _build(base: KnowledgeBase, stage: Stage, source: str | None, tags: Mapping[str, str]) -> StageReport:
    accepted = frozenset(filter(None, tags.get(ACCEPT_DELETIONS, "").split(",")))
    try:
        return base.build_stage(stage.name, source, full=FULL in tags, accept_deletions=accepted)
    except SourceUnavailable as error:
        raise dg.Failure(
            str(error), metadata={"cure": error.cure or "See `kb status`."}, allow_retries=False
        ) from error
    except KbError as error:
        raise dg.Failure(str(error), metadata={"code": error.code, "cure": error.cure}) from error


def _metadata(report: StageReport) -> Iterator[tuple[str, Any]]:
    counts = report.model_dump(include={"made", "kept", "rejected", "deleted", "failed", "files_written", "embeddings"})
    yield from counts.items()
    yield "seconds", report.seconds
    if report.calls:
        yield from report.model_dump(include={"calls", "tokens", "cost_usd"}).items()
    if report.warnings:
        yield "warnings", dg.MetadataValue.md("\n".join(f"- {w}" for w in report.warnings[:50]))
    for name, value in report.details.items():
        yield name, _shown(name, value)


def _shown(name: str, value: Any) -> Any:
    """A mapping as a table, measures by slice as one with a column each, all else as it is."""
    if not isinstance(value, Mapping):
        return value if isinstance(value, int | float | str) else str(value)
    if value and all(isinstance(cells, Mapping) for cells in value.values()):
        columns = sorted({column for cells in value.values() for column in cells})
        head = f"| {name} | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}"
        lines = [
            f"| {row} | " + " | ".join(f"{cells.get(c, ''):}" for c in columns) + " |" for row, cells in value.items()
        ]
        return dg.MetadataValue.md("\n".join([head, *lines]))
    return dg.MetadataValue.md("\n".join(["| | |", "|---|---|", *(f"| {k} | {v} |" for k, v in value.items())]))


def _check_result(stage: str, found: Finding) -> dg.AssetCheckResult:
    severity = dg.AssetCheckSeverity.ERROR if found.blocking else dg.AssetCheckSeverity.WARN
    offenders = (
        {"offenders": dg.MetadataValue.md("\n".join(f"- {o}" for o in found.offenders))} if found.offenders else {}
    )
    return dg.AssetCheckResult(
        passed=found.ok,
        asset_key=stage,
        check_name=found.check,
        severity=severity,
        description=f"{found.message} {found.cure}".strip(),
        metadata={"count": found.count, **offenders},
    )


def _schema(record: type[Record]) -> dg.TableSchema:
    def column(name: str) -> dg.TableColumn:
        field = record.model_fields[name]
        kind = str(field.annotation).replace("typing.", "").replace("kb_pipeline.records.", "").removeprefix("<class '")
        return dg.TableColumn(
            name, type=kind.removesuffix("'>"), constraints=dg.TableColumnConstraints(nullable=not field.is_required())
        )

    return dg.TableSchema(columns=[column(name) for name in record.model_fields])


def stage_assets(code_versions: Mapping[str, str]) -> list[dg.AssetsDefinition]:
    """All assets, with the recipe of each as its code version."""
    return [stage_asset(stage, code_versions.get(stage.name)) for stage in PIPELINE.values()]
