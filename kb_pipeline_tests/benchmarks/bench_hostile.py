"""Bombs, broken, locked and mis-named files beside real office files, in one build from the shell.

``python -m kb_pipeline_tests.benchmarks.bench_hostile [--corpus DIR] [--embedder minilm]`` compiles ``hostile`` and
``mixed`` of the corpus beside the checkout as two sources. It prints seconds, exit code, the peak resident memory of
the main process and of its largest worker (as the kernel counts it, read every 20 ms), then each file with what became
of it: how many items it gave, or why it gave none. A file of which nothing is told is an error.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from kb_pipeline_tests.conftest import CORPUS
from kb_pipeline_tests.driving import Cli, new_root

SOURCES = ("hostile", "mixed")
_WORKER = b"kb_pipeline.services.conversion"


def main() -> None:
    """Build once and print two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--embedder", default="minilm")
    given = parser.parse_args()
    if not given.corpus.is_dir():
        sys.exit(f"{given.corpus}: no corpus there. Name its folder with --corpus.")
    print(f"machine: {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}\n")
    with tempfile.TemporaryDirectory(prefix="kb-hostile-") as folder:
        root = new_root(Path(folder) / "base", {}, **{name: str(given.corpus / name) for name in SOURCES})
        cli = Cli(root, KB_EMBEDDER=given.embedder)
        report = _build(cli)
        untold = _files(cli, given.corpus)
    sys.exit(1 if untold or report["failed"] else 0)


def _build(cli: Cli) -> Any:
    """Run the build, watching its memory, and print its row."""
    began = time.monotonic()
    build = cli.start("build", "--json")
    watch = _Watch(build.pid)
    out, err = build.communicate()
    seconds = time.monotonic() - began
    watch.stop()
    report = json.loads(out)
    documents = report["documents"]
    print(f"{'seconds':>8} {'exit':>5} {'main MB':>8} {'worker MB':>10} {'files':>6} {'failed':>7} {'items':>6}")
    figures = f"{seconds:8.1f} {build.returncode:5} {watch.main_mb:8} {watch.worker_mb:10}"
    print(f"{figures} {documents['seen']:6} {documents['failed']:7} {len(cli.active()):6}\n{err}")
    return report


def _files(cli: Cli, corpus: Path) -> list[str]:
    """Print what became of each file; those of which nothing is told."""
    refused = {reject["where"]: reject["reason"] for reject in cli.json("status")["quarantine"]}
    items: dict[str, int] = {}
    for item in cli.active().values():
        for doc in {citation["doc_id"] for citation in item["sources"]}:
            items[doc] = items.get(doc, 0) + 1
    untold = []
    for source in SOURCES:
        for path in sorted((corpus / source).iterdir()):
            doc = f"{source}/{path.name}"
            meta_file = cli.root / "kb/normalized" / f"{doc}.meta.json"
            if doc in refused:
                told = f"refused: {refused[doc].removeprefix(f'{doc}: ')}"
            elif meta_file.is_file():
                meta = json.loads(meta_file.read_text())
                notes = [meta["status"].replace("-", " "), *meta["warnings"]][meta["status"] == "ok" :]
                told = "; ".join([f"{items.get(doc, 0)} items", *notes])
            else:
                told = "NOTHING IS TOLD OF IT"
                untold.append(doc)
            print(f"{doc:55} {told[:160]}")
    return untold


class _Watch:
    """The largest resident memory of a process, and of its conversion workers, in MB."""

    def __init__(self, pid: int) -> None:
        self.main_mb = self.worker_mb = 0
        self._pid, self._stopped = pid, threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._stopped.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._stopped.wait(0.02):
            self.main_mb = max(self.main_mb, _peak_mb(self._pid))
            for worker in _children(self._pid):
                if _WORKER in _read(worker, "cmdline"):
                    self.worker_mb = max(self.worker_mb, _peak_mb(worker))


def _children(pid: int) -> list[int]:
    return [int(child) for child in _read(pid, f"task/{pid}/children").split()]


def _peak_mb(pid: int) -> int:
    lines = (line.split() for line in _read(pid, "status").splitlines() if line.startswith(b"VmHWM"))
    return next((int(words[1]) >> 10 for words in lines), 0)


def _read(pid: int, name: str) -> bytes:
    """A file of ``/proc``; empty once the process has ended."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


if __name__ == "__main__":
    main()
