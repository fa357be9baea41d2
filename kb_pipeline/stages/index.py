"""Items, pages and chunks to rows of a candidate generation. Readers do not see it until ``live`` promotes it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

import numpy as np
import pyarrow as pa

from kb_pipeline.records import Chunk, Item, Meta, PageBrief, Rendering, Row
from kb_pipeline.rules import ids
from kb_pipeline.rules.columns import joined, packed, to_table, unpacked
from kb_pipeline.rules.encoded import Read, named
from kb_pipeline.rules.pages.reading import words_of
from kb_pipeline.world import Changes, Embedder, Inputs, Output, Pool, Previous, Vectors, World

_PART = 256  # items that a worker makes rows of at a time
_TOLD = ("kind", "text", "heading", "title")  # what a vector is made from
_FEW = 500  # pages, of the catalogue's thousands
_PAGES = 64
"""Pages whose vectors are made together: as many sentences are held as they have."""


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
    written = to_table([*_page_rows(pages, inputs, world.pool), *_chunk_rows(docs, inputs)])
    rows = joined([*_item_rows(sorted(items - unreadable), inputs, world.pool), written])
    places = {row: n for n, row in enumerate(rows.values("id"))}
    stale = [
        row
        for row, (_, doc) in known.items()
        if row not in places
        and (
            doc not in documents
            or row in pages
            or (row not in unreadable and (everything or row in items or (doc in docs and _is_chunk(row))))
        )
    ]
    hashes = rows.values("hash")
    fresh = rows.take([n for row, n in places.items() if row not in known or known[row][0] != hashes[n]])
    warnings = tuple(f"item {key} cannot be read; its last valid version stays live." for key in sorted(unreadable))
    if base and not fresh and not stale:
        return Output(version=base, kept=len(known), warnings=warnings, details={"generation": base})
    vectored = [kind != "chunk" or world.settings.options.embed_chunks for kind in fresh.values("kind")]
    vectors = _vectors(fresh.table.select(_TOLD).filter(pa.array(vectored, pa.bool_())), world.embedder)
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


def _vectors(rows: pa.Table, embedder: Embedder) -> Vectors:
    """One a row, in order. A page's is the mean of those of its sentences that are known, so that it costs nothing."""
    kinds, texts, headings, titles = (column.to_pylist() for column in rows.columns)
    embedded = zip(kinds, texts, headings, strict=True)
    own = [n for n, kind in enumerate(kinds) if kind != "page"]
    pages = [n for n, kind in enumerate(kinds) if kind == "page"]
    vectors = np.zeros((len(rows), embedder.dim), np.float32)
    vectors[own] = embedder.embed([_embedded(*row) for row in embedded if row[0] != "page"])
    for start in range(0, len(pages), _PAGES):
        some = pages[start : start + _PAGES]
        vectors[some] = _means([texts[n] for n in some], [titles[n] for n in some], embedder)
    return vectors


def _means(texts: Sequence[str], titles: Sequence[str], embedder: Embedder) -> Vectors:
    """The vectors of pages; of one none of whose sentences is known, that of its title."""
    said = [[embedder.key(ids.canonical(line)) for line in text.split("\n\n")] for text in texts]
    found, known = embedder.recall([key for keys in said for key in keys])
    ends = np.cumsum([len(keys) for keys in said])
    means = np.zeros((len(said), embedder.dim), np.float32)
    for n, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
        here = known[start:end]
        mean = found[start:end][here].sum(axis=0) if here.any() else embedder.embed([titles[n]])[0]
        means[n] = mean / max(float(np.linalg.norm(mean)), 1e-9)
    return means


def _embedded(kind: str, text: str, heading: str) -> str:
    """An item's vector is that of its canonical statement, which ``dedup`` computed; a chunk's has its headings."""
    return ids.canonical(text) if kind == "item" else f"{heading}\n{text}"


def _item_rows(keys: Sequence[str], inputs: Inputs, pool: Pool) -> Iterator[pa.Table]:
    """The rows of the items that stand, in order, many at a time; workers read their files."""
    parts = [keys[start : start + _PART] for start in range(0, len(keys), _PART)]
    files = Read(lambda part: [inputs.encoded("tags", key) for key in part], parts)
    for part, made in zip(parts, pool.map(_packed, files, part=1), strict=True):
        yield _taken(made, part, inputs)


def _packed(files: Sequence[bytes]) -> bytes:
    return packed(_rows_of(Item.model_validate_json(data) for data in files if data))


def _taken(made: bytes | Exception, keys: Sequence[str], inputs: Inputs) -> pa.Table:
    """The rows that a worker ``made``. Where it could not, reading the files here tells which, why and what to do."""
    if isinstance(made, bytes):
        return unpacked(made)
    return to_table(_rows_of(cast(Item, record) for key in keys for record in inputs.records("tags", key)))


def _rows_of(items: Iterable[Item]) -> list[Row]:
    return [item_row(item) for item in items if item.status == "active" and item.sources]


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


def _page_rows(keys: frozenset[str], inputs: Inputs, pool: Pool) -> Iterator[Row]:
    if not keys:
        return
    briefs = _briefs(keys, inputs)
    told = [key for key in sorted(keys & briefs.keys()) if not inputs.broken("wiki", key)]
    pages = [(briefs[key], cast(Rendering, record)) for key in told for record in inputs.records("wiki", key)]
    for (brief, page), words in zip(pages, pool.map(words_of, [page.text for _, page in pages]), strict=True):
        if isinstance(words, Exception):
            raise words
        yield _page_row(brief, page.path, words)


def _briefs(keys: frozenset[str], inputs: Inputs) -> dict[str, PageBrief]:
    """What the catalogue, which is large, says of pages; of a few only that is read."""
    wanted = {key for key in keys.intersection(inputs.keys("wiki")) if key.startswith("pg_")}
    found = named(PageBrief, inputs.encoded("wiki", "catalogue"), wanted) if len(wanted) <= _FEW else ()
    if len(found) < len(wanted):
        found = cast(tuple[PageBrief, ...], inputs.records("wiki", "catalogue"))
    return {brief.id: brief for brief in found}


def _page_row(brief: PageBrief, path: str, words: str) -> Row:
    return Row(
        id=brief.id,
        kind="page",
        text=words,
        title=brief.title,
        doc_id=brief.docs[0] if brief.docs else "",
        source_id=brief.docs[0].partition("/")[0] if brief.docs else "",
        uri=f"kb/wiki/{path}",
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
