"""Counts the requests to models that one piece of work causes, whichever threads and tasks it runs in.

Owns the count alone. Whoever starts a thread for counted work starts it in a copy of its context, as tasks are.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Tally:
    """A number that only grows. Safe for threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self.calls = 0

    def add(self) -> None:
        """Count one request."""
        with self._guard:
            self.calls += 1


_CURRENT: ContextVar[Tally | None] = ContextVar("tally", default=None)


@contextmanager
def tallied() -> Iterator[Tally]:
    """Counts what is requested within, and by nothing else."""
    tally = Tally()
    token = _CURRENT.set(tally)
    try:
        yield tally
    finally:
        _CURRENT.reset(token)


def count() -> None:
    """Count one request, where anyone counts."""
    if tally := _CURRENT.get():
        tally.add()
