"""What one who builds sees: progress, reports, findings, costs. Formats records, decides nothing."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from kb_pipeline.api import Listener
from kb_pipeline.faces.rendering.console import ERR, OUT, table
from kb_pipeline.records import (
    BuildReport,
    CostRow,
    Estimate,
    EvalResult,
    Finding,
    Overview,
    PromptRow,
    Range,
    SourceStatus,
)


@contextmanager
def listening(*, quiet: bool) -> Iterator[Listener]:
    """A listener that shows a bar a stage on a terminal; with ``quiet`` it tells only whom the build waits for."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=ERR, disable=quiet or not ERR.is_terminal) as bars:
        tasks: dict[tuple[str, str | None], Any] = {}

        def progress(stage: str, source: str | None, done: int, total: int) -> None:
            key = (stage, source)
            if key not in tasks:
                tasks[key] = bars.add_task(f"{stage} {source or ''}".strip(), total=total)
            bars.update(tasks[key], completed=done, total=total)

        def waiting(holder: str) -> None:
            ERR.print(f"kb: another build is under way ({holder}); waiting for it.")

        yield Listener(progress=progress, waiting=waiting)


def estimate(found: Estimate) -> None:
    """What would be asked, by stage, and the sum."""
    if not found.rows:
        OUT.print("no model would be asked")
        return
    rows = [
        [r.stage, r.task, r.model, _range(r.calls), _range(r.tokens_in), _range(r.tokens_out), _dollars(r.usd)]
        for r in found.rows
    ]
    sums = [
        Range(low=sum(r.low for r in ranges), high=sum(r.high for r in ranges))
        for ranges in zip(*((r.calls, r.tokens_in, r.tokens_out) for r in found.rows), strict=True)
    ]
    priced = [r.usd for r in found.rows if r.usd]
    total = (sum(low for low, _ in priced), sum(high for _, high in priced)) if len(priced) == len(rows) else None
    columns = ["stage", "task", "model", "calls", "tokens in", "tokens out", "price"]
    table(columns, [*rows, ["all", "", "", *map(_range, sums), _dollars(total)]])
    OUT.print("Nothing was sent. Repairs of replies and what is tried again after a fault come on top.")


def _range(found: Range) -> str:
    return f"{found.low:,}" if found.low == found.high else f"{found.low:,} to {found.high:,}"


def _dollars(found: tuple[float, float] | None) -> str:
    return "not known" if found is None else f"${found[0]:.4f} to ${found[1]:.4f}"


def costs(rows: Sequence[CostRow]) -> None:
    """What calls came to, a row a name."""
    if not rows:
        OUT.print("no model was asked on this machine")
        return
    columns = ["", "calls", "failed", "tokens in", "cached", "tokens out", "seconds", "price"]
    table(
        columns,
        [
            [
                r.name,
                r.calls,
                r.failed,
                f"{r.tokens_in:,}",
                f"{r.tokens_cached:,}",
                f"{r.tokens_out:,}",
                f"{r.seconds:.1f}",
                "not known" if r.usd is None else f"${r.usd:.4f}",
            ]
            for r in rows
        ],
    )


def prompts(rows: Sequence[PromptRow]) -> None:
    """The prompts in use."""
    if not rows:
        OUT.print("the engine in use asks no model, so it has no prompts")
        return
    columns = ["prompt", "stage", "version", "model", "artefacts", "made with an older one"]
    table(columns, [[r.name, r.stage, r.version, r.model, r.artefacts, r.older] for r in rows])


def build_report(report: BuildReport) -> None:
    """Documents, stages, cost, generation, and what to look at next."""
    documents = ", ".join(f"{n} {name}" for name, n in report.documents.items())
    OUT.print(f"documents  {documents}")
    ran = {name: counts for name, counts in report.stages.items() if counts["seconds"]}
    if ran:
        columns = ["made", "kept", "rejected", "seconds"]
        table(["stage", *columns], [[name, *(f"{counts[c]:g}" for c in columns)] for name, counts in ran.items()])
    engine = report.engine
    OUT.print(f"engine     {engine['calls']:g} model calls, {engine.get('embeddings', 0):g} embeddings")
    OUT.print(f"written    {report.files_written} files in {report.seconds:.1f} s")
    held = "" if report.live == report.generation else f" ({report.generation} is held back)"
    OUT.print(f"live       {report.live or 'nothing yet'}{held}")
    for failure in report.failed:
        OUT.print(Text(f"failed     {failure}", style="red"))
    for warning in report.warnings[:20]:
        OUT.print(Text(f"warning    {warning}", style="yellow"))
    if len(report.warnings) > 20:
        OUT.print(f"warning    and {len(report.warnings) - 20} more: kb status")
    for step in report.next_steps:
        OUT.print(f"next       {step}")


