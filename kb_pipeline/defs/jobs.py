"""The jobs: ``sync`` brings one source up to its drafts, ``compile`` does the rest, ``reread`` distrusts time stamps,
``sweep`` decides old pairs anew and tells what has grown old.

All in one process a run: a process a step costs seconds each, and the work is bounded inside the stages.
"""

import dagster as dg

from kb_pipeline.api import PER_SOURCE, WHOLE
from kb_pipeline.defs import showing
from kb_pipeline.defs.failing import told
from kb_pipeline.defs.resources import KbResource
from kb_pipeline.errors import KbError
from kb_pipeline.records import StageReport

sync = dg.define_asset_job(
    "sync",
    selection=dg.AssetSelection.assets(*PER_SOURCE),
    executor_def=dg.in_process_executor,
    description="One source, from its originals to its drafts. A backfill is a run a source: none blocks another.",
)
compile_ = dg.define_asset_job(
    "compile",
    selection=dg.AssetSelection.assets(*WHOLE),
    executor_def=dg.in_process_executor,
    description="All sources, from drafts to the live generation.",
)


@dg.op
def reread_sources(context: dg.OpExecutionContext, kb: KbResource) -> None:
    """Ask every source that is not `manual` again: remote ones are refetched, local ones hashed in full."""
    with told(context):
        base = kb.open()
    failed = []
    for source in base.settings.sources:
        if source.refresh == "manual":
            continue
        try:
            report = base.build_stage("raw", source.id, full=True)
        except KbError as error:
            context.log.error(str(error))
            failed.append(source.id)
            continue
        context.log.info(showing.summary(report))
        context.log_event(_event(report))
    if failed:
        what = f"{len(failed)} sources could not be read: {', '.join(failed)}. Their last good documents stay."
        raise dg.Failure(what, allow_retries=False)


def _event(report: StageReport) -> dg.AssetMaterialization | dg.AssetObservation:
    event = dg.AssetMaterialization if report.made or report.deleted else dg.AssetObservation
    version = {"dagster/data_version": report.data_version}
    return event("raw", partition=report.partition, metadata=showing.metadata(report), tags=version)


@dg.job(executor_def=dg.in_process_executor)
def reread() -> None:
    """Read every source again, trusting no time stamp; what changed is compiled by the sensor."""
    reread_sources()


@dg.op
def sweep_pairs(context: dg.OpExecutionContext, kb: KbResource) -> None:
    """Decide every pair of drafts anew, and write what has grown old to ``kb/logs/staleness.json``."""
    with told(context):
        found = kb.open().sweep()
    counts = {"rechecked": found.rechecked, "overturned": found.overturned, "dead links": len(found.dead_links)}
    counts |= {"old sources": len(found.sources), "old items": len(found.old_items), "near tags": len(found.near_tags)}
    context.add_output_metadata({**counts, "without a category": found.unclassified})
    context.log.info(", ".join(f"{count} {name}" for name, count in counts.items()))


@dg.job(executor_def=dg.in_process_executor)
def sweep() -> None:
    """Decide old pairs anew; what comes out otherwise is compiled by the sensor."""
    sweep_pairs()
