"""Two jobs: ``sync`` brings one source up to its drafts, ``compile`` does the rest. Both in one process: a step a
process costs seconds each, and the work is bounded inside the stages."""

import dagster as dg

from kb_pipeline.api import PER_SOURCE, WHOLE
from kb_pipeline.defs.partitions import SOURCES

sync = dg.define_asset_job(
    "sync",
    selection=dg.AssetSelection.assets(*PER_SOURCE),
    partitions_def=SOURCES,
    executor_def=dg.in_process_executor,
    description="One source, from its originals to its drafts.",
)
compile_ = dg.define_asset_job(
    "compile",
    selection=dg.AssetSelection.assets(*WHOLE),
    executor_def=dg.in_process_executor,
    description="All sources, from drafts to the live generation.",
)
