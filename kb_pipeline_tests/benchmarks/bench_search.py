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
    """Run once and print seconds of the clock and of the processor, which other work on the machine disturbs less."""
    started, worked = time.perf_counter(), time.process_time()
    run()
    spent, busy = time.perf_counter() - started, time.process_time() - worked
    print(f"{label:40}{spent:10.3f} s {busy:10.3f} s of CPU", flush=True)


def percentiles(label: str, ask: Callable[[str], object], queries: Sequence[str]) -> None:
    """Ask each query once; print median, 95th percentile and longest in milliseconds, and mean CPU time."""
    spent, worked = [], time.process_time()
    for query in queries:
        started = time.perf_counter()
        ask(query)
        spent.append((time.perf_counter() - started) * 1000)
    p50, p95, longest = np.percentile(spent, [50, 95, 100])
    busy = (time.process_time() - worked) * 1000 / len(queries)
    print(f"{label:40}{p50:8.2f} ms p50 {p95:8.2f} p95 {longest:8.2f} at most {busy:8.2f} of CPU", flush=True)


def publish(index: LocalIndex, base: str | None, rows: Sequence[Row], vectors: Vectors) -> None:
    """Write and promote; items have vectors, chunks have none."""
    vectored = [row.kind == "item" for row in rows]
    index.promote(index.write(base, rows, vectors[vectored], vectored, []))


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
            percentiles("  vectors alone", lambda q: snapshot.nearest(query_vectors[q][None], 100, anywhere), queries)
            timed("first SQL", lambda: snapshot.sql("SELECT kind, count(*) FROM rows GROUP BY 1"))
            timed("next SQL", lambda: snapshot.sql("SELECT kind, count(*) FROM rows GROUP BY 1"))


if __name__ == "__main__":
    main()
