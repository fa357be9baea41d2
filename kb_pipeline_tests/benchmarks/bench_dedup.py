"""How fast and how rightly drafts become clusters: candidate pairs, the whole stage, one edited document, one pattern.

``python -m kb_pipeline_tests.benchmarks.bench_dedup [--drafts N] [--generated]`` extracts and embeds SciFact where the
corpus lies beside the checkout (with ``--cache DIR`` once), else it makes drafts with vectors in bundles. Times are of
the stage in this process with vectors at hand; reading and writing ``kb/`` is not in them. ``--labelled`` prints
what becomes of the labelled pairs.
"""

import argparse
import os
import platform
import resource
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np

from kb_pipeline.engines.extractive import Extractive
from kb_pipeline.engines.extractive.extraction import extract
from kb_pipeline.records import Chunk, Draft, Extraction, Meta, Record
from kb_pipeline.rules.ids import canonical, digest, draft_hash
from kb_pipeline.rules.pairs import all_pairs
from kb_pipeline.services.embedder import open_embedder
from kb_pipeline.settings import Options, Settings
from kb_pipeline.stages import dedup
from kb_pipeline.store.codecs import json_lines
from kb_pipeline.world import Changes, Output, Vectors, World
from kb_pipeline_tests import labelled_pairs
from kb_pipeline_tests.benchmarks.scifact import abstracts
from kb_pipeline_tests.conftest import CORPUS
from kb_pipeline_tests.fakes import FixedClock

Documents = dict[str, tuple[Extraction, ...]]


@dataclass
class Recorded:
    """An embedder that knows its texts beforehand; ``computed`` counts what it was asked to compute."""

    rows: dict[bytes, int]
    vectors: Vectors
    name: str = "recorded"
    dim: int = 384
    computed: int = 0
    seconds: float = 0.0

    def close(self) -> None:
        """Nothing is held."""

    def key(self, text: str) -> bytes:
        return bytes.fromhex(digest(text))

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.computed += len(texts)
        return self.vectors[[self.rows[self.key(text)] for text in texts]]

    def recall(self, keys: Sequence[bytes]) -> tuple[Vectors, Any]:
        return self.vectors[[self.rows[key] for key in keys]], np.ones(len(keys), np.bool_)


@dataclass
class Memory:
    """Inputs and what was published before, in memory."""

    documents: Documents
    upserts: Mapping[str, tuple[Record, ...]] = field(default_factory=dict)

    def keys(self, stage: str = "") -> list[str]:
        return sorted(self.documents)

    def broken(self, stage: str, key: str) -> bool:
        return False

    def faults(self, stage: str) -> Mapping[str, str]:
        return {}


class Inputs(Memory):
    def records(self, stage: str, key: str) -> tuple[Record, ...]:
        return self.documents.get(key, ()) if stage == "atomic_items" else (meta(key),)

    def encoded(self, stage: str, key: str) -> bytes:
        return json_lines(self.records(stage, key))


class Previous(Memory):
    def removed(self) -> frozenset[str]:
        return frozenset()

    def inputs(self) -> Mapping[str, str]:
        return {}

    def records(self, key: str) -> tuple[Record, ...]:
        return self.upserts.get(key, ())


def meta(doc: str) -> Meta:
    empty = dict.fromkeys(("title", "uri", "license", "language", "raw_sha256", "text_sha256", "fetched_at"), "")
    return Meta(doc_id=doc, source_id="s", source_type="doc", converter="", converter_version="", **empty)


def chunk(doc: str, text: str) -> Chunk:
    name = digest(doc, text)
    return Chunk(id=name, doc_id=doc, hash=name, kind="text", heading=(), text=text, start=0, end=len(text))


def scifact(limit: int) -> Documents:
    """Drafts of the abstracts by the extractive engine, an abstract a chunk."""
    found: Documents = {
        a.doc_id: (extract(chunk(a.doc_id, " ".join(a.sentences)), "extractive"),)
        for a in abstracts(CORPUS / "scifact")
    }
    return cut(found, limit)


