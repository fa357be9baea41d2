"""How many sentences of scientific abstracts become items, why the others do not, and what it takes in time.

``python -m kb_pipeline_tests.benchmarks.bench_extract [--documents N]`` reads SciFact beside the checkout. pysbd 0.3.4
counts the sentences, in a throwaway environment that the benchmark makes and removes; one of them has become an item
when more than half of it is quoted. Times are of this process alone (CPU seconds). Tagging is timed on the items
of the same abstracts over random vectors, since embedding is measured elsewhere.
"""

import argparse
import gzip
import json
import platform
import subprocess
import tempfile
import time
import venv
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from kb_pipeline.engines.extractive.extraction import extract
from kb_pipeline.engines.extractive.tagging import tag_items
from kb_pipeline.records import Chunk, Extraction, Item
from kb_pipeline.rules.ids import digest, item_id
from kb_pipeline.world import Vectors
from kb_pipeline_tests.conftest import CORPUS
from kb_pipeline_tests.engines.contract import TAXONOMY

PEER = """
import json, sys
import pysbd
segmenter = pysbd.Segmenter(language="en", clean=False, char_span=True)
for line in open(sys.argv[1]):
    print(json.dumps([[s.start, s.end] for s in segmenter.segment(json.loads(line)) if s.sent.strip()]))
"""


class RandomVectors:
    """An embedder without a model: unit vectors from a fixed seed."""

    name, dim, computed, seconds = "random", 384, 0, 0.0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As many random unit vectors as texts."""
        made = np.random.default_rng(1).standard_normal((len(texts), self.dim), dtype=np.float32)
        unit: Vectors = made / np.linalg.norm(made, axis=1, keepdims=True)
        return unit

    def key(self, text: str) -> bytes:
        """Not asked for."""
        raise NotImplementedError

    def recall(self, keys: Sequence[bytes]) -> tuple[Vectors, np.typing.NDArray[np.bool_]]:
        """Not asked for."""
        raise NotImplementedError

    def close(self) -> None:
        """Nothing to free."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=5183)
    chunks = _chunks(parser.parse_args().documents)
    extract(chunks[0], "bench")
    started = time.process_time()
    extractions = [extract(chunk, "bench") for chunk in chunks]
    seconds = time.process_time() - started
    items = [item for extraction in extractions for item in _items(extraction)]
    started = time.process_time()
    list(tag_items(items, TAXONOMY, RandomVectors(), margin=0.02))
    tagging = time.process_time() - started
    total, quoted = _counted(chunks, extractions)
    rejects = Counter(reject.reason for e in extractions for reject in e.rejects)
    read = len(items) + rejects.total()
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    print(f"abstracts                         {len(chunks):>9,}")
    print(f"sentences as pysbd counts them    {total:>9,}")
    print(f"  that became items               {quoted:>9,}  {quoted / total:.1%}")
    print(f"items                             {len(items):>9,}")
    print(f"extraction, CPU seconds           {seconds:>9.2f}  {read / seconds:,.0f} candidates/s")
    print(f"tagging without embedding, CPU s  {tagging:>9.2f}  {len(items) / tagging:,.0f} items/s")
    for reason, count in rejects.most_common():
        print(f"rejected: {reason:<24}{count:>9,}")


def _chunks(most: int) -> list[Chunk]:
    chunks = []
    with gzip.open(CORPUS / "scifact" / "corpus.jsonl.gz") as lines:
        for _, line in zip(range(most), lines, strict=False):
            row = json.loads(line)
            name, text = row["_id"], row["text"]
            heading = (row["title"],)
            chunks.append(
                Chunk(
                    id=name,
                    doc_id=name,
                    hash=digest(text),
                    kind="text",
                    heading=heading,
                    text=text,
                    start=0,
                    end=len(text),
                )
            )
    return chunks


def _items(extraction: Extraction) -> Iterable[Item]:
    for draft in extraction.drafts:
        yield Item(id=item_id(draft.hash), statement=draft.statement, detail=draft.detail, entities=draft.entities)


def _counted(chunks: Sequence[Chunk], extractions: Sequence[Extraction]) -> tuple[int, int]:
    """Sentences as the peer counts them, and how many of them are quoted by more than half."""
    total = quoted = 0
    for extraction, spans in zip(extractions, _peer_spans([c.text for c in chunks]), strict=True):
        for start, end in spans:
            held = sum(max(0, min(end, d.end) - max(start, d.start)) for d in extraction.drafts)
            total, quoted = total + 1, quoted + (2 * held > end - start)
    return total, quoted


def _peer_spans(texts: Sequence[str]) -> list[list[tuple[int, int]]]:
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder, "venv", "bin", "python")
        venv.create(python.parent.parent, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "pysbd==0.3.4"], check=True)
        listed = Path(folder, "texts.jsonl")
        listed.write_text("".join(json.dumps(text) + "\n" for text in texts))
        done = subprocess.run([python, "-c", PEER, listed], check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


if __name__ == "__main__":
    main()
