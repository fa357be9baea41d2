"""The nightly: every source is read again in full; what changed is compiled by the sensor."""

from collections.abc import Iterator

import dagster as dg

from kb_pipeline.defs.jobs import sync
from kb_pipeline.defs.partitions import FULL
from kb_pipeline.defs.resources import KbResource


@dg.schedule(job=sync, cron_schedule="0 2 * * *", default_status=dg.DefaultScheduleStatus.RUNNING)
def nightly(context: dg.ScheduleEvaluationContext, kb: KbResource) -> Iterator[dg.RunRequest]:
    """Refetch remote sources and re-hash local ones: an edit that keeps size and time is found here."""
    day = context.scheduled_execution_time.strftime("%Y-%m-%d")
    for source in kb.open().settings.sources:
        if source.refresh != "manual":
            yield dg.RunRequest(partition_key=source.id, run_key=f"nightly:{source.id}:{day}", tags={FULL: "true"})
