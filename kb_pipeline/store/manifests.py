"""What was made from what: one sorted JSON line a key, beside the artefacts, so that manifests merge in git."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from kb_pipeline.errors import StoreError
from kb_pipeline.records import Record
from kb_pipeline.rules import ids
from kb_pipeline.store.files import FileState, file_state, read_bytes, replace


class Entry(Record):
    """One key of one stage.

    ``input`` is the hash of what it was made from, ``recipe`` that of how, ``content`` that of the declared content
    fields (offsets aside): what the next stage's input is. ``outputs`` maps paths below ``kb/`` to the hash of the
    bytes we wrote; ``edited`` does so for bytes that a person wrote instead. ``failed`` is the reason why there are no
    outputs; ``info`` is the stage's own (raw: the RawEntry). ``rejected`` counts what
    was turned away, ``quarantined`` what of it failed a proof.
    """

    key: str
    input: str = ""
    recipe: str = ""
    content: str = ""
    outputs: Mapping[str, str] = Field(default_factory=dict)
    edited: Mapping[str, str] = Field(default_factory=dict)
    failed: str | None = None
    made: int = 0
    rejected: int = 0
    quarantined: int = 0
    info: Mapping[str, Any] = Field(default_factory=dict)

    @property
    def live(self) -> bool:
        """Whether a document stands behind it: neither failed nor deleted at its source."""
        return self.failed is None and not self.info.get("deleted_at")

    @property
    def version(self) -> str:
        """The hash of the content under this key, a person's edit included."""
        if not self.edited:
            return self.content
        return ids.digest(self.content, *(f"{path} {found}" for path, found in sorted(self.edited.items())))


_UNWRITTEN: Mapping[str, bytes] = {}


class Manifest:
    """The entries of one stage (and source), in the order of their keys. Never changes, so it may be shared.

    ``state`` is that of the file which holds just these entries, None where none is known to.
    """

    def __init__(
        self,
        path: Path,
        entries: Iterable[Entry] = (),
        state: FileState | None = None,
        lines: Mapping[str, bytes] = _UNWRITTEN,
    ) -> None:
        self.path, self.state = path, state
        self._entries = {e.key: e for e in sorted(entries, key=attrgetter("key"))}
        self._lines = lines  # of entries that are as they were read, by key

    @property
    def source(self) -> str:
        """The source that the manifest is of, by its file's name."""
        return self.path.name.removesuffix(".manifest.jsonl")

    @classmethod
    def load(cls, path: Path) -> "Manifest":
        """Read ``path``; empty where there is none. Raises ``StoreError`` that names the line that is broken."""
        state = file_state(path)
        lines = list(filter(None, (read_bytes(path) or b"").splitlines()))
        try:
            entries = [Entry.model_validate_json(line) for line in lines]
        except ValidationError as error:
            raise StoreError(
                f"is not a manifest: {error.errors()[0]['msg']}.", where=str(path), code="manifest"
            ) from error
        return cls(path, entries, state, {entry.key: line for entry, line in zip(entries, lines, strict=True)})

    def __getitem__(self, key: str) -> Entry:
        return self._entries[key]

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def get(self, key: str) -> Entry | None:
        """The entry of ``key``, or None."""
        return self._entries.get(key)

    def keys(self) -> list[str]:
        """Sorted keys."""
        return list(self._entries)

    def live(self) -> Sequence[Entry]:
        """Entries with a document behind them, by key."""
        return self._live

    @cached_property
    def _live(self) -> Sequence[Entry]:
        return tuple(e for e in self if e.live)

    def with_changes(self, upserts: Iterable[Entry], deletes: Iterable[str]) -> "Manifest":
        """A manifest less ``deletes`` and with ``upserts``; this one where that is the same."""
        merged = dict(self._entries)
        for key in deletes:
            merged.pop(key, None)
        merged.update({e.key: e for e in upserts})
        if merged == self._entries:
            return self
        lines = {key: line for key, line in self._lines.items() if merged.get(key) is self._entries[key]}
        return Manifest(self.path, merged.values(), lines=lines)

    @cached_property
    def versions(self) -> Mapping[str, str]:
        """What stands under each key with a document behind it."""
        return {e.key: e.version for e in self._live}

    def version(self) -> str:
        """The hash of the content of all outputs: the partition's data version."""
        return self._version

    @cached_property
    def _version(self) -> str:
        return ids.digest("\n".join(f"{key} {version}" for key, version in self.versions.items()))

    def save(self) -> None:
        """Write the file where its bytes differ."""
        if self.state is not None and self.state == file_state(self.path):
            return
        data = b"".join(b"%b\n" % self._line(entry) for entry in self)
        if read_bytes(self.path) != data:
            replace(self.path, data)
        self.state = file_state(self.path)

    def _line(self, entry: Entry) -> bytes:
        return self._lines.get(entry.key) or entry.model_dump_json(exclude_defaults=True).encode()
