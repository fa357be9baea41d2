"""An ``each`` stage: record by record, skipping what is unchanged. Quarantines the bad one, keeps the rest."""

import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

from kb_pipeline.errors import UNAVAILABLE, KbError, ModelError, RunStopped
from kb_pipeline.records import Extraction, RawDoc, RawEntry, Record, Source, StageReport
from kb_pipeline.rules import ids
from kb_pipeline.runner.context import Run
from kb_pipeline.stages import Stage
from kb_pipeline.store.commits import Group
from kb_pipeline.store.manifests import Entry

_BATCH = 400  # documents a commit: what a kill can cost

Result = tuple[Record, ...] | Exception


def each(run: Run, stage: Stage, source: Source) -> StageReport:
    """Bring one partition of ``stage`` up to date with the stage above it."""
    began = time.monotonic()
    pass_ = _Pass(run, stage, source)
    upstream = run.upstream(stage, source.id)
    todo, gone = pass_.plan()
    run.world.pool.expect(len(todo))
    for done in pass_.make(todo):
        run.progress(stage.name, source.id, done, len(todo))
    pass_.finish(gone)
    pass_.raise_waiting()
    run.keep_stamp(
        stage.name,
        source.id,
        {
            "recipe": pass_.recipe,
            "upstream": upstream,
            "version": pass_.manifest.version(),
            "manifest": run.manifest_stat(stage.name, source.id),
            "at": run.now(),
        },
    )
    return pass_.report(len(todo), len(gone), time.monotonic() - began)


@dataclass(frozen=True)
class _Batch:
    """Entries whose making has begun: what was read of each, by key; results by the name of their unit, of those that
    were made before and of those under way."""

    entries: Sequence[Entry]
    inputs: Mapping[str, Sequence[Record] | Exception]
    known: Mapping[str, Result]
    names: Sequence[str]
    results: Iterator[Result]


