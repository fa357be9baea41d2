"""Drives the project as its users do: through the command line, or through the verbs in this process."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from kb_pipeline.api import PER_SOURCE, KnowledgeBase, Listener, Stale, init, listen
from kb_pipeline.errors import SourceUnavailable
from kb_pipeline.records import StageReport

_MAIN = "from kb_pipeline.faces.cli import main; main()"


class Cli:
    """The command line over one root. Embeddings are hashed by default: promises do not rest on a model."""

    def __init__(self, root: Path, **environ: str) -> None:
        self.root = root
        self.environ = {**os.environ, "KB_EMBEDDER": "hashing", "COLUMNS": "200", **environ}
        self.environ.pop("KB_ROOT", None)

    def command(self, *args: str) -> list[str]:
        """The command line of ``kb ARGS`` over this root."""
        return [sys.executable, "-c", _MAIN, args[0], "--root", str(self.root), *args[1:]]

    def run(self, *args: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run ``kb ARGS`` and require its exit code."""
        done = subprocess.run(self.command(*args), env=self.environ, capture_output=True, text=True, check=False)
        assert done.returncode == code, f"kb {' '.join(args)} exited {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return done

    def start(self, *args: str) -> "subprocess.Popen[str]":
        """Start ``kb ARGS`` in a process group of its own."""
        pipe = subprocess.PIPE
        command = self.command(*args)
        return subprocess.Popen(command, env=self.environ, stdout=pipe, stderr=pipe, text=True, start_new_session=True)

    def json(self, *args: str, code: int = 0) -> Any:
        """Run ``kb ARGS --json`` and parse what it prints."""
        return json.loads(self.run(*args, "--json", code=code).stdout)

    def build(self, *args: str, code: int = 0) -> Any:
        """Run ``kb build --json``."""
        return self.json("build", *args, code=code)

    def hits(self, query: str, *args: str) -> list[dict[str, Any]]:
        """The hits of ``kb search``."""
        return list(self.json("search", query, *args)["hits"])

    def items(self) -> dict[str, dict[str, Any]]:
        """Published items by id, of any status."""
        return {path.stem: json.loads(path.read_text()) for path in (self.root / "kb/items").glob("*/*.json")}

    def active(self) -> dict[str, dict[str, Any]]:
        """Active items by statement."""
        return {i["statement"]: i for i in self.items().values() if i["status"] == "active"}


def new_root(folder: Path, documents: Mapping[str, str], **sources: str) -> Path:
    """A knowledge base in ``folder`` over ``documents`` (path → text); ``sources`` maps ids to folders."""
    init(folder)
    write(folder, documents)
    entries = "".join(
        f"  - {{id: {name}, type: local, uri: {path}, license: CC0-1.0}}\n"
        for name, path in (sources or {"notes": "notes"}).items()
    )
    (folder / "sources.yaml").write_text(f"version: 1\nsources:\n{entries}")
    return folder


def write(root: Path, documents: Mapping[str, str]) -> None:
    """Write documents below ``root``."""
    for name, text in documents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def tree(folder: Path, *, tracked_only: bool = False) -> dict[str, tuple[str, int]]:
    """Hash and mtime of every file below ``folder``; with ``tracked_only`` without what git does not keep."""
    untracked = {"cache", "index", "logs", "chunks", "atomic_items"}
    found = {}
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if path.is_file() and not (tracked_only and relative.parts[0] in untracked):
            found[relative.as_posix()] = (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
    return found


@contextmanager
def opened(root: Path, **environ: str) -> Iterator[KnowledgeBase]:
    """The knowledge base in this process, with hashed embeddings by default."""
    with KnowledgeBase(root, {"KB_EMBEDDER": "hashing", **environ}) as base:
        yield base


def compile_all(base: KnowledgeBase, *, full: bool = False) -> tuple[list[StageReport], Stale]:
    """Bring everything up to date by the verbs, without Dagster; the reports of what ran, and what was stale.

    A source that cannot be read blocks no other.
    """
    reports: list[StageReport] = []
    with listen(Listener(report=reports.append)):
        first = base.stale(full=full)
        for source in first.sources:
            with suppress(SourceUnavailable):
                for stage in PER_SOURCE:
                    base.build_stage(stage, source, full=full)
        for stage in base.stale(full=full).stages:
            base.build_stage(stage, full=full)
    return reports, first


def built(root: Path, *, full: bool = False) -> list[str]:
    """Build, require that every blocking check passes and nothing is left to do; the warnings."""
    with opened(root) as base:
        reports, _ = compile_all(base, full=full)
        assert [finding for finding in base.check() if finding.blocking and not finding.ok] == []
        assert not base.stale()
    return [warning for report in reports for warning in report.warnings]
