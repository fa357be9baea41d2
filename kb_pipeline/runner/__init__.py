"""The only delta engine: read, skip what is unchanged, run the stage, write, report."""

from kb_pipeline.errors import KbError
from kb_pipeline.records import StageReport
from kb_pipeline.runner.adopting import adopt
from kb_pipeline.runner.checking import check, checks_of, held
from kb_pipeline.runner.context import Progress, Run, no_progress
from kb_pipeline.runner.each import each
from kb_pipeline.runner.fetching import fetch, forget, hide
from kb_pipeline.runner.staleness import Stale, due, stale, stale_stages
from kb_pipeline.runner.upstream import forget_unseen
from kb_pipeline.runner.whole import whole
from kb_pipeline.stages import PIPELINE, WHOLE

__all__ = [
    "Progress",
    "Run",
    "Stale",
    "build_stage",
    "check",
    "checks_of",
    "held",
    "no_progress",
    "stale",
    "stale_stages",
]


def build_stage(run: Run, name: str, source_id: str | None = None) -> StageReport:
    """Bring one stage (of one source) up to date; the caller holds the build lease.

    Raises ``SourceUnavailable`` where a source cannot be read, ``KbError`` where the stage cannot run.
    """
    before = run.world.spent()
    report = _build(run, name, source_id)
    after = run.world.spent()
    calls, tokens, usd = after.calls - before.calls, after.tokens - before.tokens, after.usd - before.usd
    return report.model_copy(update={"calls": calls, "tokens": tokens, "cost_usd": round(usd, 6)})


def _build(run: Run, name: str, source_id: str | None) -> StageReport:
    stage = PIPELINE[name]
    if not stage.per_source:
        if name == WHOLE[0]:
            forget(run)
            adopt(run)
        if name == WHOLE[-1] and run.world.index.fault():
            hide(run)  # the mask may be what is damaged; a pointer is set anew by the stage
        report = whole(run, stage) if due(run, name) else _unchanged(run, name)
        if name == WHOLE[-1]:
            _collect(run)
        return report
    sources = {s.id: s for s in run.world.settings.sources}
    if source_id not in sources:
        raise KbError(
            f"there is no source '{source_id}'.",
            where="sources.yaml",
            cure=f"Known sources: {', '.join(sorted(sources)) or 'none'}.",
            code="not-found",
        )
    return fetch(run, sources[source_id]) if stage.level == "fetch" else each(run, stage, sources[source_id])


def _collect(run: Run) -> None:
    """Drop old versions of documents that neither an inactive item nor a retained generation can cite, and what was
    kept of versions of manifests that nobody saw last."""
    forget_unseen(run)
    retained = run.world.index.generations()
    cited = {version for entry in run.kb.manifest("tags") for version in entry.info.get("cites", ())}
    if retained:
        run.kb.collect_versions(frozenset(cited), run.world.index.born(retained[0]))


def _unchanged(run: Run, name: str) -> StageReport:
    kept = len(run.kb.manifest(name))
    return StageReport(stage=name, kept=kept, data_version=run.version(name) or "")
