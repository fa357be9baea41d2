"""How a step ends, at once or after retries where it may pass by itself, and what is asked again once it did."""

import dagster as dg
import pytest
from dagster import DagsterInstance, DagsterRunStatus

from kb_pipeline.defs import failing
from kb_pipeline.defs.failing import told
from kb_pipeline.defs.run_tags import PROCESS
from kb_pipeline.errors import KbError
from kb_pipeline_tests.defs.ticking import Daemon
from kb_pipeline_tests.driving import opened, write


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries without a wait."""
    monkeypatch.setattr(failing, "RETRY", dg.RetryPolicy(max_retries=2))


def attempts(error: BaseException, instance: DagsterInstance, **tags: str) -> tuple[int, dg.ExecuteInProcessResult]:
    """How often a step runs that raises ``error``, and the run."""
    ran = []

    @dg.op
    def step(context: dg.OpExecutionContext) -> None:
        with told(context):
            ran.append(context.retry_number)
            raise error

    @dg.job
    def once() -> None:
        step()

    result = once.execute_in_process(instance=instance, raise_on_error=False, tags=tags)
    return len(ran), result


def test_an_error_with_a_cure_is_told_at_once(instance: DagsterInstance) -> None:
    """A ``KbError`` is not retried, and the run shows its words and its cure."""
    ran, result = attempts(KbError("is full.", where="disk", cure="Free space."), instance)
    (event,) = (e for e in result.all_events if e.is_step_failure)
    failure = event.step_failure_data.user_failure_data
    assert ran == 1
    assert failure
    assert failure.description == "disk: is full. Free space."
    assert failure.metadata["cure"].value == "Free space."


def test_what_may_pass_by_itself_is_retried(instance: DagsterInstance) -> None:
    """Any other error is tried again, a bounded number of times."""
    assert attempts(OSError("stale file handle"), instance)[0] == 3


def test_under_a_persons_eyes_nothing_is_retried(instance: DagsterInstance) -> None:
    """In `kb build` an error is shown at once."""
    assert attempts(OSError("stale file handle"), instance, **{PROCESS: "1"})[0] == 1


def test_an_interrupt_is_an_interrupt(instance: DagsterInstance) -> None:
    """What a person stops is not retried, and the run does not count as failed by its inputs."""
    ran, result = attempts(KeyboardInterrupt(), instance)
    run = instance.get_run_by_id(result.run_id)
    assert run
    assert (ran, run.tags["dagster/failure_reason"]) == (1, "UNEXPECTED_TERMINATION")


def test_what_waits_for_somebody_outside_is_asked_for_once(daemon: Daemon) -> None:
    """Pages whose writer does not answer are tried once more, then after a change or a day, not at every look."""
    daemon.settle()
    with opened(daemon.root) as base:
        stamps = base.kb.state("stamps")
        base.kb.keep_state("stamps", {**stamps, "wiki": {**stamps["wiki"], "late": ["pg_1"]}})
    (request,) = daemon.look()
    job = daemon.defs.resolve_job_def(str(request.job_name))
    daemon.instance.create_run_for_job(job, tags=dict(request.tags), status=DagsterRunStatus.SUCCESS)
    assert daemon.look() == []
    write(daemon.root, {"notes/new.md": "# Eviction\n\nBlocks are evicted in order of last use.\n"})
    assert daemon.settle() == ["notes", "compile"]
