"""Compiles that the server starts: one at a time, in a process of their own, watched by whoever wants to.

Knows no stage: what it tells are the lines of that process.
"""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_FOLLOWING = "kb_pipeline.faces.following"
Line = dict[str, Any]


class Compiler:
    """Compiles sources of the knowledge base below ``root``; what is asked for meanwhile is compiled next."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._told = threading.Condition()
        self._version, self._state = 0, dict[str, tuple[int, Line]]()
        self._wanted: list[str] = []
        self._running: subprocess.Popen[str] | None = None
        self._thread: threading.Thread | None = None

    def start(self, source: str) -> None:
        """Compile ``source``, now or as soon as what is under way is done."""
        with self._told:
            if source not in self._wanted:
                self._wanted.append(source)
            if self._thread is None:
                self._state = {}
                self._thread = threading.Thread(target=self._work, daemon=True)
                self._thread.start()

    def _work(self) -> None:
        while True:
            with self._told:
                if not self._wanted:
                    self._thread = None
                    self._told.notify_all()
                    return
                source = self._wanted.pop(0)
            self._compile(source)

    def _compile(self, source: str) -> None:
        command = [sys.executable, "-m", _FOLLOWING, str(self._root), source]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
            self._running = process
            assert process.stdout is not None
            assert process.stderr is not None
            errors: list[str] = []
            reader = threading.Thread(target=lambda: errors.extend(process.stderr or ()), daemon=True)
            reader.start()
            ended = False
            for text in process.stdout:
                line = json.loads(text)
                ended = ended or "report" in line or "failed" in line
                self._tell(line)
            reader.join()
            if process.wait() and not ended:
                self._tell({"failed": (errors or ["the build was stopped."])[-1].strip()})
        self._running = None

    def _tell(self, line: Line) -> None:
        """Of each stage of each source the last line is kept: whoever comes later sees where it stands."""
        key = f"{line['stage']} {line['source'] or ''}" if "stage" in line else next(iter(line))
        with self._told:
            self._version += 1
            self._state[key] = self._version, line
            self._told.notify_all()

    def watch(self, seconds: float) -> Iterator[Line | None]:
        """Where the compile under way stands, and each change until it ends; of the last one where none is. None where
        nothing came for ``seconds``."""
        seen = 0
        while True:
            with self._told:
                fresh = self._since(seen)
                if not fresh:
                    if self._thread is None:
                        return
                    self._told.wait(seconds)
                    fresh = self._since(seen)
                seen = max([seen, *(version for version, _ in fresh)])
            yield from (line for _, line in fresh) if fresh else (None,)

    def _since(self, seen: int) -> list[tuple[int, Line]]:
        return sorted((entry for entry in self._state.values() if entry[0] > seen), key=lambda entry: entry[0])

    def stop(self) -> None:
        """End what is under way; a build continues another time from what was finished."""
        with self._told:
            self._wanted.clear()
            if self._running is not None:
                self._running.terminate()
