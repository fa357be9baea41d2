"""An ``each`` stage: record by record, skipping what is unchanged. Quarantines the bad one, keeps the rest."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kb_pipeline.errors import KbError
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
    for start in range(0, len(todo), _BATCH):
        pass_.make(todo[start : start + _BATCH])
        run.progress(stage.name, source.id, min(start + _BATCH, len(todo)), len(todo))
    pass_.finish(gone)
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


@dataclass
class _Pass:
    """One pass over a partition."""

    run: Run
    stage: Stage
    source: Source
    written: int = 0
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.above = self.run.kb.manifest(self.stage.needs[0], self.source.id)
        self.manifest = self.run.kb.manifest(self.stage.name, self.source.id)
        self.recipe = self.run.recipe(self.stage)

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
        return self.run.kb.intact(mine) if self.run.full else self.run.kb.present(mine)

    def _cannot_be_remade(self, mine: Entry, above: Entry) -> bool:
        """Whether the original is not on this machine (a clone): then the text that was once made of it stays."""
        kb = self.run.kb
        return self.stage.needs[0] == "raw" and mine.live and kb.present(mine) and not kb.present(above)

    def make(self, entries: Sequence[Entry]) -> None:
        """Make and commit a batch."""
        inputs = {self._key(e): self._read(e) for e in entries}
        units = [u for found in inputs.values() if not isinstance(found, Exception) for u in found]
        made = self._units(inputs, units)
        groups = []
        for entry in entries:
            key = self._key(entry)
            found = inputs[key]
            results = (
                found if isinstance(found, Exception) else [made[u] for u in dict.fromkeys(map(self._unit, found))]
            )
            groups.append(self._group(key, entry, results))
        done = self.run.kb.commit(self.stage.name, self.source.id, self.manifest, groups, recipe=self.recipe)
        self.manifest, self.written = done.manifest, self.written + done.written

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

    def _units(self, inputs: dict[str, Sequence[Record] | Exception], units: Sequence[Record]) -> dict[str, Result]:
        """The result of each distinct unit: taken from the last run where its input and the recipe are equal."""
        known = self._known(inputs)
        todo = {self._unit(u): u for u in units if self._unit(u) not in known}
        return {**known, **dict(zip(todo, self._run(list(todo.values())), strict=True))}

    def _known(self, inputs: dict[str, Sequence[Record] | Exception]) -> dict[str, Result]:
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
        """Run the stage over ``units``; where it raises, the record that did so fails alone."""
        done = 0
        while done < len(units):
            try:
                for result in self.stage.run(units[done:], self.run.world):
                    done += 1
                    yield result
            except Exception as error:  # noqa: BLE001 - one bad record is quarantined and counted
                done += 1
                yield error

    def _group(self, key: str, entry: Entry, results: Sequence[Result] | Exception) -> Group:
        made = [results] if isinstance(results, Exception) else results
        error = next((r for r in made if isinstance(r, Exception)), None)
        if error is not None:
            reason = str(error) or type(error).__name__
            self.warnings.append(reason if key in reason else f"{key}: {reason}")
            return Group(key=key, input=entry.content, failed=reason)
        records = [record for result in made if not isinstance(result, Exception) for record in result]
        rejects = [reject for r in records if isinstance(r, Extraction) for reject in r.rejects]
        quarantined = sum(reject.quarantined for reject in rejects)
        return Group(key=key, input=entry.content, records=records, rejected=len(rejects), quarantined=quarantined)

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
