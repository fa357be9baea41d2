"""What a person wants to see: an item with its proofs, a document with its items, the state of it all. Reads only."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from kb_pipeline.errors import NotFound, StoreError
from kb_pipeline.records import (
    Brief,
    Chunk,
    Cluster,
    DedupDecision,
    Document,
    DocumentView,
    Extraction,
    Item,
    ItemView,
    Overview,
    Passage,
    RawEntry,
    Refused,
    Reject,
    Source,
    SourceStatus,
    StageStatus,
)
from kb_pipeline.rules import ids
from kb_pipeline.rules.grounding import proves
from kb_pipeline.rules.written import HUMAN
from kb_pipeline.runner import Run, Stale
from kb_pipeline.runner.adopting import last_valid
from kb_pipeline.stages import WHOLE
from kb_pipeline.store.commits import FAULT
from kb_pipeline.store.manifests import Entry

_CONTEXT = 240  # code points shown before and after a quote
_NEIGHBOURS = 5


def item_view(run: Run, wanted: str) -> ItemView:
    """The item of that id or alias. Raises ``NotFound`` with the nearest ids."""
    manifest = run.kb.manifest("tags")
    clusters = {c.id: c for c in _clusters(run)}
    key = wanted if wanted in manifest else next((c.id for c in clusters.values() if wanted in c.aliases), "")
    entry = manifest.get(key)
    if entry is None:
        close = [k for k in manifest.keys() if k.startswith(wanted[:6])][:5]  # noqa: SIM118 - sorted
        cure = f"Did you mean {', '.join(close)}?" if close else "Find one with `kb search`."
        if any(wanted in {c.id, *c.aliases} and c.aside == "hidden" for c in clusters.values()):
            cure = f"A person hid it: kb restore {wanted} brings it back."
        elif run.kb.history.of(wanted):
            cure = f"It is gone: kb history {wanted} tells its story."
        raise NotFound(f"there is no item '{wanted}'.", where="kb show", cure=cure)
    fault = ""
    try:
        item = cast(Item, run.kb.read("tags", entry)[0])
    except StoreError as error:
        served = last_valid(run, clusters[key]) if key in clusters else None
        if served is None:
            raise
        item, fault = served, str(error)
    members = {o.draft for o in clusters[key].occurrences} if key in clusters else set()
    decisions = tuple(d for d in _decisions(run) if {d.a, d.b} & members)
    neighbours = tuple(_brief(n) for related in item.related_items for n in _items(run, manifest.get(related)))
    return ItemView(
        item=item,
        passages=tuple(passages(run, item)),
        neighbours=neighbours[:_NEIGHBOURS],
        decisions=decisions,
        fault=fault,
    )


def passages(run: Run, item: Item) -> Iterator[Passage]:
    """Each proof of an item in its context, from the document as it stands or from the version that was kept."""
    for citation in item.sources:
        document = _document(run, citation.doc_id)
        kept = run.kb.version_path(citation.version)
        current = document is not None and document.meta.text_sha256.startswith(citation.version)
        text = document.text if document and current else kept.read_text() if kept.is_file() else ""
        chunks = [] if document is None else _chunks(run, citation.doc_id)
        heading = next((" > ".join(c.heading) for c in chunks if c.start <= citation.start < c.end), "")
        yield Passage(
            citation=citation,
            title=document.meta.title if document else "",
            heading=heading,
            before=text[max(0, citation.start - _CONTEXT) : citation.start],
            after=text[citation.end : citation.end + _CONTEXT],
            proven=proves(text, citation.start, citation.end, citation.source_span),
        )


def document_view(run: Run, doc_id: str, refused: Iterable[Mapping[str, Any]] = ()) -> DocumentView:
    """The document of that id; ``refused`` are logged replies, of which those about it are shown.

    Raises ``NotFound`` that says why a known one has no text.
    """
    document = _document(run, doc_id)
    if document is None:
        raise _no_document(run, doc_id)
    manifest = run.kb.manifest("tags")
    citing = sorted({c.id for c in _clusters(run) if any(o.doc_id == doc_id for o in c.occurrences)})
    briefs = [
        _brief(item, citation.start, citation.end)
        for key in citing
        for item in _items(run, manifest.get(key))
        for citation in item.sources
        if citation.doc_id == doc_id
    ]
    rejects = tuple(r for extraction in _extractions(run, doc_id) for r in extraction.rejects)
    return DocumentView(
        meta=document.meta,
        text=document.text,
        items=tuple(sorted(briefs, key=lambda b: b.start)),
        rejects=rejects,
        refused=tuple(_refused(line) for line in refused if line.get("document") == doc_id),
    )


def _refused(line: Mapping[str, Any]) -> Refused:
    return Refused.model_validate({name: str(line.get(name, "")) for name in Refused.model_fields})


def _no_document(run: Run, doc_id: str) -> NotFound:
    source = doc_id.partition("/")[0]
    failed = run.kb.manifest("normalized", source).get(doc_id)
    if failed is not None and failed.failed:
        return NotFound(f"has no text: {failed.failed}", where=doc_id)
    for entry in run.kb.manifest("raw", source):
        if ids.doc_id(source, entry.key) == doc_id and not entry.live:
            return NotFound(f"was deleted at its source, seen {entry.info['deleted_at']}.", where=doc_id)
    known = run.kb.manifest("normalized", source).keys()[:5]
    cure = f"Documents of '{source}': {', '.join(known)}." if known else "List sources with `kb status`."
    return NotFound("there is no such document.", where=doc_id, cure=cure)


def overview(run: Run, stale: Stale, root: Path) -> Overview:
    """The state of every source and stage, of the generations, and what is quarantined."""
    index = run.world.index
    clusters = _clusters(run)
    per_source = Counter(s for c in clusters for s in {o.doc_id.partition("/")[0] for o in c.occurrences})
    live, pinned = index.live(), index.pinned()
    rows: Mapping[str, int] = {}
    fault = index.fault()
    if live and not fault:
        with index.snapshot() as snapshot:
            rows = snapshot.count()
    return Overview(
        root=str(root),
        sources=tuple(_source(run, s, stale, per_source[s.id]) for s in run.world.settings.sources),
        stages=tuple(
            StageStatus(
                stage=name,
                last_run=run.stamp(name).get("at"),
                artefacts=len(run.kb.manifest(name)),
                stale=stale.stages.get(name)
                or (f"its check fails: {stale.held[name]}" if name in stale.held else None),
            )
            for name in WHOLE
        ),
        live=live,
        candidate=index.candidate(),
        pinned=pinned[0] if pinned and pinned[0] == live else None,
        generations=tuple(index.generations()),
        rows=rows,
        items={"active": rows.get("item", 0), "clusters": len(clusters), "published": len(run.kb.manifest("tags"))},
        quarantine=tuple(quarantine(run)),
        warnings=(*filter(None, (fault,)), *(line["warning"] for line in run.kb.logged("last_build"))),
    )


def _source(run: Run, source: Source, stale: Stale, items: int) -> SourceStatus:
    raw, stamp = run.kb.manifest("raw", source.id), run.stamp("raw", source.id)
    return SourceStatus(
        id=source.id,
        type=source.type,
        documents=len(raw.live()),
        failed_documents=sum(1 for e in run.kb.manifest("normalized", source.id) if e.failed),
        deleted_documents=sum(1 for e in raw if RawEntry(**e.info).deleted_at),
        items=items,
        held_deletions=stamp.get("held", 0),
        last_read=stamp.get("at"),
        stale=stale.sources.get(source.id),
        failed=stamp.get("failed"),
        failed_at=stamp.get("failed_at"),
    )


def quarantine(run: Run) -> Iterator[Reject]:
    """Documents that could not be converted, drafts that failed a proof, and items as a person left them broken."""
    for entry in run.kb.manifest("tags"):
        if fault := entry.info.get(FAULT):
            yield Reject(stage="tags", where=entry.key, reason=fault, quarantined=True)
    for name in (*(source.id for source in run.world.settings.sources), HUMAN):
        for entry in run.kb.manifest("normalized", name):
            if entry.failed:
                yield Reject(stage="normalized", where=entry.key, reason=entry.failed, quarantined=True)
    for source in run.world.settings.sources:
        for entry in run.kb.manifest("atomic_items", source.id):
            if entry.quarantined:
                for extraction in cast(tuple[Extraction, ...], run.kb.read("atomic_items", entry)):
                    for reject in extraction.rejects:
                        if reject.quarantined:
                            yield reject.model_copy(update={"where": entry.key})


def _brief(item: Item, start: int = 0, end: int = 0) -> Brief:
    return Brief(
        id=item.id, statement=item.statement, category=item.primary_category, status=item.status, start=start, end=end
    )


def _items(run: Run, entry: Entry | None) -> tuple[Item, ...]:
    try:
        return cast(tuple[Item, ...], run.kb.read("tags", entry)) if entry else ()
    except StoreError:
        return ()  # a broken edit; the build reports it


def _clusters(run: Run) -> tuple[Cluster, ...]:
    entry = run.kb.manifest("dedup").get("clusters")
    return cast(tuple[Cluster, ...], run.kb.read("dedup", entry)) if entry else ()


def _decisions(run: Run) -> tuple[DedupDecision, ...]:
    entry = run.kb.manifest("dedup").get("decisions")
    return cast(tuple[DedupDecision, ...], run.kb.read("dedup", entry)) if entry else ()


def _document(run: Run, doc_id: str) -> Document | None:
    entry = run.kb.manifest("normalized", doc_id.partition("/")[0]).get(doc_id)
    return cast(Document, run.kb.read("normalized", entry)[0]) if entry and entry.live else None


def _chunks(run: Run, doc_id: str) -> tuple[Chunk, ...]:
    entry = run.kb.manifest("chunks", doc_id.partition("/")[0]).get(doc_id)
    return cast(tuple[Chunk, ...], run.kb.read("chunks", entry)) if entry else ()


def _extractions(run: Run, doc_id: str) -> tuple[Extraction, ...]:
    entry = run.kb.manifest("atomic_items", doc_id.partition("/")[0]).get(doc_id)
    return cast(tuple[Extraction, ...], run.kb.read("atomic_items", entry)) if entry else ()
