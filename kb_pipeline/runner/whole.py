"""A ``whole`` stage: over all sources at once, touching only what changes reach."""

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from kb_pipeline.errors import StoreError
from kb_pipeline.records import Record, StageReport
from kb_pipeline.runner.context import Run
from kb_pipeline.runner.upstream import Upstream, changed, saw
from kb_pipeline.stages import PIPELINE, Stage
from kb_pipeline.store.commits import Committed, Group
from kb_pipeline.store.history import Telling
from kb_pipeline.store.manifests import Entry, Manifest
from kb_pipeline.world import Changes, Output

_NOTHING = Manifest(Path()).version()  # of no live entry
_MANY_TEXTS = 2_000  # after so many the model holds 230 MB for its next texts, and loads again in 0.2 s
_RUN = 12  # hex digits of what was read: the name of a run in the history of items


class Published:
    """What the stage published before."""

    def __init__(self, run: Run, stage: str, recorded: Manifest, manifest: Manifest) -> None:
        self._run, self._stage, self._recorded, self._manifest = run, stage, recorded, manifest

    def removed(self) -> frozenset[str]:
        """Keys whose files a person has removed since."""
        return frozenset(self._recorded.keys()).difference(self._manifest.keys())

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
        outdated = any(entry.recipe != self.recipe for entry in self.recorded)
        return replace(found, outdated=outdated, late=frozenset(self.run.stamp(self.stage.name).get("late", ())))

    @property
    def published(self) -> Published:
        """What the stage published, as it stands."""
        return Published(self.run, self.stage.name, self.recorded, self.manifest)

    def publish(self, output: Output) -> Committed:
        groups = [
            Group(key=key, records=records, input=output.inputs.get(key, ""))
            for key, records in sorted(output.upserts.items())
        ]
        telling = Telling(self.run.now(), self.upstream[:_RUN], output.causes, output.gone)
        deletes = sorted(output.deletes)
        return self.run.kb.commit(
            self.stage.name, None, self.manifest, groups, deletes, recipe=self.recipe, telling=telling
        )

    def remember(self, done: Committed, version: str, late: frozenset[str]) -> None:
        """Record what was seen and made, so that the next run starts from here."""
        name = self.stage.name
        saw(self.run, name, self.inputs, self.recipe, version if self.stage.artefact else done.manifest.version())
        if self.editable:
            self.run.trees[name] = self.run.kb.settle(name, self.run.files(name), done)
        self.run.keep_stamp(
            name,
            None,
            {
                "recipe": self.recipe,
                "upstream": self.run.upstream(self.stage) if self.editable else self.upstream,
                "version": version,
                "manifest": self.run.manifest_stat(name, None),
                "at": self.run.now(),
                "late": sorted(late),
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
    output = stage.run(pass_.changes, pass_.inputs, pass_.published, run.world)
    if run.world.embedder.computed - computed > _MANY_TEXTS:
        run.world.embedder.close()
    done = pass_.publish(output)
    version = output.version or done.manifest.version()
    pass_.remember(done, version, output.late)
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
