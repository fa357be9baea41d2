"""``kb build`` and ``kb dev``: the two commands that reach Dagster, which is imported inside them alone."""

import os
import sqlite3
import time

from kb_pipeline.api import KnowledgeBase, Listener, Stale, listen
from kb_pipeline.errors import MODEL_FAILED, KbError
from kb_pipeline.records import BuildReport, StageReport


def build(
    base: KnowledgeBase,
    *,
    only: frozenset[str],
    full: bool,
    accept_deletions: frozenset[str],
    listener: Listener,
) -> BuildReport:
    """Ask what is stale, run exactly that, and report; where nothing is, Dagster is not even imported."""
    began = time.monotonic()
    reports: list[StageReport] = []

    def keep(report: StageReport) -> None:
        reports.append(report)
        listener.report(report)

    failed: tuple[str, ...] = ()
    holder = f"kb build (process {os.getpid()})"
    with listen(Listener(listener.progress, keep, listener.waiting)), base.lease(holder):
        stale = base.stale(only, full=full, accept_deletions=accept_deletions)
        if stale.sources:
            base.warm()  # while Dagster is imported
        if stale:
            failed = _run(base, stale, full, accept_deletions)
    return base.report(reports, failed, time.monotonic() - began)


def _run(base: KnowledgeBase, stale: Stale, full: bool, accept_deletions: frozenset[str]) -> tuple[str, ...]:
    from kb_pipeline.defs.local import build as run_locally

    try:
        return run_locally(base, stale, full=full, accept_deletions=accept_deletions)
    except Exception as error:
        lost = getattr(error, "orig", None)  # Dagster's database tells of a full disk in SQL
        if not isinstance(lost, sqlite3.Error):
            raise
        cure = "Free space or check permissions; the last good state is untouched."
        where = str(base.settings.root / ".dagster")
        raise KbError(f"Dagster's state cannot be written: {lost}.", where=where, cure=cure) from error


def failed(report: BuildReport) -> bool:
    """Whether the build as a whole failed: nothing is live, a stage over all sources could not run, or a model is yet
    to answer. One source that cannot be read is a warning; its last good documents stay."""
    return report.live is None or any(f.startswith(("compile:", MODEL_FAILED)) for f in report.failed)


def dev(base: KnowledgeBase, host: str, port: int) -> None:
    """Become Dagster's development server: UI, sensor and schedule."""
    from kb_pipeline.defs.serving import serve

    serve(base, host, port)
