"""A library's documentation at four releases, played in order: what each update costs beside its difference.

``python -m kb_pipeline_tests.benchmarks.bench_releases [--corpus DIR] [--embedder minilm]`` builds from the shell after
each release of ``starlette-docs`` of the corpus beside the checkout, and prints a row each: documents changed and gone,
chunks and statements that are new, embeddings, items retired, seconds, and whether all checks pass and every quote
stands. A last row rebuilds with nothing changed.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from pathlib import Path

from kb_pipeline_tests.conftest import CORPUS
from kb_pipeline_tests.driving import Cli, new_root, tree
from kb_pipeline_tests.promises.test_1_proven import unproven
from kb_pipeline_tests.promises.test_real_history import RELEASES, play

_COLUMNS = (
    "release",
    "changed",
    "gone",
    "new chunks",
    "new items",
    "retired",
    "embeddings",
    "seconds",
    "proven",
    "checks",
)


def main() -> None:
    """Print one row a release."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--embedder", default="minilm")
    given = parser.parse_args()
    releases = given.corpus / "starlette-docs"
    if not releases.is_dir():
        sys.exit(f"{releases}: no corpus there. Name its folder with --corpus.")
    print(f"machine: {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}\n")
    print("  ".join(f"{column:>10}" for column in _COLUMNS))
    with tempfile.TemporaryDirectory(prefix="kb-releases-") as folder:
        cli = Cli(new_root(Path(folder) / "base", {}, docs="docs"), KB_EMBEDDER=given.embedder)
        for release in RELEASES:
            _update(cli, release, *map(len, play(cli.root, releases / release)))
        _update(cli, "again", 0, 0)


def _update(cli: Cli, release: str, changed: int, gone: int) -> None:
    chunks, items = _chunks(cli.root), cli.items()
    began = time.monotonic()
    report = cli.build()
    seconds = time.monotonic() - began
    now = cli.items()
    retired = sum(i["status"] == "retired" and items.get(key, i)["status"] != "retired" for key, i in now.items())
    proven = not (unproven(cli.root, "active") or unproven(cli.root, "superseded") or unproven(cli.root, "retired"))
    sound = all(finding["ok"] or not finding["blocking"] for finding in cli.json("check"))
    row = (
        *(release, changed, gone, len(_chunks(cli.root) - chunks), len(now.keys() - items.keys()), retired),
        *(
            int(report["engine"]["embeddings"]),
            f"{seconds:.1f}",
            "all" if proven else "NO",
            "pass" if sound else "FAIL",
        ),
    )
    print("  ".join(f"{cell:>10}" for cell in row), flush=True)


def _chunks(root: Path) -> set[str]:
    """Hashes of the content of all chunks: one that only moved is none that is new."""
    files = (path for path in tree(root / "kb") if path.startswith("chunks/docs/"))
    return {json.loads(line)["hash"] for path in files for line in (root / "kb" / path).read_text().splitlines()}


if __name__ == "__main__":
    main()
