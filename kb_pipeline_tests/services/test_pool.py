"""Pure functions in worker processes: order, errors in their place, and nothing left behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from kb_pipeline.errors import ConversionError, KbError
from kb_pipeline.services.pool import MANY, WorkerPool
from kb_pipeline.world import Here, Pool
from kb_pipeline_tests.services.test_sandbox import children, runs


def process(_: int) -> int:
    """The process that this runs in."""
    return os.getpid()


def halved(number: int, by: int = 2) -> int:
    """Fails on what cannot be halved, as the errors of a record do."""
    if number % by:
        raise ConversionError(f"{number} is odd", where=str(number), cure="Double it.")
    return number // by


class Stubborn(Exception):
    """An exception that another process cannot make again."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} and {other}")


def stubborn(_: int) -> None:
    """Fails with an exception that cannot travel."""
    raise Stubborn("this", "that")


def deadly(here: int, number: int) -> int:
    """Kills the process that it runs in, but for the one of that number."""
    if os.getpid() != here:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    """Two workers, started at the first call."""
    before = children()
    with WorkerPool(2, patience=0) as made:
        yield made
    assert children() == before


@pytest.mark.parametrize("kind", ["here", "inline", "workers"])
def test_results_come_in_order_with_errors_in_their_place(kind: str) -> None:
    """Wherever the work is done."""
    before = children()
    pools: dict[str, Pool] = {"here": Here(), "inline": WorkerPool(1, 0), "workers": WorkerPool(2, 0)}
    pool = pools[kind]
    results = list(pool.map(partial(halved, by=3), range(100), 4))
    assert (children() != before) == (kind == "workers")
    pool.close()
    assert [r for r in results if not isinstance(r, Exception)] == list(range(34))
    errors = [r for r in results if isinstance(r, Exception)]
    assert all(isinstance(error, KbError) and error.cure == "Double it." for error in errors)
    assert [error.where for error in errors if isinstance(error, KbError)] == [str(n) for n in range(100) if n % 3]


def test_workers_share_the_work(pool: WorkerPool) -> None:
    """None of it is done here, and processes are used again."""
    first = set(pool.map(process, range(64), 1))
    assert os.getpid() not in first
    assert len(first | set(pool.map(process, range(64), 1))) <= 2


def test_a_small_call_starts_no_process(pool: WorkerPool) -> None:
    """One part of work is not worth a way."""
    assert set(pool.map(process, range(8), 8)) == {os.getpid()}


def test_nothing_is_started_before_there_was_work_enough() -> None:
    """A pool of much patience does all of it here."""
    before = children()
    with WorkerPool(2, patience=60) as pool:
        assert set(pool.map(process, range(640), 1)) == {os.getpid()}
        assert children() == before


def test_workers_are_ready_for_what_is_expected() -> None:
    """Many records that are to come start the workers, a few do not."""
    before = children()
    with WorkerPool(2, patience=60) as pool:
        pool.expect(MANY - 1)
        assert children() == before
        pool.expect(MANY)
        assert os.getpid() not in set(pool.map(process, range(8), 4))
        assert len(children() - before) == 2


def test_work_begins_at_the_call(pool: WorkerPool, tmp_path: Path) -> None:
    """Before anybody asks for a result, so that the caller may do something else meanwhile."""
    marks = [tmp_path / str(n) for n in range(4)]
    results = pool.map(Path.touch, marks, 1)
    deadline = time.monotonic() + 60
    while not all(mark.exists() for mark in marks):
        assert time.monotonic() < deadline, "nothing was begun"
        time.sleep(0.01)
    assert list(results) == [None] * 4


def test_an_error_that_cannot_travel_says_the_same(pool: WorkerPool) -> None:
    """By the name of its class and its words."""
    found = list(pool.map(stubborn, range(2), 1))
    assert [str(error) for error in found] == ["Stubborn: this and that"] * 2


