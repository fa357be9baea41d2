"""A ``fetch`` stage: what a connector lists becomes originals and tombstones. Deletes nothing on a guess."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from kb_pipeline.errors import KbError, SourceUnavailable
from kb_pipeline.records import Fetched, RawEntry, Source, StageReport
from kb_pipeline.rules import ids
from kb_pipeline.rules.written import HUMAN
from kb_pipeline.runner.context import Run, Stamp
from kb_pipeline.sources import kinds, listed_once
from kb_pipeline.stages import PIPELINE, raw
from kb_pipeline.store.commits import Group
from kb_pipeline.store.manifests import Entry, Manifest

_BATCH_BYTES = 64 * 1024 * 1024
_BATCH_DOCS = 1000


def fetch(run: Run, source: Source) -> StageReport:
    """Bring the originals of ``source`` up to date. Raises ``SourceUnavailable`` with all that was read kept."""
    stage, began = PIPELINE["raw"], time.monotonic()
    recipe = run.recipe(stage, source)
    before = run.stamp("raw", source.id)
    visit = _Visit(run, source, recipe)
    try:
        with listed_once():
            fingerprint = kinds(run.world.settings)[source.type].fingerprint(source, run.world.settings)
            visit.read()
    except Exception as error:
        visit.commit()
        run.keep_stamp("raw", source.id, {**before, "failed": str(error), "failed_at": run.now()})
        raise _unavailable(source, error) from error
    gone = visit.settle()
    hide(run)
    stamp: Stamp = {
        "recipe": recipe,
        "upstream": "",
        "version": visit.manifest.version(),
        "manifest": run.manifest_stat("raw", source.id),
        "fingerprint": fingerprint,
        "at": run.now(),
    }
    if visit.held:
        stamp["held"] = visit.held
    run.keep_stamp("raw", source.id, stamp)
    return StageReport(
        stage="raw",
        partition=source.id,
        made=visit.changed,
        kept=visit.same,
        deleted=len(gone),
        failed=len(visit.failed),
        files_written=visit.written,
        seconds=round(time.monotonic() - began, 3),
        data_version=stamp["version"],
        warnings=tuple(visit.warnings),
        details={"documents": len(visit.manifest.live())},
    )


def _unavailable(source: Source, error: Exception) -> SourceUnavailable:
    if isinstance(error, SourceUnavailable):
        return error
    cure = error.cure if isinstance(error, KbError) else "Its last good documents stay; see `kb status`."
    return SourceUnavailable(f"failed: {error}.", where=f"source '{source.id}'", cure=cure)


@dataclass
class _Visit:
    """One reading of a source's listing, committed in batches."""

    run: Run
    source: Source
    recipe: str
    changed: int = 0
    same: int = 0
    written: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    stats: dict[str, tuple[int, int]] = field(default_factory=dict)
    groups: list[Group] = field(default_factory=list)
    size: int = 0
    held: int = 0

    def __post_init__(self) -> None:
        self.manifest: Manifest = self.run.kb.manifest("raw", self.source.id)
        self.remembered: dict[str, list[int]] = self.run.kb.state(f"stat/{self.source.id}")

    def read(self) -> None:
        """Read the listing to its end."""
        known = dict(self._known())
        for fetched in raw.run(self.source, known, self.run.world):
            self.run.progress("raw", self.source.id, len(self.seen), max(len(known), len(self.seen)))
            self.seen.add(fetched.path)
            if ids.doc_id(self.source.id, fetched.path) in self.run.kb.tombstones:
                continue
            if fetched.state == "failed":
                self.failed[fetched.path] = fetched.reason
                self.warnings.append(f"{self.source.id}/{fetched.path}: {fetched.reason}")
            else:
                self._keep(fetched, known.get(fetched.path))
            if len(self.groups) >= _BATCH_DOCS or self.size > _BATCH_BYTES:
                self.commit()
        self.commit()

    def _known(self) -> Iterator[tuple[str, RawEntry]]:
        standing = self.run.kb.standing("raw", self.source.id)
        for entry in self.manifest.live():
            if entry.outputs.keys() <= standing:
                stat = None if self.run.full else self.remembered.get(entry.key)
                yield entry.key, RawEntry(**entry.info, stat=(stat[0], stat[1]) if isinstance(stat, list) else None)

    def _keep(self, fetched: Fetched, known: RawEntry | None) -> None:
        old = self.manifest.get(fetched.path)
        before = known or (RawEntry(**old.info) if old else None)
        after = raw.entry(fetched, before, self.source, self.run.world.clock.now())
        if fetched.stat:
            self.stats[fetched.path] = fetched.stat
        if old and fetched.content is None and after == known and old.recipe == self.recipe:
            self.same += 1
            return
        path = next(iter(old.outputs), "") if old else ""
        path = path or self._free(fetched.path)
        group = Group(
            key=fetched.path,
            input=after.sha256,
            content=raw.content(after),
            files={} if fetched.content is None else {path: fetched.content},
            outputs={path: after.sha256[:32]},
            info=after.model_dump(mode="json", exclude_defaults=True, exclude={"stat"}),
        )
        if old and old.live and old.content == group.content:
            self.same += 1
        else:
            self.changed += 1
        self.groups.append(group)
        self.size += len(fetched.content or b"")

    def _free(self, name: str) -> str:
        """Where a new original goes below ``kb/``: by its name, unless what stands there still is a file where it needs
        a folder, or a folder where it is a file (``a.txt`` became ``a.txt/b.txt``)."""
        path, kb = PurePosixPath("raw", self.source.id, name), self.run.kb.folder
        blocked = path in self._folders or (kb / path).is_dir()
        unknown = (parent for parent in path.parents if parent not in self._folders)
        if blocked or any(parent in self._files or (kb / parent).is_file() for parent in unknown):
            path = PurePosixPath("raw", self.source.id, f"{ids.digest(name)[:12]}-{path.name}")
        self._files.add(path)
        self._folders.update(path.parents)
        return str(path)

    @cached_property
    def _files(self) -> set[PurePosixPath]:
        return {PurePosixPath(path) for entry in self.manifest.live() for path in entry.outputs}

    @cached_property
    def _folders(self) -> set[PurePosixPath]:
        return {parent for path in self._files for parent in path.parents}

    def commit(self) -> None:
        """Publish what was read so far."""
        self.run.world.pool.expect(len(self.groups))
        done = self.run.kb.commit("raw", self.source.id, self.manifest, self.groups, recipe=self.recipe)
        self.manifest, self.written = done.manifest, self.written + done.written
        self.groups, self.size = [], 0

    def settle(self) -> list[str]:
        """After a complete listing: tombstones for what is gone, unless so much is gone that a person must say so."""
        gone = [e.key for e in self.manifest.live() if e.key not in self.seen]
        accepted = self.source.id in self.run.accept_deletions
        if raw.sudden_loss(len(self.manifest.live()), len(gone)) and not accepted:
            self.warnings.append(
                f"source '{self.source.id}': {len(gone)} of {len(self.manifest.live())} documents are gone at once; "
                f"nothing was deleted. If that is right: kb build --accept-deletions {self.source.id}"
            )
            self.held, gone = len(gone), []
        self.groups = [_tombstone(self.manifest[key], self.run.now()) for key in gone]
        self.commit()
        self.run.kb.keep_state(f"stat/{self.source.id}", self.stats)
        return gone


