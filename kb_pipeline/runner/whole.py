"""A ``whole`` stage: over all sources at once, touching only what changes reach."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from kb_pipeline.errors import StoreError
from kb_pipeline.records import RawEntry, Record, StageReport
from kb_pipeline.rules import ids
from kb_pipeline.runner.context import Run
from kb_pipeline.stages import PIPELINE, Stage
from kb_pipeline.store.commits import FAULT, Committed, Group
from kb_pipeline.store.history import Telling
from kb_pipeline.store.manifests import Entry, Manifest
from kb_pipeline.world import Changes, Output

_NOTHING = Manifest(Path()).version()  # of no live entry
_RUN = 12  # hex digits of what was read: the name of a run in the history of items
_VIEWS = {"normalized": "meta"}  # what a whole stage reads of a document is its meta data


class Upstream:
    """The records of the stages above, of registered sources (or of one), read on demand; originals go by document
    id."""

    def __init__(
        self, run: Run, needs: tuple[str, ...], views: Mapping[str, str] = _VIEWS, source: str | None = None
    ) -> None:
        self._run, self._views, self._source = run, views, source
        self._entries = {need: dict(self._named(need)) for need in needs}

    def _named(self, need: str) -> Iterator[tuple[str, Entry]]:
        for manifest in self._run.manifests(need, self._source):
            for entry in manifest.live():
                yield (ids.doc_id(manifest.source, entry.key) if need == "raw" else entry.key), entry

    def keys(self, stage: str) -> list[str]:
        """Sorted keys that ``stage`` holds now."""
        return sorted(self._entries[stage])

    def records(self, stage: str, key: str) -> tuple[Record, ...]:
        """The records under one key; empty where there are none."""
        entry = self._entries[stage].get(key)
        if entry is None:
            return ()
        return (RawEntry(**entry.info),) if stage == "raw" else self._run.kb.read(self._views.get(stage, stage), entry)

    def broken(self, stage: str, key: str) -> bool:
        """Whether a person's edit left the file under ``key`` so that it cannot stand, or removed it since it was
        published."""
        entry = self._entries[stage].get(key)
        if entry is not None and FAULT in entry.info:
            return True
        if entry is None or not entry.edited:
            return entry is not None and not self._run.kb.present(entry)
        try:
            self._run.kb.read(stage, entry)
        except StoreError:
            return True
        return False

    @cached_property
    def versions(self) -> dict[str, dict[str, str]]:
        """What stands on disk under each key of each stage."""
        return {need: {key: e.version for key, e in entries.items()} for need, entries in self._entries.items()}


class Published:
    """What the stage published before."""

    def __init__(self, run: Run, stage: str, manifest: Manifest) -> None:
        self._run, self._stage, self._manifest = run, stage, manifest

    def keys(self) -> list[str]:
        """Sorted keys."""
        return self._manifest.keys()

    def inputs(self) -> Mapping[str, str]:
        """Each key and the hash of what it was made from."""
        return {e.key: e.input for e in self._manifest}

    def records(self, key: str) -> tuple[Record, ...]:
        """The records under one key, or in a file of that name that a person gave or changed; empty where there are
        none. A file of ours that cannot be read is named, and made anew."""
        entry, path = self._manifest.get(key), f"{self._stage}/{key}.jsonl"
        if entry is None and not self._run.kb.editable(self._stage) and (self._run.kb.folder / path).is_file():
            entry = Entry(key=key, outputs={path: ""})
        try:
            return self._run.kb.read(self._stage, entry) if entry else ()
        except StoreError as error:
            if path in PIPELINE[self._stage].watches:
                raise
            if error.code != "missing" and entry and not entry.edited:  # a broken edit is reported where it is kept
                self._run.kb.warnings.append(f"{error} It is made anew.")
            return ()


def changed(run: Run, name: str, inputs: Upstream, recipe: str, own: str) -> Changes:
    """What differs from what ``name`` saw when it last ran here, with this recipe, and left ``own``."""
    seen = run.kb.state(f"seen/{name}")
    known = seen.get("recipe") == recipe and seen.get("own") == own and not run.full
    before = seen["needs"] if known and isinstance(seen.get("needs"), dict) else {}
    touched = {}
    for need, now in inputs.versions.items():
        then = before.get(need, {})
        touched[need] = frozenset(k for k in now.keys() | then.keys() if now.get(k) != then.get(k))
    return Changes(touched=touched, everything=not known)


def saw(run: Run, name: str, inputs: Upstream, recipe: str, own: str) -> None:
    """Record what ``name`` saw, so that its next run starts from here."""
    run.kb.keep_state(f"seen/{name}", {"recipe": recipe, "own": own, "needs": inputs.versions})


class _Pass:
    """One pass of a whole stage."""

    def __init__(self, run: Run, stage: Stage) -> None:
        self.run, self.stage = run, stage
        self.recipe = run.recipe(stage)
        run.keep_asked(stage)
        self.upstream = run.upstream(stage)
        self.inputs = Upstream(run, stage.needs)
        self.recorded = run.kb.manifest(stage.name)
        self.editable = run.kb.editable(stage.name)
        self.manifest = self._as_it_stands()

    def _as_it_stands(self) -> Manifest:
        """What the stage published, with what became of it since."""
        kb, name = self.run.kb, self.stage.name
        return kb.with_edits(name, self.recorded, self.run.files(name)) if self.editable else kb.on_disk(self.recorded)

    @cached_property
    def changes(self) -> Changes:
        """What differs from what this stage saw when it last ran here: all of it where its own files are gone."""
        if self.stage.artefact:
            own = self.stage.artefact(self.run.world.index) or ""
        else:
            own = (self.recorded if self.editable else self.manifest).version()
        found = changed(self.run, self.stage.name, self.inputs, self.recipe, own)
        return replace(found, outdated=any(entry.recipe != self.recipe for entry in self.recorded))

    def publish(self, output: Output) -> Committed:
        groups = [
            Group(key=key, records=records, input=output.inputs.get(key, ""))
            for key, records in sorted(output.upserts.items())
        ]
        telling = Telling(self.run.now(), self.upstream[:_RUN], output.causes)
        deletes = sorted(output.deletes)
        return self.run.kb.commit(
            self.stage.name, None, self.manifest, groups, deletes, recipe=self.recipe, telling=telling
        )

    def remember(self, manifest: Manifest, version: str) -> None:
        """Record what was seen and made, so that the next run starts from here."""
        name = self.stage.name
        saw(self.run, name, self.inputs, self.recipe, version if self.stage.artefact else manifest.version())
        if self.editable:
            self.run.trees[name] = self.run.kb.settle(name, manifest)
        self.run.keep_stamp(
            name,
            None,
            {
                "recipe": self.recipe,
                "upstream": self.run.upstream(self.stage) if self.editable else self.upstream,
                "version": version,
                "manifest": self.run.manifest_stat(name, None),
                "at": self.run.now(),
            },
        )


def _refuse_lost(run: Run, stage: Stage) -> None:
    """Take no manifest for empty that was lost and could not be made again: its documents would be taken for gone."""
    for need in stage.needs:
        for source in run.world.settings.sources if PIPELINE[need].per_source else ():
            held = run.stamp(need, source.id).get("version", _NOTHING)
            if held != _NOTHING and not len(run.kb.manifest(need, source.id)):
                cure = f"Run `kb build --source {source.id}`; see `kb status` for what keeps it from being read."
                where = str(run.kb.manifest_path(need, source.id))
                raise StoreError("was lost and is not made anew yet.", where=where, cure=cure)


def whole(run: Run, stage: Stage) -> StageReport:
    """Bring ``stage`` up to date with the stages above it."""
    began = time.monotonic()
    run.progress(stage.name, None, 0, 1)
    _refuse_lost(run, stage)
    pass_ = _Pass(run, stage)
    computed, embedding = run.world.embedder.computed, run.world.embedder.seconds
    output = stage.run(pass_.changes, pass_.inputs, Published(run, stage.name, pass_.manifest), run.world)
    done = pass_.publish(output)
    version = output.version or done.manifest.version()
    pass_.remember(done.manifest, version)
    run.kb.tell(stage.name, run.now(), output.story)
    run.progress(stage.name, None, 1, 1)
    edited = (key for key in done.edited if key not in done.faults)
    kept_edits = tuple(f"{stage.name}: {key} was edited by hand; the edit is kept." for key in edited)
    return StageReport(
        stage=stage.name,
        made=len(output.upserts) or int(output.details.get("rows_written", 0)),
        kept=output.kept,
        rejected=len(output.rejects),
        deleted=len(output.deletes),
        seconds=round(time.monotonic() - began, 3),
        files_written=done.written,
        embeddings=run.world.embedder.computed - computed,
        embedding_seconds=round(run.world.embedder.seconds - embedding, 3),
        data_version=version,
        warnings=(*output.warnings, *kept_edits, *done.faults.values()),
        details=output.details,
    )
