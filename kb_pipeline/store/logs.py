"""A log of JSON lines that grows at its end. Knows nothing of what the lines say."""

import json
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kb_pipeline.errors import StoreError


class Log:
    """JSON lines in ``path``, each appended by one write, so that processes and threads may share it.

    A line that a crash tore is closed by the next writer and skipped by readers.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._guard = threading.Lock()
        self._begun = False

    def append(self, line: Mapping[str, Any]) -> None:
        """Add ``line``. Raises ``StoreError`` where the disk refuses it."""
        data = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
        try:
            with self._guard:
                self._write(data)
        except OSError as error:
            raise StoreError(
                f"cannot be written: {error.strerror}.", where=str(self._path), cure="Free space or check permissions."
            ) from error

    def _write(self, data: bytes) -> None:
        if not self._begun:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            size = 0 if self._begun else os.fstat(descriptor).st_size
            torn = size and os.pread(descriptor, 1, size - 1) != b"\n"
            os.write(descriptor, b"\n" + data if torn else data)
            self._begun = True
        finally:
            os.close(descriptor)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Every whole line, oldest first, one at a time."""
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            return
        with file:
            for data in file:
                try:
                    line = json.loads(data)
                except ValueError:
                    continue
                if isinstance(line, dict):
                    yield line