def overview(found: Overview) -> None:
    """Sources, stages, generations, quarantine."""
    columns = ["source", "type", "documents", "failed", "deleted", "items", "last read", "state"]
    states = [_state(source) for source in found.sources]
    table(
        columns,
        [
            [s.id, s.type, s.documents, s.failed_documents, s.deleted_documents, s.items, s.last_read or "never", state]
            for s, state in zip(found.sources, states, strict=True)
        ],
    )
    OUT.print()
    stages = [[s.stage, s.artefacts, s.last_run or "never", s.stale or "up to date"] for s in found.stages]
    table(["stage", "artefacts", "last run", "state"], stages)
    rows = ", ".join(f"{n} {kind}s" for kind, n in found.rows.items()) or "no rows"
    OUT.print(f"\nlive {found.live or 'nothing'} ({rows}); newest {found.candidate or 'nothing'}", end="")
    OUT.print(f"; pinned to {found.pinned}" if found.pinned else "")
    for reject in found.quarantine[:20]:
        OUT.print(Text(f"quarantined  {reject.where}: {reject.reason} {reject.detail}".rstrip(), style="yellow"))
    if len(found.quarantine) > 20:
        OUT.print(f"quarantined  and {len(found.quarantine) - 20} more: kb status --json")
    for warning in found.warnings[:10]:
        OUT.print(Text(f"last build   {warning}", style="yellow"))
    if len(found.warnings) > 10:
        OUT.print(f"last build   and {len(found.warnings) - 10} more: kb status --json")


def _state(source: SourceStatus) -> str:
    if source.failed:
        return f"failed {source.failed_at}: {source.failed}"
    if source.held_deletions:
        return f"{source.held_deletions} gone, not deleted. If right: kb build --accept-deletions {source.id}"
    return source.stale or "up to date"


def findings(found: Sequence[Finding]) -> None:
    """Each check with what it found."""
    for finding in found:
        mark, style = ("ok  ", "green") if finding.ok else ("FAIL", "red") if finding.blocking else ("warn", "yellow")
        OUT.print(Text.assemble((mark, style), f"  {finding.stage}  {finding.message}"))
        for offender in finding.offenders:
            OUT.print(f"        {offender}")
        if finding.cure:
            OUT.print(f"        {finding.cure}")


def evaluations(found: Sequence[EvalResult]) -> None:
    """The last evaluation by slice, then recall and MRR over time."""
    last = found[-1]
    measures = ["n", "recall@1", "recall@5", "recall@10", "mrr", "ndcg@10"]
    OUT.print(f"{last.generation}, {last.at}, {last.engine}, {last.counts.get('items', 0)} items")
    table(["slice", *measures], [[name, *_cells(values, measures)] for name, values in last.metrics.items()])
    OUT.print()
    _answers(last)
    table(
        ["generation", "at", "items", "recall@10", "mrr"],
        [
            [r.generation, r.at, r.counts.get("items", 0), *_cells(r.metrics.get("all", {}), ["recall@10", "mrr"])]
            for r in found[-15:]
        ],
    )


def _answers(last: EvalResult) -> None:
    """How a sample of the questions was answered, by way."""
    if not last.answers:
        return
    measures = [
        "n",
        "answered",
        "cited",
        "precision",
        "faithfulness",
        "n_hard",
        "hard_silent",
        "hard_own",
        "hard_other",
    ]
    costs = ["ms", "calls"]
    rows = [
        [way, *_cells(values, measures), *_cells(last.spent.get(way, {}), costs)]
        for way, values in last.answers.items()
    ]
    table(["answers", *measures, *costs], rows)
    OUT.print()


def _cells(values: Mapping[str, float], names: Sequence[str]) -> list[str]:
    return [f"{values[name]:g}" if name in values else "" for name in names]


def trend_plot(found: Sequence[EvalResult], path: Path) -> None:
    """Draw recall@10, MRR and nDCG@10 over the evaluations as SVG."""
    from kb_pipeline.faces.plotting import line_chart

    series = {name: [r.metrics.get("all", {}).get(name) for r in found] for name in ("recall@10", "mrr", "ndcg@10")}
    path.write_text(line_chart(series, [r.generation for r in found], title="Retrieval by generation"))
    OUT.print(f"{path} drawn.")
