"""Speed of the index and of a warm search at the size of SciFact: 41,000 items and 5,183 chunks.

Run ``python -m kb_pipeline_tests.benchmarks.bench_search`` (about one minute). Vectors are hashed, since their values
do not matter here, and queries are embedded beforehand: what is timed is everything but the query's embedding.
"""

import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from kb_pipeline.query.search import search
from kb_pipeline.records import Row, Scope
from kb_pipeline.rules.analyser import analyse, query_tokens
from kb_pipeline.services.embedder import open_embedder
from kb_pipeline.store.index import LocalIndex
from kb_pipeline.world import Vectors
from kb_pipeline_tests.benchmarks import scifact
from kb_pipeline_tests.conftest import CORPUS
from kb_pipeline_tests.fakes import reading_world

EMBEDDER = open_embedder("hashing")
ONE_SOURCE, ONE_DOCUMENT = Scope(sources=("scifact",)), Scope(docs=("scifact/4983.md",))


def timed(label: str, run: Callable[[], object]) -> None:
    """Run once and print seconds."""
    started = time.perf_counter()
    run()
    print(f"{label:40}{time.perf_counter() - started:10.3f} s", flush=True)


def percentiles(label: str, ask: Callable[[str], object], queries: Sequence[str]) -> None:
    """Ask each query once and print the median, the 95th percentile and the longest in milliseconds."""
    spent = []
    for query in queries:
        started = time.perf_counter()
        ask(query)
        spent.append((time.perf_counter() - started) * 1000)
    p50, p95, longest = np.percentile(spent, [50, 95, 100])
    print(f"{label:40}{p50:10.2f} ms p50 {p95:8.2f} ms p95 {longest:8.2f} ms at most", flush=True)


def publish(index: LocalIndex, base: str | None, rows: Sequence[Row], vectors: Vectors) -> None:
    """Write and promote."""
    index.promote(index.write(base, rows, vectors, [True] * len(rows), []))


def writes(index: LocalIndex, rows: Sequence[Row], vectors: Vectors) -> None:
    """Time a full write, one-row updates and a tenth replaced."""
    timed(f"analyse {len(rows):,} texts", lambda: [analyse(row.text) for row in rows])
    timed("write all", lambda: publish(index, None, rows, vectors))
    for n in range(3):
        changed = [rows[n].model_copy(update={"text": f"changed {n}"})]
        timed("write one changed row", partial(publish, index, index.live(), changed, vectors[:1]))
    tenth = len(rows) // 10
    timed("write a tenth", partial(publish, index, index.live(), rows[:tenth], vectors[:tenth]))
    timed("hashes of all rows", lambda: index.hashes(str(index.live())))


def main() -> None:
    """Print the tables."""
    folder = CORPUS / "scifact"
    rows = list(scifact.rows(scifact.abstracts(folder)))
    queries = [question.text for question in scifact.claims(folder)]
    vectors = EMBEDDER.embed([row.text for row in rows])
    query_vectors = dict(zip(queries, EMBEDDER.embed(queries), strict=True))
    print(f"{platform.platform()}, Python {platform.python_version()}, {len(rows):,} rows")
    with tempfile.TemporaryDirectory() as temporary:
        index = LocalIndex(Path(temporary), embedder=EMBEDDER.name, dim=EMBEDDER.dim)
        writes(index, rows, vectors)
        world = reading_world(LocalIndex(Path(temporary), embedder=EMBEDDER.name, dim=EMBEDDER.dim), EMBEDDER)
        timed("open and first search", lambda: search(queries[0], world))
        percentiles("search", lambda query: search(query, world), queries)
        percentiles("search, one source", lambda query: search(query, world, scope=ONE_SOURCE), queries)
        percentiles("search, one document", lambda query: search(query, world, scope=ONE_DOCUMENT), queries)
        with world.index.snapshot() as snapshot:
            anywhere = Scope()
            percentiles("  words alone", lambda q: snapshot.lexical(query_tokens(q), 100, anywhere), queries)
            percentiles("  vectors alone", lambda q: snapshot.vector(query_vectors[q], 100, anywhere), queries)
            timed("first SQL", lambda: snapshot.sql("SELECT kind, count(*) FROM rows GROUP BY 1"))
            timed("next SQL", lambda: snapshot.sql("SELECT kind, count(*) FROM rows GROUP BY 1"))


if __name__ == "__main__":
    main()
