"""The suite of index backends: which there are, and what its tests say in few words. A new backend adds a line."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from kb_pipeline.records import Row, Scope
from kb_pipeline.rules.analyser import query_tokens
from kb_pipeline.store.index import LocalIndex
from kb_pipeline.world import Index, Snapshot, Vectors

DIM = 8
ANYWHERE = Scope()
BACKENDS: dict[str, Callable[[Path, str], Index]] = {
    "local": lambda folder, embedder: LocalIndex(folder / "index", embedder=embedder, dim=DIM, retained=3),
}


def item(name: str, text: str, doc: str = "notes/a.md", **fields: object) -> Row:
    """An item row of one document."""
    values: dict[str, object] = {"doc_id": doc, "source_id": doc.partition("/")[0], "docs": (doc,), "origins": (doc,)}
    return Row.model_validate({"id": name, "kind": "item", "text": text, **values, **fields})


def unit(*seeds: int) -> Vectors:
    """One unit vector a seed."""
    vectors = np.empty((len(seeds), DIM), np.float32)
    for vector, seed in zip(vectors, seeds, strict=True):
        drawn = np.random.default_rng(seed).standard_normal(DIM)
        vector[:] = drawn / np.linalg.norm(drawn)
    return vectors


def put(index: Index, rows: Sequence[Row], base: str | None = None, deletes: Sequence[str] = ()) -> str:
    """Write rows with vectors that follow from their place in ``rows``, and promote."""
    generation = index.write(base, rows, unit(*range(len(rows))), [True] * len(rows), deletes)
    index.promote(generation)
    return generation


def found(snapshot: Snapshot, query: str, scope: Scope = ANYWHERE, k: int = 10) -> list[str]:
    """Ids that lexical search finds."""
    return [name for name, _ in snapshot.lexical(query_tokens(query), k, scope)]


def near(snapshot: Snapshot, seed: int, scope: Scope = ANYWHERE, k: int = 10) -> list[str]:
    """Ids that vector search finds."""
    return [name for name, _ in snapshot.nearest(unit(seed), k, scope)[0]]
