"""Pure functions on every processor: worker processes that are started late, fed ahead and never missed.

Owns when work is worth a process and what becomes of work whose process died: it is done here. Knows no function.
"""

import logging
import os
import pickle
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from time import monotonic
from typing import Final, TypeVar

from kb_pipeline.services.processes import Child, HasChildren
from kb_pipeline.services.working import LENGTH
from kb_pipeline.world import outcomes

_LOG = logging.getLogger(__name__)
T = TypeVar("T")
U = TypeVar("U")
_Sent = tuple[Sequence[T], "Future[bytes | None]"]

PATIENCE: Final = 0.5
"""Seconds of work that are done here before a process is started: one costs half a second of a processor."""
MANY: Final = 1_000
"""Records that are expected: so many take longer than a process takes to start, whatever is made of them."""
_MOST: Final = 8  # one caller feeds no more, and each takes 90 MB
_AHEAD: Final = 16  # parts a worker that are sent before their results are asked for
_MOST_DEATHS: Final = 3


def processors() -> int:
    """How many processors this process may use; at most 8 count."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, _MOST)


class WorkerPool(HasChildren):
    """``world.Pool`` over at most ``workers`` processes of ``working.py``; under two, all is done in this one.

    None is started before ``patience`` seconds of work were done here, or many records are expected, and none for a
    call of one part: a small build starts none. ``close`` (or leaving a ``with``) ends them; they end by themselves
    when this process does, however it ends. One that dies costs nothing: what it was given is done here, and after
    three deaths everything is.
    """

    def __init__(self, workers: int, patience: float = PATIENCE) -> None:
        self._workers = workers
        self._patience = patience
        self._threads: ThreadPoolExecutor | None = None
        self._own = threading.local()  # the child of each thread
        self._children: set[Child] = set()
        self._deaths = 0

    def map(self, function: Callable[[T], U], records: Sequence[T], part: int = 16) -> Iterator[U | Exception]:
        """``function`` of each record, in order, as they are asked for; an exception in place of a result.

        ``function`` is one of a module, or a ``functools.partial`` of such. Once there are workers, they begin at the
        call, and go on 16 parts a worker ahead of what is asked for.
        """
        parts = (records[start : start + part] for start in range(0, len(records), part))
        if len(records) <= part:
            return outcomes(function, records)
        sent: deque[_Sent[T]] = deque()
        self._send(sent, function, parts)
        return self._results(sent, function, parts)

    def expect(self, records: int) -> None:
        """Start the workers now where ``records`` are many: they are ready when the first is sent."""
        if records >= MANY and not self._children and self._workers > 1 and self._deaths < _MOST_DEATHS:
            self._patience = 0
            for _ in range(self._workers):
                self._running().submit(self._ask, pickle.dumps((bool, ())))

    def _running(self) -> ThreadPoolExecutor:
        self._threads = self._threads or ThreadPoolExecutor(self._workers, "kb-worker")
        return self._threads

    def _results(
        self, sent: deque[_Sent[T]], function: Callable[[T], U], parts: Iterator[Sequence[T]]
    ) -> Iterator[U | Exception]:
        try:
            while True:
                self._send(sent, function, parts)
                if sent:
                    records, answer = sent.popleft()
                    payload = answer.result()
                    yield from self._here(function, records) if payload is None else pickle.loads(payload)  # noqa: S301
                elif records := next(parts, ()):
                    yield from self._here(function, records)
                else:
                    return
        finally:
            for _, answer in sent:
                answer.cancel()

    def _here(self, function: Callable[[T], U], records: Sequence[T]) -> list[U | Exception]:
        began = monotonic()
        made = list(outcomes(function, records))
        self._patience -= monotonic() - began
        return made

    def _send(self, sent: deque[_Sent[T]], function: Callable[[T], U], parts: Iterator[Sequence[T]]) -> None:
        """Hand out parts up to ``_AHEAD`` a worker, where there are workers."""
        if self._workers < 2 or self._patience > 0 or self._deaths >= _MOST_DEATHS:
            return
        while len(sent) < _AHEAD * self._workers and (records := next(parts, ())):
            sent.append((records, self._running().submit(self._ask, pickle.dumps((function, records)))))

    def _ask(self, request: bytes) -> bytes | None:
        """The answer of this thread's worker, waited for; ``None`` where it died."""
        try:
            child = self._child()
            child.requests.write(LENGTH.pack(len(request)) + request)
            child.requests.flush()
            head = child.answers.read(LENGTH.size)
            payload = child.answers.read(*LENGTH.unpack(head)) if len(head) == LENGTH.size else b""
        except (OSError, ValueError):  # none could be started, its pipe broke, or ``close`` closed it
            payload = b""
        if payload:
            return payload
        self._deaths += 1
        self._bury()
        return None

    def _child(self) -> Child:
        """The worker of this thread, started where there is none."""
        if not hasattr(self._own, "child"):
            self._own.child = Child("kb_pipeline.services.working")
            self._children.add(self._own.child)
        child: Child = self._own.child
        return child

    def _bury(self) -> None:
        child = vars(self._own).pop("child", None)
        if child:
            child.end()
            self._children.discard(child)
        _LOG.warning("a worker process died (%s): this process does its work", child.returncode if child else "")

    def close(self) -> None:
        """End the worker processes; none is left when this returns. A later call may start others."""
        threads, self._threads = self._threads, None
        if threads:
            threads.shutdown(wait=False, cancel_futures=True)
            self._end()  # what a thread waits for
            threads.shutdown()
            self._end()
        self._deaths = 0

    def _end(self) -> None:
        while self._children:
            self._children.pop().end()
