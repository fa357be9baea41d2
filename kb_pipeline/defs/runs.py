"""What became of runs: which are under way, which failed on these very inputs, which died with their process."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from dagster import DagsterEventType, DagsterInstance, DagsterRun, DagsterRunStatus, RunRecord, RunsFilter

from kb_pipeline.defs.jobs import reread
from kb_pipeline.defs.run_tags import ASKS, PROCESS

PATIENCE = 120.0  # seconds that a compile waits for the sync of a source
DEATHS = 3  # runs of one ask that may die (killed, out of memory) before it counts as refused
MEMORY = timedelta(days=1)  # how long a failure answers for its inputs: a full disk may have been emptied since
_REASON = "dagster/failure_reason"
_UNDER_WAY = [
    DagsterRunStatus.QUEUED,
    DagsterRunStatus.NOT_STARTED,
    DagsterRunStatus.STARTING,
    DagsterRunStatus.STARTED,
    DagsterRunStatus.CANCELING,
]
_HAS_PROCESS = [status for status in _UNDER_WAY if status is not DagsterRunStatus.QUEUED]


def under_way(instance: DagsterInstance) -> list[RunRecord]:
    """Runs of our jobs and backfills that have not ended."""
    return list(instance.get_run_records(RunsFilter(statuses=_UNDER_WAY)))


def holds_up(record: RunRecord) -> bool:
    """Whether a compile should wait for this run: for what will soon add to it, not for the nightly, nor for a source
    that is slow to answer."""
    run, since = record.dagster_run, record.start_time
    slow = since is not None and time.time() - since > PATIENCE and "dagster/partition" in run.tags
    return not slow and run.job_name != reread.name


def refused(instance: DagsterInstance, signature: str, *, waits: bool = False) -> bool:
    """Whether exactly this was asked before and failed: the last run by its own fault or a person's hand, or the last
    few by the death of their process. What ``waits`` for somebody outside is still not there, however the run ended.
    """
    asked = RunsFilter(tags={ASKS: signature}, created_after=datetime.now(UTC) - MEMORY)
    last = instance.get_runs(asked, limit=DEATHS)
    if waits and last:
        return True
    if not last or last[0].status not in {DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED}:
        return False
    died = [run for run in last if run.status is DagsterRunStatus.FAILURE and run.tags.get(_REASON) != "STEP_FAILURE"]
    return last[0] not in died or len(died) == DEATHS


def fail_dead(instance: DagsterInstance) -> list[str]:
    """Fail the runs whose process is gone, which would block others for ever, and free what they held; their ids."""
    dead = list(_dead(instance))
    for run in dead:
        instance.report_run_failed(run, "Its process died; what it had finished is kept, the rest runs again.")
        instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
    return [run.run_id for run in dead]


def _dead(instance: DagsterInstance) -> Iterator[DagsterRun]:
    for record in instance.get_run_records(RunsFilter(statuses=_HAS_PROCESS)):
        pid = _pid(instance, record.dagster_run)
        if pid is not None and not _lives(pid, record.start_time or record.create_timestamp.timestamp()):
            yield record.dagster_run


def _pid(instance: DagsterInstance, run: DagsterRun) -> int | None:
    """The process of a run: a ``kb build`` tags it, a worker of the daemon signs the start; None before that, when
    Dagster's own ``run_monitoring`` counts the time."""
    if tagged := run.tags.get(PROCESS):
        return int(tagged)
    started = instance.all_logs(run.run_id, of_type=DagsterEventType.RUN_START)
    return next((entry.dagster_event.pid for entry in started if entry.dagster_event), None)


def _lives(pid: int, since: float) -> bool:
    """Whether the process ``pid`` that was there at ``since`` (seconds since the epoch) still runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        uptime = float(Path("/proc/uptime").read_text().split()[0])
    except (OSError, IndexError):
        return True  # no /proc: a process of that number is taken for the same one
    born = time.time() - uptime + int(fields[19]) / os.sysconf("SC_CLK_TCK")
    return fields[0] != "Z" and born <= since + 1
