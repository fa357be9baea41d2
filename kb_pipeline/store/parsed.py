"""Large files that several stages and checks read one after the other: parsed once while they stay the same."""

from pathlib import Path

from kb_pipeline.records import Record
from kb_pipeline.store.files import FileState, file_state

Records = tuple[Record, ...]


class Parsed:
    """Records by the path, below ``folder``, of the one file that holds them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, tuple[FileState, Records]] = {}

    def get(self, path: str) -> Records | None:
        """What the file holds, None where that is not known."""
        held = self._held.get(path)
        return held[1] if held and held[0] == file_state(self._folder / path) else None

    def put(self, path: str, records: Records) -> Records:
        """``records``, kept as what the file holds now."""
        if state := file_state(self._folder / path):
            self._held[path] = state, records
        return records