@dataclass
class _Pass:
    """One pass over a partition."""

    run: Run
    stage: Stage
    source: Source
    written: int = 0
    warnings: list[str] = field(default_factory=list)
    stopped: RunStopped | None = None
    waiting: dict[str, KbError] = field(default_factory=dict)  # documents that a model has yet to answer for

    def __post_init__(self) -> None:
        self.above = self.run.kb.manifest(self.stage.needs[0], self.source.id)
        self.manifest = self.run.kb.manifest(self.stage.name, self.source.id)
        self.recipe = self.run.recipe(self.stage)
        self.run.keep_asked(self.stage)

    def plan(self) -> tuple[list[Entry], list[str]]:
        """Upstream entries that must be made (again), and keys that have nothing upstream any more."""
        live = {self._key(e): e for e in self.above.live()}
        todo = [entry for key, entry in live.items() if not self._fresh(self.manifest.get(key), entry)]
        return todo, [key for key in self.manifest.keys() if key not in live]  # noqa: SIM118 - sorted

    def _key(self, entry: Entry) -> str:
        return ids.doc_id(self.source.id, entry.key) if self.stage.needs[0] == "raw" else entry.key

    def _fresh(self, mine: Entry | None, above: Entry) -> bool:
        if mine is None or mine.input != above.content:
            return False
        if mine.recipe != self.recipe:
            return self._cannot_be_remade(mine, above)
        return self.run.kb.intact(mine) if self.run.full else mine.outputs.keys() <= self._standing

    @cached_property
    def _standing(self) -> frozenset[str]:
        """What there is of this partition; one listing tells of all its documents."""
        return self.run.kb.standing(self.stage.name, self.source.id)

    def _cannot_be_remade(self, mine: Entry, above: Entry) -> bool:
        """Whether the original is not on this machine (a clone): then the text that was once made of it stays."""
        kb = self.run.kb
        return self.stage.needs[0] == "raw" and mine.live and kb.present(mine) and not kb.present(above)

    def make(self, todo: Sequence[Entry]) -> Iterator[int]:
        """Make and commit in batches, telling how many entries are done after each. The next one is begun before one is
        committed: workers are at it meanwhile."""
        waiting = (self._begun(todo[start : start + _BATCH]) for start in range(0, len(todo), _BATCH))
        begun, done = deque(islice(waiting, 1)), 0
        while begun:
            done += len(begun[0].entries)
            groups, partial = self._groups(begun.popleft())
            begun.extend(islice(waiting, 0 if self.stopped else 1))
            self._commit(groups, self.recipe)
            if partial:
                self._commit(partial, "")
            if not self.stopped:
                yield done

    def _begun(self, entries: Sequence[Entry]) -> _Batch:
        """Read a batch and begin with what was not made before of an equal unit, by this recipe."""
        inputs = {self._key(e): self._read(e) for e in entries}
        known = self._known(inputs)
        found = (u for records in inputs.values() if not isinstance(records, Exception) for u in records)
        units = {name: u for u in found if (name := self._unit(u)) not in known}
        return _Batch(entries, inputs, known, list(units), self._run(list(units.values())))

    def _groups(self, batch: _Batch) -> tuple[list[Group], list[Group]]:
        """What is made of a batch, and what is known of those of its documents that must wait."""
        made = {**batch.known, **dict(zip(batch.names, batch.results, strict=True))}
        groups, partial = [], []
        for entry in batch.entries:
            key = self._key(entry)
            found = batch.inputs[key]
            names = [] if isinstance(found, Exception) else list(dict.fromkeys(map(self._unit, found)))
            results = found if isinstance(found, Exception) else [made[name] for name in names]
            if pending := self._pending(results):
                self.waiting[key] = pending
                partial += self._partial(key, names, made)
            else:
                groups.append(self._group(key, entry, results))
        return groups, partial

    def _commit(self, groups: Sequence[Group], recipe: str) -> None:
        done = self.run.kb.commit(self.stage.name, self.source.id, self.manifest, groups, recipe=recipe)
        self.manifest, self.written = done.manifest, self.written + done.written

    @staticmethod
    def _pending(results: Sequence[Result] | Exception) -> KbError | None:
        """Why a document must wait: a question about it found no model, and may find one later."""
        for found in () if isinstance(results, Exception) else results:
            if isinstance(found, RunStopped) or (isinstance(found, ModelError) and found.code == UNAVAILABLE):
                return found
        return None

    def _partial(self, key: str, names: Sequence[str], made: Mapping[str, Result]) -> list[Group]:
        """What is known of a document that must wait: what was made of it now, else what was made before of the same.

        It counts as made from nothing by no recipe, so that the next run makes it again. Where records of a document
        are not made one by one, what stands of it stays.
        """
        if self.stage.product is None:
            return []
        entry = self.manifest.get(key)
        old = self.run.kb.read(self.stage.name, entry) if entry and entry.live and self.run.kb.intact(entry) else ()
        before = {self.stage.product(record): record for record in old}
        records: list[Record] = []
        for name in names:
            found = made[name]
            if not isinstance(found, Exception):
                records += found
            elif name in before:
                records.append(before[name])
        return [self._counted(Group(key=key, records=records))]

    def raise_waiting(self) -> None:
        """Say that something waits, after all that could be made was committed."""
        if self.stopped:
            raise self.stopped
        if self.waiting:
            key, error = next(iter(self.waiting.items()))
            raise ModelError(
                f"{len(self.waiting)} documents wait for the model, the first for: {error.what}",
                where=key,
                cure="Run `kb build` again: only what is missing is asked.",
                code=UNAVAILABLE,
            )

    def _read(self, entry: Entry) -> Sequence[Record] | Exception:
        try:
            if self.stage.needs[0] == "raw":
                return [self._original(entry)]
            return self.run.kb.read(self.stage.needs[0], entry)
        except KbError as error:
            return error

    def _original(self, entry: Entry) -> RawDoc:
        raw = RawEntry(**entry.info)
        return RawDoc(
            doc_id=ids.doc_id(self.source.id, entry.key),
            source_id=self.source.id,
            name=entry.key,
            content=self.run.kb.bytes_of(next(iter(entry.outputs))),
            raw_sha256=raw.sha256,
            **raw.model_dump(
                include={"uri", "media_type", "source_type", "title", "authors", "effective_date", "fetched_at"}
            ),
            license=raw.license or self.source.license,
        )

    def _unit(self, record: Record) -> str:
        if self.stage.unit:
            return self.stage.unit(record)
        return str(getattr(record, "doc_id", "") or getattr(getattr(record, "meta", None), "doc_id", ""))

    def _known(self, inputs: Mapping[str, Sequence[Record] | Exception]) -> dict[str, Result]:
        if self.stage.product is None:
            return {}
        known: dict[str, Result] = {}
        for key in inputs:
            entry = self.manifest.get(key)
            if entry and entry.live and entry.recipe == self.recipe and self.run.kb.intact(entry):
                for record in self.run.kb.read(self.stage.name, entry):
                    known[self.stage.product(record)] = (record,)
        return known

    def _run(self, units: Sequence[Record]) -> Iterator[Result]:
        """Begin the stage over ``units``; its results in order, where it raises the record that did so fails alone."""
        return self._outcomes(units, self.stage.run(units, self.run.world))

    def _outcomes(self, units: Sequence[Record], results: Iterator[Result]) -> Iterator[Result]:
        done = 0
        while done < len(units):
            try:
                for result in results:
                    done += 1
                    yield result
            except RunStopped as stop:
                self.stopped = stop
                yield from [stop] * (len(units) - done)
                return
            except Exception as error:  # noqa: BLE001 - one bad record is quarantined and counted
                done += 1
                yield error
                results = self.stage.run(units[done:], self.run.world)

    def _group(self, key: str, entry: Entry, results: Sequence[Result] | Exception) -> Group:
        made = [results] if isinstance(results, Exception) else results
        error = next((r for r in made if isinstance(r, Exception)), None)
        if error is not None:
            reason = str(error) or type(error).__name__
            self.warnings.append(reason if key in reason else f"{key}: {reason}")
            return Group(key=key, input=entry.content, failed=reason)
        records = [record for result in made if not isinstance(result, Exception) for record in result]
        return self._counted(Group(key=key, input=entry.content, records=records))

    @staticmethod
    def _counted(group: Group) -> Group:
        rejects = [reject for r in group.records if isinstance(r, Extraction) for reject in r.rejects]
        return replace(group, rejected=len(rejects), quarantined=sum(reject.quarantined for reject in rejects))

    def finish(self, gone: Sequence[str]) -> None:
        """Drop what has nothing upstream any more."""
        done = self.run.kb.commit(self.stage.name, self.source.id, self.manifest, (), gone)
        self.manifest = done.manifest

    def report(self, made: int, gone: int, seconds: float) -> StageReport:
        """What this pass did, documents counted."""
        failed = [e for e in self.manifest if e.failed]
        return StageReport(
            stage=self.stage.name,
            partition=self.source.id,
            made=made,
            kept=len(self.manifest) - made,
            rejected=sum(e.rejected for e in self.manifest),
            deleted=gone,
            failed=len(failed),
            seconds=round(seconds, 3),
            files_written=self.written,
            data_version=self.manifest.version(),
            warnings=tuple(self.warnings),
            details={"records": sum(e.made for e in self.manifest)},
        )
