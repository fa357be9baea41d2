"""What a purge looks for: the words of a document, former versions included, that no other one holds. Reads only.

Kept under ``kb/cache`` until the purge has ended, so that one that was killed knows them once the document is gone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from kb_pipeline.errors import KbError, NotFound
from kb_pipeline.records import Citation, Document, Event, Extraction, Item, Record
from kb_pipeline.rules import forgetting, ids
from kb_pipeline.rules.forgetting import Traces
from kb_pipeline.rules.history import GONE
from kb_pipeline.stages import PER_SOURCE
from kb_pipeline.store.files import read_bytes, remove
from kb_pipeline.store.kb import Kb


def _words(record: Record) -> str:
    return record.text if isinstance(record, Document) else record.model_dump_json()


@dataclass
class Sought:
    """The ``traces`` of ``doc``, and the ``versions`` that are its own. Made by ``gather``."""

    kb: Kb
    doc: str
    traces: Traces = field(default_factory=lambda: Traces(()))
    versions: set[str] = field(default_factory=set)

    @property
    def source(self) -> str:
        """The source that the document is of."""
        return self.doc.partition("/")[0]

    @property
    def _state(self) -> str:
        return f"purging/{ids.digest(self.doc)}"

    def end(self) -> None:
        """Forget what was looked for."""
        remove([self.kb.cache / f"{self._state}.json"], self.kb.folder)

    def key(self, stage: str) -> str | None:
        """The key under which a stage holds the document; None where it does not."""
        manifest = self.kb.manifest(stage, self.source)
        if stage != PER_SOURCE[0]:
            return self.doc if self.doc in manifest else None
        return next((e.key for e in manifest if ids.doc_id(self.source, e.key) == self.doc), None)

    def gather(self) -> None:
        """Find them. Raises ``NotFound`` where nothing is known of the document."""
        kb = self.kb
        begun, cited = kb.state(self._state), self._cited()
        self.versions = {c.version for item in cited for c in item.sources if c.doc_id == self.doc}
        self.versions |= {c.version for c in self._lost()} | set(begun.get("versions", ()))
        found = {passage.encode() for passage in begun.get("passages", ())} | self._passages(cited)
        if not (found or begun or any(self.key(stage) is not None for stage in PER_SOURCE)):
            known = kb.manifest("normalized", self.source).keys()[:5]
            cure = f"Documents of '{self.source}': {', '.join(known) or 'none'}."
            raise NotFound("nothing is known of this document.", where=self.doc, cure=cure)
        others = list(self._others())
        traces = Traces(found).less(others)
        self.traces = Traces({*traces.passages, *self._older(traces)}).less(others)
        passages = sorted(passage.decode("utf-8", "replace") for passage in self.traces.passages)
        kb.keep_state(self._state, {"passages": passages, "versions": sorted(self.versions)})

    def _passages(self, cited: Sequence[Item]) -> set[bytes]:
        """What its text, its drafts and the items that cite it say; of shared items only its own quotes."""
        drafts = [d for e in self._records("atomic_items") for d in cast(Extraction, e).drafts]
        texts = [cast(Document, record).text for record in self._records("normalized")]
        texts += [(read_bytes(self.kb.version_path(version)) or b"").decode() for version in self.versions]
        texts += [text for d in drafts for text in (d.statement, d.detail, d.context or "", d.source_span)]
        texts += [c.source_span for c in self._lost()]
        for item in cited:
            texts += [c.source_span for c in item.sources if c.doc_id == self.doc]
            if {c.doc_id for c in item.sources} == {self.doc}:
                texts += [item.statement, item.detail]
        return {passage for text in texts for passage in forgetting.passages(text)}

    def _older(self, traces: Traces) -> set[bytes]:
        """Passages of kept versions that nothing cites but that share one with the document: those are its own too."""
        found: set[bytes] = set()
        for version in self.kb.versions():
            text = (read_bytes(self.kb.version_path(version)) or b"").decode()
            if version not in self.versions and traces.within(text.encode()):
                self.versions.add(version)
                found |= forgetting.passages(text)
        return found

    def _others(self) -> Iterator[bytes]:
        """What other documents say, what was drafted from them, and what items say that never cited this one."""
        kb = self.kb
        for stage in ("normalized", "atomic_items"):
            for source in kb.sources(stage):
                for entry in kb.manifest(stage, source).live():
                    if entry.key != self.doc and kb.present(entry):
                        for record in kb.read(stage, entry):
                            yield _words(record).encode()
        for item in self.items():
            if self.doc not in {c.doc_id for c in item.sources}:
                yield item.model_dump_json().encode()

    def items(self) -> Iterator[Item]:
        """Every item that can be read."""
        for entry in self.kb.manifest("tags"):
            try:
                yield cast(Item, self.kb.read("tags", entry)[0])
            except KbError:
                continue

    def _cited(self) -> list[Item]:
        now = [item for item in self.items() if self.doc in {c.doc_id for c in item.sources}]
        then = [Item.model_validate(e.before) for e in self._events() if e.kind in GONE and e.before]
        return now + [item for item in then if self.doc in {c.doc_id for c in item.sources}]

    def _lost(self) -> list[Citation]:
        return [c for event in self._events() for c in event.lost if c.doc_id == self.doc]

    def _events(self) -> Iterator[Event]:
        return (event for _, told in self.kb.history.all() for event in told)

    def _records(self, stage: str) -> Sequence[Record]:
        kb, entry = self.kb, self.kb.manifest(stage, self.source).get(self.doc)
        try:
            return kb.read(stage, entry) if entry and entry.live else ()
        except KbError:
            return ()
