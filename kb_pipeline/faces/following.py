"""A build of one source in a process of its own, told as JSON lines: what the server starts and people watch.

Run as ``python -m kb_pipeline.faces.following ROOT SOURCE``. Each line is ``{"stage", "source", "done", "total"}``, or
at the end ``{"report"}`` or ``{"failed"}``. Reaches Dagster as ``kb build`` does, so its runs are seen there too.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from kb_pipeline.api import KnowledgeBase, Listener
from kb_pipeline.errors import KbError
from kb_pipeline.faces.building import build

_NICE = 10
"""Readers come first."""


def follow(root: Path, source: str) -> None:
    """Build ``source`` and what depends on it, telling each step on standard output."""

    def tell(**line: Any) -> None:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()

    def progress(stage: str, partition: str | None, done: int, total: int) -> None:
        tell(stage=stage, source=partition, done=done, total=total)

    listener = Listener(progress=progress, waiting=lambda holder: tell(waiting=holder))
    try:
        with KnowledgeBase(root) as base:
            nothing: frozenset[str] = frozenset()
            only = frozenset({source})
            report = build(base, only=only, full=False, accept_deletions=nothing, listener=listener)
            tell(report=report.model_dump(mode="json"))
    except KbError as error:
        tell(failed=str(error))


if __name__ == "__main__":
    os.nice(_NICE)
    follow(Path(sys.argv[1]), sys.argv[2])
