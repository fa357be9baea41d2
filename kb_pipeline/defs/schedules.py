"""The nightly: every source is read again in full; what changed is compiled by the sensor."""

import dagster as dg

from kb_pipeline.defs.jobs import reread


@dg.schedule(
    job=reread,
    cron_schedule="0 2 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Refetches remote sources and re-hashes local ones: an edit that keeps size and time is found here.",
)
def nightly(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
    """One run a night, at 02:00 UTC."""
    return dg.RunRequest(run_key=context.scheduled_execution_time.strftime("nightly:%Y-%m-%d"))
