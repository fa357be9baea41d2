"""The nightlies: every source is read again in full, then old pairs are decided anew; the sensor compiles the rest."""

import dagster as dg

from kb_pipeline.defs.jobs import reread, sweep


@dg.schedule(
    job=reread,
    cron_schedule="0 2 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Refetches remote sources and re-hashes local ones: an edit that keeps size and time is found here.",
)
def nightly(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
    """One run a night, at 02:00 UTC."""
    return dg.RunRequest(run_key=context.scheduled_execution_time.strftime("nightly:%Y-%m-%d"))


@dg.schedule(
    job=sweep,
    cron_schedule="0 3 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Decides every pair anew, also those whose neighbours came or went, and reports what has grown old.",
)
def nightly_sweep(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
    """One sweep a night, at 03:00 UTC, when what the nightly found is compiled."""
    return dg.RunRequest(run_key=context.scheduled_execution_time.strftime("sweep:%Y-%m-%d"))
