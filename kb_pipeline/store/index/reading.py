"""Documents and pages of a generation as a reader takes them up: which there are, and one in whole. Knows no mask."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kb_pipeline.records import Card
from kb_pipeline.store.index.opened import Generation
from kb_pipeline.store.index.scan import Flags, Positions

CHUNK, PAGE = "chunk", "page"
_SUMMARY = 300  # code points of a page that stand for it in the catalogue


def cards(generation: Generation, allowed: Flags) -> list[Card]:
    """A card for each document of which a passage is ``allowed``, and for each such page; in order of their refs."""
    documents = _documents(_values(generation, allowed, CHUNK, "doc_id", "title", "heading", "end"))
    pages = _pages(_values(generation, allowed, PAGE, "id", "title", "text", "entities"))
    return sorted([*documents, *pages], key=lambda card: card.ref)


def _values(generation: Generation, allowed: Flags, kind: str, *columns: str) -> Iterator[tuple[Any, ...]]:
    """The values of some columns of the allowed rows of one kind, a tuple a row."""
    positions = pa.array(np.flatnonzero(allowed & _equal(generation, "kind", pa.array([kind]))))
    return zip(*(generation.column(name).take(positions).to_pylist() for name in columns), strict=True)


def parts(generation: Generation, allowed: Flags, ref: str) -> Positions:
    """Positions of the passages of document ``ref`` in order, or of the page of that id."""
    wanted = pa.array([ref])
    of_document = _equal(generation, "doc_id", wanted) & _equal(generation, "kind", pa.array([CHUNK]))
    of_page = _equal(generation, "id", wanted) & _equal(generation, "kind", pa.array([PAGE]))
    positions = np.flatnonzero(allowed & (of_document | of_page))
    starts = generation.column("start").to_numpy()[positions]
    return positions[np.argsort(starts, kind="stable")]


def _equal(generation: Generation, column: str, values: pa.Array) -> Flags:
    return np.asarray(pc.is_in(generation.column(column), values).to_numpy(), dtype=np.bool_)


def _documents(passages: Iterable[tuple[str, str, str, int]]) -> Iterator[Card]:
    titles: dict[str, str] = {}
    headings: dict[str, dict[str, None]] = {}
    lengths: dict[str, int] = {}
    for doc, title, heading, end in passages:
        titles[doc] = title
        headings.setdefault(doc, {})[heading.rpartition(" > ")[2]] = None
        lengths[doc] = max(end, lengths.get(doc, 0))
    for doc, title in titles.items():
        told = tuple(heading for heading in headings[doc] if heading and heading != title)
        yield Card(ref=doc, kind="document", title=title, headings=told, length=lengths[doc])


def _pages(pages: Iterable[tuple[str, str, str, Sequence[str]]]) -> Iterator[Card]:
    for name, title, text, keys in pages:
        yield Card(ref=name, kind="page", title=title, summary=text[:_SUMMARY], keys=tuple(keys), length=len(text))