def cut(documents: Documents, limit: int) -> Documents:
    """The first documents that hold ``limit`` drafts."""
    kept: Documents = {}
    for doc in sorted(documents):
        if sum(len(e.drafts) for extractions in kept.values() for e in extractions) >= limit:
            break
        kept[doc] = documents[doc]
    return kept


def generated(count: int, per_document: int = 8) -> tuple[Documents, Vectors]:
    """Drafts in bundles of four that differ in a figure or a name, with vectors as near as such statements have."""
    rng = np.random.default_rng(7)
    nouns = [f"{a}{b}" for a in ("cache", "queue", "index", "router", "pool") for b in ("", "-node", "-worker", "-log")]
    uses = ("reads", "scans")
    texts = [
        f"Component {n // 4} of the {nouns[n // 4 % len(nouns)]} keeps {16 << n % 2} entries for {uses[n // 2 % 2]}."
        for n in range(count)
    ]
    vectors = np.repeat(rng.standard_normal((count // 4 + 1, 384)), 4, axis=0)[:count]
    vectors += 0.25 * rng.standard_normal(vectors.shape)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    order = rng.permutation(count)
    documents: Documents = {
        f"s/{at}.md": (extraction([texts[n] for n in order[at : at + per_document]]),)
        for at in range(0, count, per_document)
    }
    return documents, vectors[order].astype(np.float32)


def extraction(texts: Sequence[str]) -> Extraction:
    drafts = tuple(
        Draft(hash=draft_hash(t, None), statement=t, source_span=t, start=0, end=len(t), engine="made") for t in texts
    )
    return Extraction(chunk_hash=digest(*texts), drafts=drafts)


def texts_of(documents: Documents) -> list[str]:
    """The canonical statements, each once, in order."""
    return list(dict.fromkeys(canonical(d.statement) for e in documents.values() for x in e for d in x.drafts))


def embedded(texts: Sequence[str], cache: Path | None) -> Vectors:
    """Vectors of ``texts`` by MiniLM, kept in ``cache`` under the hash of the texts."""
    file = cache / f"{digest(*texts)}.npy" if cache else None
    if file and file.exists():
        return cast(Vectors, np.load(file))
    vectors = open_embedder("minilm").embed(texts)
    if file:
        np.save(file, vectors)
    return vectors


def world(embedder: Recorded) -> World:
    nothing: Any = None
    return World(
        settings=Settings(root=Path()),
        engine=Extractive(Settings(root=Path()), open_embedder("hashing")),
        embedder=embedder,
        converter=nothing,
        fetcher=nothing,
        index=nothing,
        clock=FixedClock(),
    )


@dataclass(frozen=True)
class Spent:
    """Seconds by the clock and of the processors; on a busy machine only the latter tell."""

    wall: float
    cpu: float


def timed(work: Callable[[], Any]) -> tuple[Any, Spent]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, Spent(time.perf_counter() - wall, time.process_time() - cpu)


def run(
    documents: Documents, w: World, before: Output | None = None, touched: frozenset[str] = frozenset()
) -> tuple[Output, Spent]:
    """The stage's output and what it took; from scratch without ``before``."""
    changes = Changes({"atomic_items": touched or frozenset(documents)}, everything=before is None)
    previous = Previous(documents, before.upserts if before else {})
    return timed(lambda: dedup.run(changes, Inputs(documents), previous, w))


def row(name: str, spent: Spent, note: str = "") -> None:
    print(f"| {name} | {spent.wall:.2f} | {spent.cpu:.2f} | {note} |", flush=True)


def edit(documents: Documents, doc: str) -> Documents:
    """One document with its first draft reworded; the new text borrows another draft's vector."""
    first, *rest = documents[doc]
    changed = first.drafts[0].model_copy(update={"hash": digest("edited", first.drafts[0].hash)})
    return {**documents, doc: (first.model_copy(update={"drafts": (changed, *first.drafts[1:])}), *rest)}


def pattern(count: int) -> tuple[Documents, Recorded]:
    """``count`` lines of one pattern whose vectors are all but equal: what a log gives."""
    texts = [f"Worker {n} finished its batch of the nightly import." for n in range(count)]
    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((1, 384)) + 0.05 * rng.standard_normal((count, 384))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return {"s/log.md": (extraction(texts),)}, recorded(texts, vectors)


def recorded(texts: Sequence[str], vectors: Vectors) -> Recorded:
    keys = [bytes.fromhex(digest(canonical(text))) for text in texts]
    return Recorded(dict(zip(keys, range(len(keys)), strict=True)), vectors)


def labelled() -> None:
    """What becomes of both halves of the labelled pairs, with the default embedder and threshold."""
    options = Options()
    embedder = open_embedder(options.embedder)
    print("\n| labelled | pairs | merged | wrong (95%) | paraphrases merged (95%) | superseded | wrong | for review |")
    print("|---|---|---|---|---|---|---|---|")
    for name, half in (("tune", labelled_pairs.tune()), ("held out", labelled_pairs.held_out())):
        found = labelled_pairs.outcomes(half, embedder, options.dedup_candidate)
        made = Counter((o.decision, o.pair.label) for o in found)
        total = Counter(o.pair.label for o in found)
        merged = sum(n for (decision, _), n in made.items() if decision == "merge")
        newer = sum(n for (decision, _), n in made.items() if decision == "supersede")
        right = made["merge", "merge"]
        print(
            f"| {name} | {len(found)} | {merged} | {share(merged - right, merged)} | {share(right, total['merge'])} | "
            f"{newer} | {newer - made['supersede', 'supersede']} | "
            f"{sum(o.needs_review for o in found)} |"
        )


def share(count: int, of: int) -> str:
    """A count of a whole with the exact 95% interval of its share."""
    low, high = labelled_pairs.interval(count, of)
    return f"{count}/{of} ({low:.1%} to {high:.1%})"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--drafts", type=int, default=47_000)
    parser.add_argument("--pattern", type=int, default=10_000)
    parser.add_argument("--generated", action="store_true")
    parser.add_argument("--labelled", action="store_true")
    parser.add_argument("--cache", type=Path)
    args = parser.parse_args()
    machine = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"{machine}, Python {platform.python_version()}")
    if args.labelled:
        labelled()
        return
    if CORPUS.is_dir() and not args.generated:
        documents = scifact(args.drafts)
        texts = texts_of(documents)
        vectors = embedded(texts, args.cache)
    else:
        documents, vectors = generated(args.drafts)
        texts = texts_of(documents)
    stage(documents, recorded(texts, vectors), "generated" if args.generated or not CORPUS.is_dir() else "SciFact")
    log, embedder = pattern(args.pattern)
    output, spent = run(log, world(embedder))
    row(f"stage over {args.pattern:,} lines of one pattern", spent, f"{output.details['pairs']:,} pairs")
    print(f"\npeak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def stage(documents: Documents, embedder: Recorded, name: str) -> None:
    """Time pairs, the stage from scratch, after one document was edited, after one was deleted."""
    print(f"\n| {name}: {len(embedder.vectors):,} texts in {len(documents):,} documents | s | CPU s | |")
    print("|---|---|---|---|")
    found, spent = timed(lambda: all_pairs(embedder.vectors, Options().dedup_candidate))
    row("candidate pairs alone", spent, f"{len(found):,} pairs")
    w = world(embedder)
    first, spent = run(documents, w)
    row("stage from scratch, vectors recalled", spent, ", ".join(f"{k} {v:,}" for k, v in first.details.items()))
    doc = sorted(documents)[len(documents) // 2]
    second, spent = run(edit(documents, doc), w, first, frozenset({doc}))
    row("stage after one edited document", spent, f"{second.details['clusters']:,} clusters")
    rest = {key: value for key, value in documents.items() if key != doc}
    _, spent = run(rest, w, first, frozenset({doc}))
    row("stage after one deleted document", spent)


if __name__ == "__main__":
    main()
