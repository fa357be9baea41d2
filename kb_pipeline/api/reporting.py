"""One build in figures, and what to look at next."""

from collections.abc import Iterator, Sequence

from kb_pipeline.api.views import quarantine
from kb_pipeline.records import BuildReport, StageReport
from kb_pipeline.runner import Run, held
from kb_pipeline.stages import PER_SOURCE, PIPELINE


def build_report(run: Run, reports: Sequence[StageReport], failed: Sequence[str], seconds: float) -> BuildReport:
    """Sum up what the stages reported; stages that did not run kept what they had. Remembered where anything ran."""
    holding = (f"held back by the check of {stage}: {message}" for stage, message in held(run).items())
    warnings = tuple(dict.fromkeys([*(w for r in reports for w in r.warnings), *holding]))
    index = run.world.index
    quarantined = sum(1 for _ in quarantine(run))
    report = BuildReport(
        documents=_documents(run, reports),
        stages={name: _stage(run, name, [r for r in reports if r.stage == name]) for name in PIPELINE},
        engine={
            "calls": sum(r.calls for r in reports),
            "tokens": sum(r.tokens for r in reports),
            "cost_usd": round(sum(r.cost_usd for r in reports), 6),
            "embeddings": sum(r.embeddings for r in reports),
            "embedding_seconds": round(sum(r.embedding_seconds for r in reports), 3),
        },
        files_written=sum(r.files_written for r in reports),
        generation=index.candidate(),
        live=index.live(),
        warnings=warnings,
        failed=tuple(failed),
        quarantined=quarantined,
        seconds=round(seconds, 2),
    )
    report = report.model_copy(update={"next_steps": tuple(_next_steps(report))})
    if reports or failed:
        run.kb.log("last_build", [{"at": run.now(), "warning": w} for w in (*failed, *warnings)])
    return report


def _documents(run: Run, reports: Sequence[StageReport]) -> dict[str, int]:
    read = [r for r in reports if r.stage == "raw"]
    manifests = [(s.id, run.kb.manifest("raw", s.id)) for s in run.world.settings.sources]
    seen = sum(len(m.live()) for _, m in manifests)
    changed = sum(r.made for r in read)
    unconverted = sum(1 for s, _ in manifests for e in run.kb.manifest("normalized", s) if e.failed)
    return {
        "seen": seen,
        "changed": changed,
        "unchanged": seen - changed,
        "deleted": sum(r.deleted for r in read),
        "failed": unconverted + sum(r.failed for r in read),
    }


def _stage(run: Run, name: str, reports: Sequence[StageReport]) -> dict[str, float]:
    ran = {r.partition for r in reports}
    sources = [s.id for s in run.world.settings.sources] if name in PER_SOURCE else [None]
    idle = sum(run.kb.count(name, source) for source in sources if source not in ran)
    return {
        "made": sum(r.made for r in reports),
        "kept": sum(r.kept for r in reports) + idle,
        "rejected": sum(r.rejected for r in reports),
        "seconds": round(sum(r.seconds for r in reports), 3),
    }


def _next_steps(report: BuildReport) -> Iterator[str]:
    if report.failed:
        yield "kb status: what failed, since when, and the cure"
    if report.quarantined:
        yield f"kb status: {report.quarantined} quarantined, each with its reason"
    if report.live is None:
        yield "kb build: nothing is live yet"
    elif report.live != report.generation:
        yield "kb eval: why the newest generation is held back"
    else:
        yield 'kb search "…"'
