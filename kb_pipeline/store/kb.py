"""The knowledge base on disk: reading artefacts, committing them with their manifest, and what a run left behind.

The only room that touches ``kb/``. Knows codecs and manifests, not what a stage does.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os.path import isfile
from pathlib import Path
from typing import Any

from kb_pipeline.errors import StoreError
from kb_pipeline.records import SCHEMA_VERSION, UNCLASSIFIED, Record
from kb_pipeline.rules import ids
from kb_pipeline.rules.taxonomy import category_folder
from kb_pipeline.rules.written import HUMAN, item_of
from kb_pipeline.store.codecs import CODECS, pretty
from kb_pipeline.store.commits import NO_CATEGORIES, VERSIONS, Commit, Committed, Group, version_path
from kb_pipeline.store.files import (
    FileState,
    Stat,
    file_hash,
    file_state,
    lease,
    names_below,
    read_bytes,
    remove,
    replace,
    stat_tree,
    sweep,
)
from kb_pipeline.store.hands import Hands, adopted, edited, hands
from kb_pipeline.store.history import FOLDER as HISTORY
from kb_pipeline.store.history import History, Telling
from kb_pipeline.store.manifests import Entry, Manifest
from kb_pipeline.store.parsed import Parsed
from kb_pipeline.store.snapshots import Snapshots
from kb_pipeline.store.tombstones import Tombstones
from kb_pipeline.store.written import Written


class Kb:
    """The folder ``kb/`` below ``root``; ``categories`` maps the folder of each category to its name."""

    def __init__(self, root: Path, categories: Mapping[str, str] = NO_CATEGORIES) -> None:
        self.root = root
        self.categories = categories
        self.folder = root / "kb"
        self.cache = self.folder / "cache"
        self.warnings: list[str] = []
        self._manifests: dict[Path, Manifest] = {}
        self._parsed = Parsed(self.folder)
        self.written = Written(self.folder)
        self._settled: dict[str, tuple[FileState | None, Mapping[str, Any]]] = {}
        self._touched: dict[str, tuple[Mapping[str, Stat], Mapping[str, Stat], str]] = {}
        self.snapshots = Snapshots(self.cache / "versions")
        self.history = History(self.folder)
        self.tombstones = Tombstones(self.folder)

    # --- manifests and records -----------------------------------------------------------------------------------

    def manifest_path(self, stage: str, source: str | None) -> Path:
        """Where the manifest of a stage (and source) lies."""
        return self.folder / _FOLDERS.get(stage, stage) / (f"{source}.manifest.jsonl" if source else "manifest.jsonl")

    def manifest(self, stage: str, source: str | None = None) -> Manifest:
        """The manifest of a stage (and source); a broken one counts as none, so that the stage is made anew.

        Parsed once while its file stays the same: stages, checks and the report ask for the same ones.
        """
        path = self.manifest_path(stage, source)
        held = self._manifests.get(path)
        if held is not None and held.state == file_state(path):
            return held
        try:
            found = Manifest.load(path)
        except StoreError as error:
            if error.code != "manifest":
                raise
            self.warnings.append(f"{error} It is rebuilt.")
            return Manifest(path)
        self._manifests[path] = found
        return found

    def count(self, stage: str, source: str | None = None) -> int:
        """How many keys a manifest holds, without reading them."""
        return (read_bytes(self.manifest_path(stage, source)) or b"").count(b"\n")

    def sources(self, stage: str) -> list[str]:
        """Ids of the sources that ``stage`` holds a manifest of."""
        folder = self.folder / _FOLDERS.get(stage, stage)
        return sorted(p.name.removesuffix(".manifest.jsonl") for p in folder.glob("*.manifest.jsonl"))

    def read(self, stage: str, entry: Entry) -> tuple[Record, ...]:
        """The records under ``entry``. Raises ``StoreError`` that names the file and the cure."""
        codec, paths = CODECS[stage], sorted(entry.outputs)
        if not codec.shared:
            return codec.decode(paths, self.bytes_of)
        if (held := self._parsed.get(paths[0])) is not None:
            return held
        data = self.bytes_of(paths[0])
        return self._parsed.put(paths[0], codec.decode(paths, lambda _: data), data)

    def encoded(self, stage: str, entry: Entry) -> bytes:
        """The bytes that ``read`` decodes. Raises ``StoreError`` where they are gone."""
        return self.bytes_of(CODECS[stage].file_of(sorted(entry.outputs)))

    def bytes_of(self, path: str) -> bytes:
        """The bytes of a path below ``kb/``. Raises ``StoreError`` where it is gone."""
        data = self.written.get(path) or read_bytes(f"{self.folder}/{path}")
        if data is None:
            raise StoreError(
                "is missing.", where=f"kb/{path}", cure="Run `kb build --full` to make it anew.", code="missing"
            )
        return data

    def editable(self, stage: str) -> bool:
        """Whether people may edit what ``stage`` publishes."""
        return stage in CODECS and CODECS[stage].editable

    def with_edits(self, stage: str, manifest: Manifest, files: Mapping[str, Stat]) -> Manifest:
        """``manifest`` with the hashes of what people wrote over our files since or moved elsewhere, and less what they
        removed; only ``files`` whose stat moved are read. An entry whose edit is news has no ``input``, so that it is
        made again. Where the manifest was lost, whatever differs from what the machine will say counts as a person's.
        """
        changed = self._moved(stage, files)
        if not len(manifest):
            manifest, changed = manifest.with_changes([self._adopted(stage, path) for path in files], ()), set(files)
        journalled = self.journalled(stage, None)
        done = hands(self.folder, manifest, files, journalled, CODECS[stage].key_of)
        news = edited(self.folder, manifest, frozenset(changed), done.moved, journalled)
        written = {item_of(entry.key) for entry in self.manifest("normalized", HUMAN).live()} if stage == "tags" else ()
        news += adopted(self.folder, done.added, written, category_folder(UNCLASSIFIED))
        return manifest.with_changes(news, done.removed)

    def hands(self, stage: str, files: Mapping[str, Stat]) -> Hands:
        """What people moved, removed and added of the files of ``stage``."""
        return hands(self.folder, self.manifest(stage), files, self.journalled(stage, None), CODECS[stage].key_of)

    def _adopted(self, stage: str, path: str) -> Entry:
        return Entry(key=CODECS[stage].key_of(path, self.bytes_of(path)), outputs={path: ""})

    def _moved(self, stage: str, files: Mapping[str, Stat]) -> set[str]:
        """The paths of ``files`` whose stat is not the one that ``settle`` recorded."""
        before = self.settled(stage)
        return set() if files == before else {path for path, stat in files.items() if before.get(path) != stat}

    def settled(self, stage: str) -> Mapping[str, Stat]:
        """The tree of ``stage`` as ``settle`` recorded it last; empty where that is lost."""
        state = file_state(self.cache / f"tree/{stage}.json")
        if stage not in self._settled or self._settled[stage][0] != state:
            found = self.state(f"tree/{stage}")
            self._settled[stage] = state, {path: tuple(stat) for path, stat in found.items() if isinstance(stat, list)}
        return self._settled[stage][1]

    def settle(self, stage: str, files: Mapping[str, Stat], done: Committed) -> dict[str, Stat]:
        """Record the tree of ``stage``: ``files`` as they stood before a commit, with what was ``done`` to them. What a
        person changed or removed meanwhile differs from it, and is looked at by the next run."""
        now = {path: stat for path, stat in {**files, **done.files}.items() if path not in done.removed}
        self.keep_state(f"tree/{stage}", now)
        self._settled[stage] = file_state(self.cache / f"tree/{stage}.json"), now
        return now

    def present(self, entry: Entry) -> bool:
        """Whether all outputs of ``entry`` are on disk (by name)."""
        return all(self.written.get(p) or isfile(f"{self.folder}/{p}") for p in entry.outputs)  # noqa: PTH113 - often

    def standing(self, stage: str, source: str) -> frozenset[str]:
        """The paths below ``kb/`` of what ``stage`` made of ``source``: for who would ask ``present`` of most of it."""
        return names_below(self.folder, f"{_FOLDERS.get(stage, stage)}/{source}")

    def on_disk(self, manifest: Manifest) -> Manifest:
        """``manifest`` less the keys whose files are gone or are not what it records."""
        return manifest.with_changes((), [entry.key for entry in manifest if not self.intact(entry)])

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
        telling: Telling | None = Telling(),  # noqa: B008 - frozen
    ) -> Committed:
        """Publish ``groups`` and drop ``deletes``: files first, the manifest last. Equal bytes are not written. What
        becomes of items is added to their history, with what ``telling`` knows of it; None keeps silent about it."""
        with self.locked():
            sweep(
                (self.folder, self.cache, *self.cache.glob("*/"), *(self.folder / name for name in ("logs", HISTORY)))
            )
            journal = self.cache / f"{_journal(stage, source)}.json"
            interrupted = self.journalled(stage, source)
            plan = Commit(
                self.folder, manifest, CODECS.get(stage), journal, interrupted, self.categories, self._parsed.lines
            )
            for group in (published := list(groups)):
                plan.add(group, recipe)
            plan.delete(deletes)
            self.history.settle()
            if telling is not None and (plan.steps or telling.gone):
                self.history.note(plan.steps, telling)
            done = plan.carry_out()
            self.history.settle(done.files)
        self._manifests[done.manifest.path] = done.manifest
        if self.editable(stage):
            self.written.keep(f"{_FOLDERS.get(stage, stage)}/", done.files, done.data)
        if stage in CODECS and CODECS[stage].shared:
            for group in published:
                self._parsed.put(min(done.manifest[group.key].outputs), tuple(group.records))
        return done

    def version_path(self, version: str) -> Path:
        """Where a kept old version of a document lies."""
        return version_path(self.folder, version)

    def versions(self) -> list[str]:
        """The names of the kept old versions, sorted."""
        return sorted(path.stem for path in (self.folder / VERSIONS).glob("*.md"))

    def drop_versions(self, versions: Iterable[str]) -> int:
        """Remove these kept versions; how many there were."""
        return remove([self.version_path(version) for version in versions], self.folder)

    def collect_versions(self, cited: frozenset[str], since: float) -> int:
        """Drop the kept versions that nothing cites and that were replaced before ``since``; how many."""
        kept = (p for p in (self.folder / VERSIONS).glob("*.md") if p.stem not in cited)
        return remove([p for p in kept if p.stat().st_mtime < since], self.folder)

    def evaluated(self) -> list[str]:
        """The generations that ``kb/eval/results.jsonl`` tells of, which outlive ``kb/index``."""
        lines = (read_bytes(self.folder / "eval" / "results.jsonl") or b"").splitlines()
        return [str(found.get("generation", "")) for line in lines if isinstance(found := _json(line), dict)]

    # --- what runs leave behind ----------------------------------------------------------------------------------

    def state(self, name: str) -> dict[str, Any]:
        """A machine-local JSON object under ``kb/cache/``; a broken one counts as lost, which is empty."""
        value = _json(read_bytes(self.cache / f"{name}.json") or b"{}")
        return value if isinstance(value, dict) else {}

    def keep_state(self, name: str, value: Mapping[str, Any]) -> None:
        """Keep a machine-local JSON object; losing it costs time only."""
        data = json.dumps(value, separators=(",", ":")).encode()
        if read_bytes(self.cache / f"{name}.json") != data:
            replace(self.cache / f"{name}.json", data, durable=False)

    def states(self, folder: str) -> list[str]:
        """Names of the objects kept below ``folder`` of ``kb/cache/``, sorted."""
        return sorted(path.stem for path in (self.cache / folder).glob("*.json"))

    def touched(self, stage: str, files: Mapping[str, Stat]) -> str:
        """The hash of how ``files`` differ from what ``settle`` recorded; empty where there is none."""
        before, held = self.settled(stage), self._touched.get(stage)
        if not held or held[0] is not files or held[1] is not before:
            found = "" if files == before else ids.digest_json(sorted(files.items() ^ before.items()))
            held = self._touched[stage] = files, before, found
        return held[2]

    def tree_state(self, stage: str) -> dict[str, Stat]:
        """Size and mtime of the files that people may edit, by path below ``kb/``."""
        folder = _FOLDERS.get(stage, stage)
        suffix, foreign = CODECS[stage].suffix, CODECS[stage].foreign
        found = stat_tree(self.folder, folder, suffix)
        return {path: s for path, s in found.items() if not path.startswith(foreign)} if foreign else found

    def log(self, name: str, lines: Sequence[Mapping[str, Any]]) -> None:
        """Replace ``kb/logs/<name>.jsonl``."""
        data = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
        if (read_bytes(self.folder / "logs" / f"{name}.jsonl") or b"") != data:
            replace(self.folder / "logs" / f"{name}.jsonl", data, durable=False)

    def logged(self, name: str) -> list[dict[str, Any]]:
        """The lines of ``kb/logs/<name>.jsonl``."""
        return [json.loads(line) for line in (read_bytes(self.folder / "logs" / f"{name}.jsonl") or b"").splitlines()]

    def keep_report(self, name: str, report: Record) -> None:
        """Keep a report as ``kb/logs/<name>.json``; nothing is written where its bytes are equal."""
        path, data = self.folder / "logs" / f"{name}.json", pretty(report)
        if read_bytes(path) != data:
            replace(path, data, durable=False)

    def tell(self, name: str, when: str, lines: Sequence[str]) -> None:
        """Append what was decided to ``kb/logs/<name>.md``, for people."""
        if lines:
            path = self.folder / "logs" / f"{name}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a") as f:
                f.write(f"## {when}\n\n" + "".join(f"- {line}\n" for line in lines) + "\n")

    def schema(self) -> int:
        """The schema that ``kb/`` was written with; 0 where that is not recorded. Refuses a newer one."""
        path = self.folder / "schema.json"
        try:
            found = int(json.loads(read_bytes(path) or b"{}").get("schema_version", 0))
        except (ValueError, TypeError, AttributeError):
            return 0
        if found > SCHEMA_VERSION:
            raise StoreError(
                f"has schema version {found}; this program knows up to {SCHEMA_VERSION}.",
                where=str(path),
                cure="Update the program, or check out an older state of kb/.",
                code="schema",
            )
        return found

    def check_schema(self) -> str | None:
        """Stamp a knowledge base of an older schema, or of none. A message where it was migrated."""
        path, found = self.folder / "schema.json", self.schema()
        if found == SCHEMA_VERSION:
            return None
        older = any(self.folder.glob("*/*manifest.jsonl"))
        replace(path, json.dumps({"schema_version": SCHEMA_VERSION}).encode() + b"\n")
        return f"kb/ was migrated from schema version {found} to {SCHEMA_VERSION}." if older else None

    def journalled(self, stage: str, source: str | None) -> dict[str, frozenset[str]]:
        """Paths, and the hashes of what commits that were killed may have left there since the last whole one."""
        found = self.state(_journal(stage, source))
        return {path: frozenset(map(str, hashes)) for path, hashes in found.items() if isinstance(hashes, list)}


def _json(data: bytes) -> Any:
    """What ``data`` says, None where it is broken."""
    try:
        return json.loads(data)
    except ValueError:
        return None


def _journal(stage: str, source: str | None) -> str:
    return f"journal/{stage}.{source or ''}"


_FOLDERS: Mapping[str, str] = {"tags": "items"}
