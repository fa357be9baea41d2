"""The knowledge base on disk: reading artefacts, committing them with their manifest, and what a run left behind.

The only room that touches ``kb/``. Knows codecs and manifests, not what a stage does.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kb_pipeline.errors import StoreError
from kb_pipeline.records import SCHEMA_VERSION, Record
from kb_pipeline.store.codecs import CODECS
from kb_pipeline.store.files import file_hash, lease, read_bytes, remove, replace, stat_tree, write_all
from kb_pipeline.store.manifests import Entry, Manifest


@dataclass(frozen=True)
class Group:
    """What a stage made for one key: its records, or ``files`` by path for originals, and where they come from.

    ``outputs`` names the files that stand for the key where not all of them travel (an original that is unchanged).
    """

    key: str
    records: Sequence[Record] = ()
    input: str = ""
    files: Mapping[str, bytes] | None = None
    outputs: Mapping[str, str] | None = None
    content: str = ""
    failed: str | None = None
    rejected: int = 0
    quarantined: int = 0
    info: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Committed:
    """What a commit changed: ``written`` files, keys whose bytes a person changed and which were kept."""

    manifest: Manifest
    written: int
    edited: tuple[str, ...] = ()


class Kb:
    """The folder ``kb/`` below ``root``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "kb"
        self.cache = self.folder / "cache"
        self.warnings: list[str] = []

    # --- manifests and records -----------------------------------------------------------------------------------

    def manifest_path(self, stage: str, source: str | None) -> Path:
        """Where the manifest of a stage (and source) lies."""
        return self.folder / _FOLDERS.get(stage, stage) / (f"{source}.manifest.jsonl" if source else "manifest.jsonl")

    def manifest(self, stage: str, source: str | None = None) -> Manifest:
        """The manifest of a stage (and source); a broken one counts as none, so that the stage is made anew."""
        path = self.manifest_path(stage, source)
        try:
            return Manifest.load(path)
        except StoreError as error:
            if error.code != "manifest":
                raise
            self.warnings.append(f"{error} It is rebuilt.")
            return Manifest(path)

    def count(self, stage: str, source: str | None = None) -> int:
        """How many keys a manifest holds, without reading them."""
        return (read_bytes(self.manifest_path(stage, source)) or b"").count(b"\n")

    def sources(self, stage: str) -> list[str]:
        """Ids of the sources that ``stage`` holds a manifest of."""
        folder = self.folder / _FOLDERS.get(stage, stage)
        return sorted(p.name.removesuffix(".manifest.jsonl") for p in folder.glob("*.manifest.jsonl"))

    def read(self, stage: str, entry: Entry) -> tuple[Record, ...]:
        """The records under ``entry``. Raises ``StoreError`` that names the file and the cure."""
        return CODECS[stage].decode(sorted(entry.outputs), self.bytes_of)

    def bytes_of(self, path: str) -> bytes:
        """The bytes of a path below ``kb/``. Raises ``StoreError`` where it is gone."""
        data = read_bytes(self.folder / path)
        if data is None:
            raise StoreError(
                "is missing.", where=f"kb/{path}", cure="Run `kb build --full` to make it anew.", code="missing"
            )
        return data

    def editable(self, stage: str) -> bool:
        """Whether people may edit what ``stage`` publishes."""
        return stage in CODECS and CODECS[stage].editable

    def with_edits(self, stage: str, manifest: Manifest) -> Manifest:
        """``manifest`` with the hashes of what people wrote over our files since, and less what they removed; only
        files whose stat moved are read. What we wrote ourselves, a killed run's journal included, is no edit."""
        name = f"tree/{stage}"
        before: dict[str, list[int]] = self.state(name) or {}
        now = self.tree_state(stage)
        journalled = self.state(f"journal/{stage}.") or {}
        changed: list[Entry] = []
        removed = [e.key for e in manifest if not e.outputs.keys() <= now.keys()]
        for entry in manifest:
            edits = dict(entry.edited)
            for path, ours in entry.outputs.items():
                if path in now and before.get(path) != list(now[path]):
                    found = file_hash(self.bytes_of(path))
                    edits.pop(path, None)
                    edits.update({path: found} if found not in {ours, journalled.get(path)} else {})
            if edits != entry.edited:
                changed.append(entry.model_copy(update={"edited": edits}))
        self.keep_state(name, now)
        return manifest.with_changes(changed, removed)

    def present(self, entry: Entry) -> bool:
        """Whether all outputs of ``entry`` are on disk (by name)."""
        return all((self.folder / path).is_file() for path in entry.outputs)

    def on_disk(self, manifest: Manifest) -> Manifest:
        """``manifest`` less the keys whose files are gone."""
        return manifest.with_changes((), [entry.key for entry in manifest if not self.present(entry)])

    def intact(self, entry: Entry) -> bool:
        """Whether all outputs of ``entry`` are on disk with the bytes that the manifest records."""
        recorded = {**entry.outputs, **entry.edited}
        return all((d := read_bytes(self.folder / p)) is not None and file_hash(d) == h for p, h in recorded.items())

    # --- commits -------------------------------------------------------------------------------------------------

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the knowledge base's lock: for commits, never during a model call."""
        with lease(self.cache / "commit.lock"):
            yield

    def commit(
        self,
        stage: str,
        source: str | None,
        manifest: Manifest,
        groups: Iterable[Group],
        deletes: Iterable[str] = (),
        *,
        recipe: str = "",
    ) -> Committed:
        """Publish ``groups`` and drop ``deletes``: files first, the manifest last.

        The intended hashes are journalled before the first file changes, so that after a kill what matches neither
        journal nor manifest is known to be a person's. Bytes that are equal are not written.
        """
        with self.locked():
            plan = _Plan(self, stage, source, manifest)
            for group in groups:
                plan.add(group, recipe)
            plan.delete(deletes)
            return plan.carry_out()

    def encode(self, stage: str, group: Group, recipe: str) -> tuple[Entry, Mapping[str, bytes]]:
        """The manifest's entry for ``group``, and its files."""
        if group.failed is not None:
            return Entry(key=group.key, input=group.input, recipe=recipe, failed=group.failed, info=group.info), {}
        files, content = group.files, group.content
        if files is None:
            files = CODECS[stage].encode(group.key, group.records)
            content = CODECS[stage].content(group.records, files)
        entry = Entry(
            key=group.key,
            input=group.input,
            recipe=recipe,
            content=content,
            outputs={path: file_hash(data) for path, data in files.items()} if group.outputs is None else group.outputs,
            made=len(group.records),
            rejected=group.rejected,
            quarantined=group.quarantined,
            info=group.info or (CODECS[stage].facts(group.records) if group.records else {}),
        )
        return entry, files

    def keep_version(self, path: str) -> None:
        """Keep the text at ``path`` under its hash, so that what cites it stays provable."""
        data = read_bytes(self.folder / path)
        if data is not None:
            kept = self.version_path(file_hash(data))
            if not kept.exists():
                replace(kept, data)

    def version_path(self, version: str) -> Path:
        """Where a kept old version of a document lies."""
        return self.folder / "normalized" / ".versions" / f"{version}.md"

    def collect_versions(self, cited: frozenset[str], since: float) -> int:
        """Drop the kept versions that nothing cites and that were replaced before ``since``; how many."""
        folder = self.folder / "normalized" / ".versions"
        kept = (p for p in folder.glob("*.md") if p.stem not in cited)
        return remove([p for p in kept if p.stat().st_mtime < since], self.folder)

    # --- what runs leave behind ----------------------------------------------------------------------------------

    def state(self, name: str) -> Any:
        """A machine-local JSON value under ``kb/cache/``, or None; a broken one counts as lost."""
        try:
            return json.loads(read_bytes(self.cache / f"{name}.json") or b"null")
        except ValueError:
            return None

    def keep_state(self, name: str, value: Any) -> None:
        """Keep a machine-local JSON value; losing it costs time only."""
        data = json.dumps(value, separators=(",", ":")).encode()
        if read_bytes(self.cache / f"{name}.json") != data:
            replace(self.cache / f"{name}.json", data, durable=False)

    def tree_state(self, stage: str) -> dict[str, tuple[int, int]]:
        """Size and mtime of the files that people may edit, by path below ``kb/``."""
        folder = _FOLDERS.get(stage, stage)
        return {f"{folder}/{p}": s for p, s in stat_tree(self.folder / folder, ".json").items()}

    def log(self, name: str, lines: Sequence[Mapping[str, Any]]) -> None:
        """Replace ``kb/logs/<name>.jsonl``."""
        data = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
        if (read_bytes(self.folder / "logs" / f"{name}.jsonl") or b"") != data:
            replace(self.folder / "logs" / f"{name}.jsonl", data, durable=False)

    def logged(self, name: str) -> list[dict[str, Any]]:
        """The lines of ``kb/logs/<name>.jsonl``."""
        return [json.loads(line) for line in (read_bytes(self.folder / "logs" / f"{name}.jsonl") or b"").splitlines()]

    def check_schema(self) -> str | None:
        """Refuse a knowledge base of a newer schema; stamp one that has none. A message where it was migrated."""
        path = self.folder / "schema.json"
        data = read_bytes(path)
        found = int(json.loads(data)["schema_version"]) if data else 0
        if found > SCHEMA_VERSION:
            raise StoreError(
                f"has schema version {found}; this program knows up to {SCHEMA_VERSION}.",
                where=str(path),
                cure="Update the program, or check out an older state of kb/.",
                code="schema",
            )
        if found == SCHEMA_VERSION:
            return None
        older = any(self.folder.glob("*/*manifest.jsonl"))
        replace(path, json.dumps({"schema_version": SCHEMA_VERSION}).encode() + b"\n")
        return f"kb/ was migrated from schema version {found} to {SCHEMA_VERSION}." if older else None


