"""A process that is killed at its n-th change of the file system, below a knowledge base, as counted by an audit hook.

``python -m kb_pipeline_tests.dying ROOT N`` compiles the knowledge base at ROOT through the verbs and kills itself with
SIGKILL before change N happens; where there are fewer it prints how many there were. Only changes that Python makes are
counted: what a native library writes lies between two of them.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from kb_pipeline_tests.driving import compile_all, opened

_CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.truncate", "shutil.rmtree"}


def _is_change(event: str, arguments: tuple[Any, ...]) -> bool:
    if event in _CHANGES:
        return True
    return event == "open" and isinstance(arguments[2], int) and bool(arguments[2] & (os.O_WRONLY | os.O_RDWR))


def _kill_at(last: int) -> list[int]:
    """Install the hook; the list's only number counts changes."""
    count = [0]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if _is_change(event, arguments):
            count[0] += 1
            if count[0] == last:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    return count


def main(root: Path, last: int) -> None:
    """Compile, and die on the way."""
    with opened(root) as base:
        base.stale()  # what is imported and opened once is no part of the story
        count = _kill_at(last)
        compile_all(base)
        print(count[0])


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
