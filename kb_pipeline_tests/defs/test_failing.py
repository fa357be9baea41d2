"""How a step ends: at once where the error says its cure or a person stops it, retried where it may pass by itself."""

import dagster as dg
import pytest
from dagster import DagsterInstance

from kb_pipeline.defs import failing
from kb_pipeline.defs.failing import told
from kb_pipeline.defs.run_tags import PROCESS
from kb_pipeline.errors import KbError


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
