"""Items, pages and chunks to rows of a candidate generation. Readers do not see it until ``live`` promotes it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

import numpy as np

from kb_pipeline.records import Chunk, Item, Meta, PageBrief, Rendering, Row
from kb_pipeline.rules import ids
from kb_pipeline.rules.pages.reading import words_of
from kb_pipeline.world import Changes, Embedder, Inputs, Output, Previous, Vectors, World


def run(changes: Changes, inputs: Inputs, previous: Previous, world: World) -> Output:
    """Index items, pages and chunks into a new generation (lexical, vectors, SQL), writing changed rows only."""
    base = world.index.candidate()
    known = world.index.hashes(base) if base else {}
    everything = changes.everything or base is None
    items = _keys("tags", changes, inputs, everything)
    pages = _keys("wiki", changes, inputs, everything)
    docs = _keys("chunks", changes, inputs, everything) | _keys("normalized", changes, inputs, everything)
    documents = frozenset(inputs.keys("normalized"))
    unreadable = {key for key in items if inputs.broken("tags", key)}
    made = (*_item_rows(items - unreadable, inputs), *_page_rows(pages, inputs), *_chunk_rows(docs, inputs))
    rows = {row.id: row for row in made}
    stale = [
        row
        for row, (_, doc) in known.items()
        if row not in rows
        and (
            doc not in documents
            or row in pages
            or (row not in unreadable and (everything or row in items or (doc in docs and _is_chunk(row))))
        )
    ]
    fresh = [row for row in rows.values() if row.id not in known or known[row.id][0] != ids.row_hash(row)]
    warnings = tuple(f"item {key} cannot be read; its last valid version stays live." for key in sorted(unreadable))
    if base and not fresh and not stale:
        return Output(version=base, kept=len(known), warnings=warnings, details={"generation": base})
    vectored = [row.kind != "chunk" or world.settings.options.embed_chunks for row in fresh]
    vectors = _vectors([row for row, wanted in zip(fresh, vectored, strict=True) if wanted], world.embedder)
    generation = world.index.write(base, fresh, vectors, vectored, stale)
    return Output(
        version=generation,
        kept=len(known) - len(stale),
        warnings=warnings,
        details={"generation": generation, "rows_written": len(fresh), "rows_removed": len(stale)},
    )


def _keys(stage: str, changes: Changes, inputs: Inputs, everything: bool) -> frozenset[str]:
    return frozenset(inputs.keys(stage)) if everything else changes.touched.get(stage, frozenset())


def _is_chunk(row_id: str) -> bool:
    return row_id.startswith("ck_")


def _vectors(rows: Sequence[Row], embedder: Embedder) -> Vectors:
    """One a row, in order. A page's is the mean of those of its sentences that are known, so that it costs nothing."""
    texts = {n: _embedded(row) for n, row in enumerate(rows) if row.kind != "page"}
    vectors = np.zeros((len(rows), embedder.dim), np.float32)
    vectors[list(texts)] = embedder.embed(list(texts.values()))
    for n, row in enumerate(rows):
        if row.kind == "page":
            said = [embedder.key(ids.canonical(line)) for line in row.text.split("\n\n")]
            found, known = embedder.recall(said)
            mean = found[known].sum(axis=0) if known.any() else embedder.embed([row.title])[0]
            vectors[n] = mean / max(float(np.linalg.norm(mean)), 1e-9)
    return vectors


def _embedded(row: Row) -> str:
    """An item's vector is that of its canonical statement, which ``dedup`` computed; a chunk's has its headings."""
    return ids.canonical(row.text) if row.kind == "item" else f"{row.heading}\n{row.text}"


def _item_rows(keys: Iterable[str], inputs: Inputs) -> Iterator[Row]:
    for key in sorted(keys):
        for record in inputs.records("tags", key):
            item = cast(Item, record)
            if item.status == "active" and item.sources:
                yield item_row(item)


def item_row(item: Item) -> Row:
    """The row of an item with at least one source."""
    first = item.sources[0]
    docs = {source.doc_id for source in item.sources}
    return Row(
        id=item.id,
        kind="item",
        text=item.statement,
        heading=item.context or "",
        doc_id=first.doc_id,
        source_id=first.doc_id.partition("/")[0],
        uri=first.uri,
        source_type=first.source_type,
        license=first.license,
        category=item.primary_category,
        item_type=item.item_type,
        status=item.status,
        confidence=item.confidence,
        confirmations=item.confirmations,
        tags=item.tags,
        entities=item.entities,
        quote=first.source_span,
        start=first.start,
        end=first.end,
        docs=tuple(sorted(docs)),
        origins=tuple(sorted(_origins(item) if len(docs) > 1 else docs)),
        effective_date=item.valid_from or "",
        updated_at=item.updated_at,
        engine=item.engine,
    )


def _origins(item: Item) -> set[str]:
    """The documents whose own words the statement is; the first where it is nobody's."""
    same_words = ids.canonical(item.statement)
    return {s.doc_id for s in item.sources if ids.canonical(s.source_span) == same_words} or {item.sources[0].doc_id}


def _page_rows(keys: frozenset[str], inputs: Inputs) -> Iterator[Row]:
    if not keys:
        return
    briefs = {brief.id: brief for brief in cast(tuple[PageBrief, ...], inputs.records("wiki", "catalogue"))}
    for key in sorted(keys & briefs.keys()):
        for record in () if inputs.broken("wiki", key) else inputs.records("wiki", key):
            yield _page_row(briefs[key], cast(Rendering, record))


def _page_row(brief: PageBrief, page: Rendering) -> Row:
    return Row(
        id=brief.id,
        kind="page",
        text=words_of(page.text),
        title=brief.title,
        doc_id=brief.docs[0] if brief.docs else "",
        source_id=brief.docs[0].partition("/")[0] if brief.docs else "",
        uri=f"kb/wiki/{page.path}",
        category=brief.category,
        tags=brief.tags,
        entities=brief.keys,
        docs=brief.docs,
        origins=brief.docs,
        updated_at=brief.updated,
    )


def _chunk_rows(docs: Iterable[str], inputs: Inputs) -> Iterator[Row]:
    for doc in sorted(docs):
        metas = inputs.records("normalized", doc)
        if metas:
            meta = cast(Meta, metas[0])
            for record in inputs.records("chunks", doc):
                yield _chunk_row(cast(Chunk, record), meta)


def _chunk_row(chunk: Chunk, meta: Meta) -> Row:
    return Row(
        id=chunk.id,
        kind="chunk",
        text=f"{chunk.header}{chunk.text}",
        heading=" > ".join(chunk.heading),
        title=meta.title,
        doc_id=chunk.doc_id,
        source_id=meta.source_id,
        uri=meta.uri,
        source_type=meta.source_type,
        license=meta.license,
        quote=chunk.text,
        start=chunk.start,
        end=chunk.end,
        docs=(chunk.doc_id,),
        origins=(chunk.doc_id,),
        previous=chunk.previous or "",
        next=chunk.next or "",
        effective_date=meta.effective_date or "",
        updated_at=meta.fetched_at,
    )