def _tombstone(entry: Entry, now: str) -> Group:
    return Group(key=entry.key, input=entry.input, files={}, outputs={}, info={**entry.info, "deleted_at": now})


def forget(run: Run) -> list[str]:
    """Drop what sources that left the registry gave; their originals become tombstones. The ids dropped."""
    registered = {s.id for s in run.world.settings.sources}
    dropped = []
    for source in run.kb.sources("raw"):
        manifest = run.kb.manifest("raw", source)
        if source in registered or not manifest.live():
            continue
        run.kb.commit("raw", source, manifest, [_tombstone(e, run.now()) for e in manifest.live()])
        for stage in ("normalized", "chunks", "atomic_items"):
            held = run.kb.manifest(stage, source)
            run.kb.commit(stage, source, held, (), held.keys())
        run.drop_stamps(source)
        dropped.append(source)
    if dropped:
        hide(run)
    return dropped


def hide(run: Run, also: frozenset[str] = frozenset()) -> None:
    """Mask every document that is gone, and ``also`` these, in every retained generation, from the next request on.

    What was masked stays so until it is there again, even where the manifest that knew of it was lost.
    """
    with run.kb.locked():
        entries = [(ids.doc_id(s, e.key), e) for s in run.kb.sources("raw") for e in run.kb.manifest("raw", s)]
        entries += [(entry.key, entry) for entry in run.kb.manifest("normalized", HUMAN)]
        live = {doc for doc, entry in entries if entry.live}
        gone = {doc for doc, entry in entries if not entry.live}
        index = run.world.index
        index.mask(also | gone | (index.masked() - live))
