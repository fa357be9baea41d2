"""A reader in a process of its own: asks without pause, and tells what it met.

``python -m kb_pipeline_tests.reading ROOT STOP QUERY`` searches the knowledge base at ROOT and asks it in SQL until the
file STOP exists. It prints ``ready``, and at the end JSON: ``requests``, ``generations`` seen, and ``errors``: an
exception, an empty answer, or rows of two editions at once. An edition is the number N in sentences ``… edition N …``,
which whoever publishes changes everywhere at once.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kb_pipeline.api import KnowledgeBase
from kb_pipeline_tests.driving import Cli, opened

_EDITION = re.compile(r"edition (\d+)")
_EDITIONS = "select text from rows where kind = 'item' and text like '%edition%'"


@contextmanager
def readers(cli: Cli, count: int, stop: Path, query: str) -> Iterator[list[dict[str, Any]]]:
    """Run ``count`` readers inside the block; what they told is in the list once it has ended."""
    command = [sys.executable, "-m", "kb_pipeline_tests.reading", str(cli.root), str(stop), query]
    pipe = subprocess.PIPE
    started = [subprocess.Popen(command, env=cli.environ, stdout=pipe, stderr=pipe, text=True) for _ in range(count)]
    told: list[dict[str, Any]] = []
    try:
        for reader in started:
            assert reader.stdout
            reader.stdout.readline()
        yield told
    finally:
        stop.touch()
        for reader in started:
            out, err = reader.communicate()
            told.append(json.loads(out) if reader.returncode == 0 else {"requests": 0, "errors": [err[-2000:]]})


def main(root: Path, stop: Path, query: str) -> None:
    """Ask until told to stop."""
    requests, errors, generations = 0, [], set()
    with opened(root) as base:
        print("ready", flush=True)
        while not stop.exists():
            try:
                generations.add(_ask(base, query))
            except Exception as error:  # noqa: BLE001 - whatever a reader meets is what is measured
                errors.append(f"{type(error).__name__}: {error}")
            requests += 2
    print(json.dumps({"requests": requests, "generations": len(generations), "errors": errors}))


def _ask(base: KnowledgeBase, query: str) -> str:
    found = base.search(query)
    assert found.hits, "nothing was found"
    editions = {number for (text,) in base.sql(_EDITIONS)[1] for number in _EDITION.findall(text)}
    assert len(editions) <= 1, f"rows of several editions at once: {sorted(editions)}"
    return found.generation


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
