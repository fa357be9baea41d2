"""Documents that must not come back: ``kb/purged.jsonl``, tracked in git. Holds hashes of their names, never a name."""

import json
from pathlib import Path

from kb_pipeline.rules.ids import digest
from kb_pipeline.store.files import FileState, file_state, read_bytes, replace

FILE = "purged.jsonl"


class Tombstones:
    """The tombstones of one knowledge base, a sorted JSON line each."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._read: tuple[FileState | None, dict[str, str]] = None, {}

    def __contains__(self, doc_id: object) -> bool:
        known = self._known()
        return bool(known) and digest(str(doc_id)) in known

    def __len__(self) -> int:
        return len(self._known())

    def add(self, doc_id: str, at: str) -> None:
        """Let a document never be read again."""
        self._write({digest(doc_id): at, **self._known()})

    def lift(self, doc_id: str) -> bool:
        """Let it be read again; whether there was a tombstone."""
        known = self._known()
        self._write({name: at for name, at in known.items() if name != digest(doc_id)})
        return len(known) != len(self._known())

    def _known(self) -> dict[str, str]:
        state = file_state(self._path)
        if state != self._read[0]:
            lines = (json.loads(line) for line in (read_bytes(self._path) or b"").splitlines() if line)
            self._read = state, {str(line["doc"]): str(line["at"]) for line in lines}
        return self._read[1]

    def _write(self, known: dict[str, str]) -> None:
        if known == self._known():
            return
        lines = (json.dumps({"doc": name, "at": at}) for name, at in sorted(known.items()))
        if known:
            replace(self._path, "".join(f"{line}\n" for line in lines).encode())
        else:
            self._path.unlink(missing_ok=True)