class _Plan:
    """One commit in the making: what to write, what to remove, what a person's hand keeps."""

    def __init__(self, kb: Kb, stage: str, source: str | None, manifest: Manifest) -> None:
        self.kb, self.stage, self.manifest = kb, stage, manifest
        self.codec = CODECS.get(stage)
        self.journal = kb.cache / "journal" / f"{stage}.{source or ''}.json"
        self.interrupted: dict[str, str | None] = kb.state(f"journal/{stage}.{source or ''}") or {}
        self.entries: list[Entry] = []
        self.writes: dict[str, bytes] = {}
        self.stale: set[str] = set()
        self.gone: list[str] = []
        self.edited: list[str] = []

    def add(self, group: Group, recipe: str) -> None:
        entry, files = self.kb.encode(self.stage, group, recipe)
        old = self.manifest.get(group.key)
        edits = self._edits(old, files) if self.codec and self.codec.editable else {}
        if edits:
            self.edited.append(group.key)
            outputs = dict(old.outputs if old else entry.outputs)
            self.entries.append(entry.model_copy(update={"outputs": outputs, "edited": edits}))
            return
        self.stale |= set(old.outputs if old else ()) - set(entry.outputs)
        self.writes.update({p: d for p, d in files.items() if read_bytes(self.kb.folder / p) != d})
        self.entries.append(entry)

    def _edits(self, old: Entry | None, files: Mapping[str, bytes]) -> dict[str, str]:
        """Paths whose bytes on disk are neither the manifest's, nor the journal's, nor what is to be written."""
        edits: dict[str, str] = {}
        for path in {*files, *(old.outputs if old else ())}:
            found = read_bytes(self.kb.folder / path)
            if found is None or found == files.get(path):
                continue
            current = file_hash(found)
            if current not in {(old.outputs if old else {}).get(path), self.interrupted.get(path)}:
                edits[path] = current
        return edits

    def delete(self, keys: Iterable[str]) -> None:
        self.gone = list(keys)
        self.stale |= {path for key in self.gone if (e := self.manifest.get(key)) for path in e.outputs}

    def carry_out(self) -> Committed:
        new = self.manifest.with_changes(self.entries, self.gone)
        stale = (self.stale | self._orphans(new)) - set(self.writes)
        if self.writes or stale:
            if self.codec and self.codec.versioned:
                for path in sorted((stale | set(self.writes)) & self._texts()):
                    self.kb.keep_version(path)
            replace(self.journal, self._journal(stale))
            write_all({self.kb.folder / path: data for path, data in self.writes.items()})
        new.save()
        remove([self.kb.folder / path for path in stale], self.kb.folder)
        self.journal.unlink(missing_ok=True)
        return Committed(new, len(self.writes), tuple(self.edited))

    def _journal(self, stale: set[str]) -> bytes:
        """What this commit, and the killed one before it, may leave on disk; null for what is to go."""
        intended = {path: file_hash(data) for path, data in self.writes.items()}
        return json.dumps({**self.interrupted, **dict.fromkeys(sorted(stale)), **intended}).encode()

    def _orphans(self, new: Manifest) -> set[str]:
        """Files that a killed commit wrote, or was about to remove, and that no manifest names."""
        named = {path for entry in new for path in entry.outputs} if self.interrupted else set()
        return {
            path
            for path, intended in self.interrupted.items()
            if path not in named
            and (found := read_bytes(self.kb.folder / path)) is not None
            and intended in {None, file_hash(found)}
        }

    def _texts(self) -> set[str]:
        return {path for entry in self.manifest for path in entry.outputs if path.endswith(".md")}


_FOLDERS: Mapping[str, str] = {"tags": "items"}
