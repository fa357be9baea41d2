"""A Python process of ours at the other end of two pipes: how it starts and ends. Knows nothing of what it does.

It starts from one module of this package alone. What ``multiprocessing`` starts imports the main module of its caller
again: Dagster's command line, or somebody's script.
"""

import os
import subprocess
import sys
from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import IO, BinaryIO, Final, Self

import kb_pipeline

# Keys and tokens stay out of a process that reads hostile files.
_ENVIRONMENT: Final = ("PATH", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT")


class Child:
    """``python -m MODULE ARGUMENTS``: ``requests`` is its standard input, ``answers`` its standard output.

    It must end with its standard input, and so ends with this process, however that ends. Raises ``OSError`` where no
    process can be started.
    """

    def __init__(self, module: str, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            # A Ctrl-C in the terminal is this process's to handle: it ends its workers in order.
            start_new_session=True,
        )
        assert self._process.stdin
        assert self._process.stdout
        self.requests: IO[bytes] = self._process.stdin
        self.answers: IO[bytes] = self._process.stdout

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """How it ended, once it was waited for: minus the signal that killed it."""
        return self._process.returncode

    def end(self) -> None:
        """Kill the process, wait for it, close the pipes."""
        self._process.kill()
        self._process.wait()
        for pipe in (self.requests, self.answers):
            try:
                pipe.close()
            except OSError:
                continue


class HasChildren(ABC):
    """What keeps processes of ours, and leaves none behind: they end with a ``with``, and when nobody holds it."""

    @abstractmethod
    def close(self) -> None:
        """End the worker processes; none is left when this returns."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


def private_stdout() -> BinaryIO:
    """In a child: the pipe to the caller under another number, so that what a library prints breaks no protocol."""
    private = os.fdopen(os.dup(1), "wb")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    os.close(silence)
    return private


def _environment() -> dict[str, str]:
    """What a child sees of the environment: where to find things, nothing secret, few arenas of memory."""
    kept = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    package = str(Path(kb_pipeline.__file__).parents[1])
    return {**kept, "PYTHONPATH": package, "MALLOC_ARENA_MAX": "2", "PYTHONDONTWRITEBYTECODE": "1"}
