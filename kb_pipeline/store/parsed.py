"""Large files that several stages and checks read one after the other: parsed once while they stay the same."""

from collections.abc import Sequence
from pathlib import Path

from kb_pipeline.records import Record
from kb_pipeline.store.files import FileState, file_state

_LARGE = 1 << 20  # bytes; parsing less costs less than a stage that starts

Records = tuple[Record, ...]


class Parsed:
    """Records by the file, below ``folder``, that holds them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, tuple[FileState, Records]] = {}

    def get(self, paths: Sequence[str]) -> Records | None:
        """What the one file of ``paths`` holds, None where that is not known."""
        held = self._held.get(paths[0]) if len(paths) == 1 else None
        return held[1] if held and held[0] == file_state(self._folder / paths[0]) else None

    def put(self, paths: Sequence[str], records: Records) -> Records:
        """``records``, kept where the one file of ``paths`` is large."""
        state = file_state(self._folder / paths[0]) if len(paths) == 1 else None
        if state and state[2] >= _LARGE:
            self._held[paths[0]] = state, records
        return records
