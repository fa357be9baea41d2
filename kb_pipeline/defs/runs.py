"""What became of runs: which are under way, which failed on these very inputs, which died with their process."""

import os
from collections.abc import Iterator

import dagster as dg
from dagster import DagsterInstance, DagsterRun, DagsterRunStatus, RunsFilter

from kb_pipeline.defs.assets import PID

ASKS = "kb/asks"  # run tag: the signature of what the run was asked to do
DEAD = "kb/dead"  # run tag: failed because its process died, so that it says nothing of the inputs
_UNDER_WAY = [
    DagsterRunStatus.QUEUED,
    DagsterRunStatus.NOT_STARTED,
    DagsterRunStatus.STARTING,
    DagsterRunStatus.STARTED,
    DagsterRunStatus.CANCELING,
]


def under_way(instance: DagsterInstance) -> list[DagsterRun]:
    """Runs of our jobs that have not ended."""
    return list(instance.get_runs(RunsFilter(statuses=_UNDER_WAY)))


def refused(instance: DagsterInstance, signature: str) -> bool:
    """Whether the last run that was asked for exactly this failed, other than by the death of its process."""
    last = next(iter(instance.get_runs(RunsFilter(tags={ASKS: signature}), limit=1)), None)
    failed = last is not None and last.status in (DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED)
    return failed and last is not None and DEAD not in last.tags


def fail_dead(instance: DagsterInstance) -> list[str]:
    """Fail the started runs whose process is gone, which would block others for ever; their ids."""
    return [run.run_id for run in _dead(instance) if _fail(instance, run)]


def _dead(instance: DagsterInstance) -> Iterator[DagsterRun]:
    for run in instance.get_runs(RunsFilter(statuses=[DagsterRunStatus.STARTED, DagsterRunStatus.CANCELING])):
        pid = run.tags.get(PID, "")
        if pid.isdigit() and not _alive(int(pid)):
            yield run


def _fail(instance: DagsterInstance, run: DagsterRun) -> bool:
    instance.add_run_tags(run.run_id, {DEAD: "true"})
    instance.report_run_failed(run, "Its process died; what it had finished is kept, the rest runs again.")
    return True


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


__all__ = ["ASKS", "DEAD", "dg", "fail_dead", "refused", "under_way"]