def test_work_whose_process_dies_is_done_here(pool: WorkerPool) -> None:
    """However often one dies, and no call hangs."""
    assert list(pool.map(partial(deadly, os.getpid()), range(40), 1)) == list(range(40))
    assert list(pool.map(halved, range(0, 40, 2), 1)) == list(range(20))


def test_a_process_that_was_killed_between_calls_is_replaced(pool: WorkerPool) -> None:
    """The next call does not notice."""
    before = set(pool.map(process, range(8), 1))
    for pid in before:
        assert isinstance(pid, int)
        os.kill(pid, signal.SIGKILL)
    assert len(list(pool.map(process, range(64), 1))) == 64
    assert not any(isinstance(pid, Exception) or pid in before for pid in pool.map(process, range(64), 1))


def test_without_processes_the_work_is_done_here(pool: WorkerPool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system starts none."""
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert set(pool.map(process, range(16), 1)) == {os.getpid()}


def test_who_stops_asking_can_ask_something_else(pool: WorkerPool) -> None:
    """Results that are abandoned are in nobody's way."""
    results = pool.map(process, range(1000), 1)
    next(results)
    del results
    assert list(pool.map(halved, range(0, 8, 2), 1)) == [0, 1, 2, 3]


def test_a_closed_pool_may_start_again() -> None:
    """Closing ends processes, not the pool."""
    before = children()
    pool = WorkerPool(2, patience=0)
    for _ in range(2):
        assert list(pool.map(halved, range(0, 8, 2), 1)) == [0, 1, 2, 3]
        pool.close()
        assert children() == before


_CALLER = """
import sys, time
from kb_pipeline.services.pool import WorkerPool
pool = WorkerPool(2, patience=0)
list(pool.map(abs, range(8), 1))
print(*[child.pid for child in pool._children], flush=True)
{then}
"""


def _started(then: str) -> tuple[subprocess.Popen[str], list[int]]:
    command = [sys.executable, "-c", _CALLER.format(then=then)]
    caller = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert caller.stdout
    return caller, [int(pid) for pid in caller.stdout.readline().split()]


def _assert_they_end(pids: list[int]) -> None:
    assert pids
    deadline = time.monotonic() + 60
    while any(map(runs, pids)):
        assert time.monotonic() < deadline, "a worker outlived its caller"
        time.sleep(0.05)


@pytest.mark.parametrize("then", ["sys.stdin.read()", "list(pool.map(time.sleep, [0.01] * 100_000, 1))"])
def test_workers_end_when_their_caller_is_killed(then: str) -> None:
    """Even by a signal that it cannot handle, idle or at work."""
    caller, workers = _started(then)
    with caller:
        caller.kill()
    _assert_they_end(workers)


def test_ctrl_c_stops_the_caller_and_its_workers() -> None:
    """At once: what was sent ahead is not waited for."""
    caller, workers = _started("print('at work', flush=True)\nlist(pool.map(time.sleep, [0.01] * 100_000, 100))")
    with caller:
        assert caller.stdout
        caller.stdout.readline()
        time.sleep(0.2)
        caller.send_signal(signal.SIGINT)
        _, told = caller.communicate(timeout=60)
    assert "KeyboardInterrupt" in told
    _assert_they_end(workers)


def test_a_caller_that_just_ends_leaves_no_worker_and_no_word() -> None:
    """A script without a guard for its main module, which closes nothing."""
    caller, workers = _started("")
    with caller:
        _, told = caller.communicate(timeout=60)
    assert told == ""
    _assert_they_end(workers)


def test_a_worker_knows_nothing_of_dagster() -> None:
    """Nor of its caller's main module: it imports what its function needs."""
    with WorkerPool(2, patience=0) as pool:
        loaded = list(pool.map(_loaded, range(4), 1))
    kept_out = {"dagster", "typer", "openvino", "tantivy", "kb_pipeline.api", "kb_pipeline.faces"}
    assert all(isinstance(names, set) and not names & kept_out for names in loaded)


def _loaded(_: int) -> set[str]:
    return set(sys.modules)
