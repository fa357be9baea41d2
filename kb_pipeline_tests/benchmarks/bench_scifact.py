"""Retrieval quality on SciFact, and how the weights of search were chosen.

Run ``python -m kb_pipeline_tests.benchmarks.bench_scifact`` (about four minutes, most of it embedding). Weights are
compared on questions that nobody judged (see ``scifact``); the claims are reported for the defaults alone.
"""

import platform
import tempfile
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import log2
from pathlib import Path
from typing import Any, cast

import numpy as np

from kb_pipeline.query.search import DOCUMENTS, HITS, Ranking, documents, search
from kb_pipeline.records import Row
from kb_pipeline.rules.ids import canonical
from kb_pipeline.services.embedder import open_embedder
from kb_pipeline.store.index import LocalIndex, scan
from kb_pipeline.world import Embedder, Index, World
from kb_pipeline_tests.benchmarks import scifact
from kb_pipeline_tests.benchmarks.scifact import Abstract, Question
from kb_pipeline_tests.conftest import CORPUS
from kb_pipeline_tests.fakes import reading_world

Ask = Callable[[str, World], list[str]]


class Remembering:
    """The read side of an index that answers a question asked before from memory: rankings differ, lists do not."""

    def __init__(self, index: LocalIndex) -> None:
        self._index, self._answers = index, dict[tuple[Hashable, ...], Any]()

    @contextmanager
    def snapshot(self, generation: str | None = None) -> Iterator["Remembering"]:
        """This very object, over the live generation."""
        with self._index.snapshot(generation) as self._snapshot:
            self.generation = self._snapshot.generation
            yield self

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def ask(*arguments: Any) -> Any:
            key = name, *(a.tobytes() if isinstance(a, np.ndarray) else str(a) for a in arguments)
            if key not in self._answers:
                self._answers[key] = getattr(self._snapshot, name)(*arguments)
            return self._answers[key]

        return ask


def indexed(docs: Sequence[Abstract], embedder: Embedder, folder: Path, *, chunks: bool) -> World:
    """A world whose live generation holds ``docs``; ``chunks`` says whether chunk rows have vectors."""
    rows = list(scifact.rows(docs))
    vectored = [row.kind == "item" or chunks for row in rows]
    texts = [embedded(row) for row, wanted in zip(rows, vectored, strict=True) if wanted]
    index = LocalIndex(folder, embedder=embedder.name, dim=embedder.dim)
    index.promote(index.write(None, rows, embedder.embed(texts), vectored, []))
    return reading_world(cast(Index, Remembering(index)), embedder)


def embedded(row: Row) -> str:
    """The text whose vector a row has, as the ``index`` stage takes it."""
    return canonical(row.text) if row.kind == "item" else f"{row.heading}\n{row.text}"


def measured(questions: Sequence[Question], ask: Ask, world: World) -> tuple[float, float]:
    """Mean nDCG@10 (binary gain, as BEIR's) and mean recall@10."""
    gains, recalls = [], []
    for question in questions:
        found = ask(question.text, world)[:10]
        gain = sum(1 / log2(rank + 2) for rank, name in enumerate(found) if name in question.answers)
        ideal = sum(1 / log2(rank + 2) for rank in range(min(10, len(question.answers))))
        gains.append(gain / ideal)
        recalls.append(len(question.answers.intersection(found)) / len(question.answers))
    return float(np.mean(gains)), float(np.mean(recalls))


def by_documents(ranking: Ranking) -> Ask:
    """Asks for documents."""
    return lambda query, world: [name for name, _ in documents(query, world, ranking=ranking)]


def by_hits(ranking: Ranking) -> Ask:
    """Asks for rows."""
    return lambda query, world: [hit.id for hit in search(query, world, ranking=ranking).hits]


def weighted(base: Ranking, **weights: float) -> Ranking:
    """``base`` with some weights changed."""
    return replace(base, weights={**base.weights, **weights})


def candidates() -> Iterator[tuple[str, Ranking, Ranking]]:
    """Rankings to compare: a name, for hits, for documents. Each differs from the default in one thing."""
    yield "default", HITS, DOCUMENTS
    yield "rrf", replace(HITS, method="rrf"), replace(DOCUMENTS, method="rrf")
    for name, weights in {
        "words": (0.0, 0.3, 0.5, 1.0),
        "meaning": (0.5, 0.7, 1.0, 1.5),
        "exact": (0.0, 0.5, 1.0, 2.0),
        "passage words": (0.0, 0.5, 1.5),
        "passage meaning": (0.0, 0.25, 0.5, 1.0),
        "passage exact": (0.0, 0.5, 1.0),
    }.items():
        for weight in weights:
            yield f"{name} {weight}", weighted(HITS, **{name: weight}), weighted(DOCUMENTS, **{name: weight})
    for depth in (50, 100, 200, 300):
        yield f"depth {depth}", replace(HITS, depth=depth), replace(DOCUMENTS, depth=depth)
    for cap in (2, 3, 10):
        yield f"at most {cap} a document", replace(HITS, per_document=cap), DOCUMENTS


def int8_recall(embedder: Embedder, docs: Sequence[Abstract], queries: Sequence[str]) -> None:
    """Print how many of the ten nearest items int8 finds, alone and with the best scored again."""
    vectors = embedder.embed([embedded(row) for row in scifact.rows(docs) if row.kind == "item"])
    block, everything = scan.Block(0, scan.quantise(vectors), vectors), np.arange(len(vectors))
    rough, exact = 0, 0
    for query in embedder.embed(queries):
        true = set(np.argsort(-(vectors @ query))[:10].tolist())
        near = scan.likeness(query[None], [block], len(vectors))[0]
        rough += len(true.intersection(np.argsort(-near)[:10].tolist()))
        exact += len(true.intersection(scan.nearest(query, near, [block], everything, 10)[0].tolist()))
    total = 10 * len(queries)
    print(
        f"int8 recall@10 against float32: {rough / total:.4f} alone, {exact / total:.4f} with the best 40 scored again"
    )


def compare(world: World, questions: Mapping[str, Sequence[Question]]) -> None:
    """Print nDCG@10 / recall@10 of each candidate on each kind of question."""
    print(f"{'':24}" + "".join(f"{kind:>20}" for kind in questions))
    for name, hits, docs in candidates():
        cells = []
        for kind, asked in questions.items():
            ask = by_hits(hits) if kind == "keywords" else by_documents(docs)
            cells.append("{:.4f} / {:.3f}".format(*measured(asked, ask, world)))
        print(f"{name:24}" + "".join(f"{cell:>20}" for cell in cells), flush=True)


def main(embedder: Embedder | None = None) -> None:
    """Print the tables."""
    embedder = embedder or open_embedder("minilm")
    folder = CORPUS / "scifact"
    docs, judged = scifact.abstracts(folder), scifact.claims(folder)
    changed, questions = scifact.unjudged(docs, judged)
    print(f"{platform.platform()}, Python {platform.python_version()}, embedder {embedder.name}")
    int8_recall(embedder, docs, [claim.text for claim in judged])
    for chunks in (False, True):
        print(f"\nvectors of items{' and chunks' if chunks else ' alone'}")
        with tempfile.TemporaryDirectory() as temporary:
            compare(indexed(changed, embedder, Path(temporary), chunks=chunks), questions)
        with tempfile.TemporaryDirectory() as temporary:
            world = indexed(docs, embedder, Path(temporary), chunks=chunks)
            for name, _, ranking in list(candidates())[:2]:
                print("claims, {}: {:.4f} / {:.3f}".format(name, *measured(judged, by_documents(ranking), world)))


if __name__ == "__main__":
    main()
