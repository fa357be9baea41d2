"""The wiki at size: seconds and memory of its two stages, and what one change and no change cost.

``python -m kb_pipeline_tests.benchmarks.bench_wiki [--items 1000 5000]`` generates documents of eight statements,
compiles them in this process with hashed embeddings, and prints a row a size: pages, seconds of ``pages`` and ``wiki``
on a first build, seconds and files of the wiki after one edited sentence, files after no change, and peak memory.
"""

import argparse
import os
import platform
import random
import resource
import tempfile
import time
from pathlib import Path

from kb_pipeline.rules.words import words
from kb_pipeline_tests.driving import compile_all, new_root, opened, tree, write

_SUBJECTS = sorted(
    words("cache relay queue gateway shard replica ledger router broker index journal buffer arena sampler tracer")
)
_VERBS = sorted(
    words("keeps drops writes reads merges forwards counts limits rotates compresses signs locks splits evicts")
)
_THINGS = sorted(
    words("pages rows messages tokens blocks segments requests records frames tickets leases hashes cursors")
)
_PER_DOCUMENT = 8


def main() -> None:
    """Print one row a size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, nargs="+", default=[1000, 5000])
    given = parser.parse_args()
    print(f"machine: {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}\n")
    columns = ("items", "pages", "plan s", "write s", "edit s", "edit files", "idle files", "peak MB")
    print("  ".join(f"{column:>10}" for column in columns))
    for size in given.items:
        with tempfile.TemporaryDirectory(prefix="kb-wiki-") as folder:
            print("  ".join(f"{cell:>10}" for cell in _row(Path(folder) / "base", size)), flush=True)


def _row(root: Path, size: int) -> list[str]:
    documents = {f"notes/{n // 100}/{n}.md": _document(n) for n in range(size // _PER_DOCUMENT)}
    new_root(root, documents)
    with opened(root) as base:
        first = {report.stage: report for report in compile_all(base)[0]}
        name = min(documents)
        write(root, {name: documents[name].replace("notes on", "further notes on")})
        before, began = tree(root / "kb/wiki"), time.monotonic()
        edited = {report.stage: report for report in compile_all(base)[0]}
        seconds = edited["pages"].seconds + edited["wiki"].seconds
        assert time.monotonic() > began
        changed = sum(before.get(path) != state for path, state in tree(root / "kb/wiki").items())
        idle = sum(report.files_written for report in compile_all(base)[0])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    counts = (first["pages"].details["items"], first["pages"].details["pages"])
    times = (first["pages"].seconds, first["wiki"].seconds, seconds)
    return [*map(str, counts), *(f"{value:.2f}" for value in times), str(changed), str(idle), str(peak)]


def _document(number: int) -> str:
    """A document of eight statements that no other states."""
    chance = random.Random(number)
    subject = f"{chance.choice(_SUBJECTS).capitalize()} {chance.choice(_SUBJECTS)} {number}"
    lines = [f"# {subject}\n\nThese are notes on {subject}, which serves zone {number}.\n"]
    for n in range(_PER_DOCUMENT - 1):
        verb, thing = chance.choice(_VERBS), chance.choice(_THINGS)
        lines.append(f"The {subject} {verb} {chance.randint(2, 9999)} {thing} of lot {number}-{n} in each round.\n")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
