"""Large files that several stages and checks read one after the other: parsed once while they stay the same."""

from collections.abc import Mapping
from pathlib import Path

from kb_pipeline.records import Record
from kb_pipeline.store.files import FileState, file_hash, file_state

Records = tuple[Record, ...]


class Parsed:
    """Records by the path, below ``folder``, of the one file that holds them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, tuple[FileState, Records, bytes]] = {}

    def get(self, path: str) -> Records | None:
        """What the file holds, None where that is not known."""
        held = self._held.get(path)
        return held[1] if held and held[0] == file_state(self._folder / path) else None

    def put(self, path: str, records: Records, data: bytes = b"") -> Records:
        """``records``, kept as what the file holds now; ``data`` are the bytes that they were decoded from."""
        if state := file_state(self._folder / path):
            self._held[path] = state, records, data
        return records

    def lines(self, files: Mapping[str, str]) -> dict[int, bytes]:
        """By the ``id`` of each record the line that it was decoded from, of those ``files`` (hashes by path) that had
        these hashes then: a file that somebody else wrote may say the same in other bytes."""
        held = (self._held[path] for path in files if path in self._held)
        ours = ((records, data) for _, records, data in held if data and file_hash(data) in files.values())
        return {id(r): line for records, data in ours for r, line in zip(records, data.splitlines(), strict=True)}
