"""What the terminal shows. Formats records, decides nothing."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from kb_pipeline.api import Listener
from kb_pipeline.records import (
    BuildReport,
    CostRow,
    DocumentView,
    Estimate,
    EvalResult,
    Finding,
    ItemView,
    Overview,
    Passage,
    PromptRow,
    Range,
    SearchResult,
    SourceStatus,
)

_PIPED = 200  # columns where nobody looks: a pipe must not be cut at the width of a terminal
_OUT = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else _PIPED)
_ERR = Console(stderr=True, highlight=False)


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
    with Progress(*columns, console=_ERR, disable=quiet or not _ERR.is_terminal) as bars:
        tasks: dict[tuple[str, str | None], Any] = {}

        def progress(stage: str, source: str | None, done: int, total: int) -> None:
            key = (stage, source)
            if key not in tasks:
                tasks[key] = bars.add_task(f"{stage} {source or ''}".strip(), total=total)
            bars.update(tasks[key], completed=done, total=total)

        def waiting(holder: str) -> None:
            _ERR.print(f"kb: another build is under way ({holder}); waiting for it.")

        yield Listener(progress=progress, waiting=waiting)


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Rows in columns."""
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        shown.add_column(column, overflow="fold")
    for row in rows:
        shown.add_row(*(Text("" if value is None else str(value)) for value in row))
    _OUT.print(shown, soft_wrap=False)


def estimate(found: Estimate) -> None:
    """What would be asked, by stage, and the sum."""
    if not found.rows:
        _OUT.print("no model would be asked")
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
    _OUT.print("Nothing was sent. Repairs of replies and what is tried again after a fault come on top.")


def _range(found: Range) -> str:
    return f"{found.low:,}" if found.low == found.high else f"{found.low:,} to {found.high:,}"


def _dollars(found: tuple[float, float] | None) -> str:
    return "not known" if found is None else f"${found[0]:.4f} to ${found[1]:.4f}"


def costs(rows: Sequence[CostRow]) -> None:
    """What calls came to, a row a name."""
    if not rows:
        _OUT.print("no model was asked on this machine")
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
        _OUT.print("the engine in use asks no model, so it has no prompts")
        return
    columns = ["prompt", "stage", "version", "model", "artefacts", "made with an older one"]
    table(columns, [[r.name, r.stage, r.version, r.model, r.artefacts, r.older] for r in rows])


def build_report(report: BuildReport) -> None:
    """Documents, stages, cost, generation, and what to look at next."""
    documents = ", ".join(f"{n} {name}" for name, n in report.documents.items())
    _OUT.print(f"documents  {documents}")
    ran = {name: counts for name, counts in report.stages.items() if counts["seconds"]}
    if ran:
        columns = ["made", "kept", "rejected", "seconds"]
        table(["stage", *columns], [[name, *(f"{counts[c]:g}" for c in columns)] for name, counts in ran.items()])
    engine = report.engine
    _OUT.print(f"engine     {engine['calls']:g} model calls, {engine.get('embeddings', 0):g} embeddings")
    _OUT.print(f"written    {report.files_written} files in {report.seconds:.1f} s")
    held = "" if report.live == report.generation else f" ({report.generation} is held back)"
    _OUT.print(f"live       {report.live or 'nothing yet'}{held}")
    for failure in report.failed:
        _OUT.print(Text(f"failed     {failure}", style="red"))
    for warning in report.warnings[:20]:
        _OUT.print(Text(f"warning    {warning}", style="yellow"))
    if len(report.warnings) > 20:
        _OUT.print(f"warning    and {len(report.warnings) - 20} more: kb status")
    for step in report.next_steps:
        _OUT.print(f"next       {step}")


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
    _OUT.print()
    stages = [[s.stage, s.artefacts, s.last_run or "never", s.stale or "up to date"] for s in found.stages]
    table(["stage", "artefacts", "last run", "state"], stages)
    rows = ", ".join(f"{n} {kind}s" for kind, n in found.rows.items()) or "no rows"
    _OUT.print(f"\nlive {found.live or 'nothing'} ({rows}); newest {found.candidate or 'nothing'}", end="")
    _OUT.print(f"; pinned to {found.pinned}" if found.pinned else "")
    for reject in found.quarantine[:20]:
        _OUT.print(Text(f"quarantined  {reject.where}: {reject.reason} {reject.detail}".rstrip(), style="yellow"))
    if len(found.quarantine) > 20:
        _OUT.print(f"quarantined  and {len(found.quarantine) - 20} more: kb status --json")
    for warning in found.warnings[:10]:
        _OUT.print(Text(f"last build   {warning}", style="yellow"))


def _state(source: SourceStatus) -> str:
    if source.failed:
        return f"failed {source.failed_at}: {source.failed}"
    if source.held_deletions:
        return f"{source.held_deletions} gone, not deleted. If right: kb build --accept-deletions {source.id}"
    return source.stale or "up to date"


def hits(found: SearchResult) -> None:
    """Hits, best first."""
    if not found.hits:
        _OUT.print("Nothing found. Try other words, or fewer restrictions.")
    for place, hit in enumerate(found.hits, start=1):
        lists = " ".join(f"{name} {rank}" for name, rank in hit.lists.items())
        text = hit.text if len(hit.text) <= 400 else f"{hit.text[:400]}…"
        _OUT.print(Text.assemble((f"{place:2}  ", "bold"), text))
        where = " › ".join(filter(None, (hit.doc_id, hit.heading, hit.category)))
        _OUT.print(Text(f"    {hit.id}  {where}  [{hit.score:.3f}; {lists}]", style="dim"))


def shown(found: ItemView | DocumentView) -> None:
    """An item, or a document."""
    if isinstance(found, ItemView):
        _item(found)
        return
    meta = found.meta
    _OUT.print(Text(meta.title, style="bold"))
    facts = (meta.doc_id, meta.source_type, meta.license, meta.language, meta.effective_date, ", ".join(meta.authors))
    _OUT.print(" · ".join(filter(None, facts)))
    _OUT.print(f"{meta.uri}, read {meta.fetched_at}, converted by {meta.converter} {meta.converter_version}")
    for warning in meta.warnings:
        _OUT.print(Text(f"warning: {warning}", style="yellow"))
    _OUT.print(f"\n{len(found.items)} items, {len(found.rejects)} passages that are none")
    table(["at", "id", "category", "statement"], [[b.start, b.id, b.category, b.statement] for b in found.items])
    for reject in (r for r in found.rejects if r.quarantined):
        _OUT.print(Text(f"quarantined: {reject.reason} ({reject.detail}): {reject.excerpt}", style="yellow"))
    for reply in found.refused:
        _OUT.print(Text(f"{reply.at} {reply.task} by {reply.model}: {reply.outcome}, {reply.detail}", style="yellow"))
        _OUT.print(Text(reply.reply))


def _item(found: ItemView) -> None:
    item = found.item
    _OUT.print(Text(item.statement, style="bold"))
    if item.detail:
        _OUT.print(Text(item.detail))
    if item.context:
        _OUT.print(Text(f"where: {item.context}"))
    status = item.status + (f" by {item.superseded_by}" if item.superseded_by else "")
    _OUT.print(f"{item.id} · {item.item_type} · {item.primary_category} · {', '.join(item.tags)}")
    confirmed = f"{item.confirmations} confirmation{'s' if item.confirmations != 1 else ''}"
    _OUT.print(f"{status} · {item.confidence} confidence · {confirmed} · made by {item.engine}")
    _OUT.print(f"born {item.created_at}, changed {item.updated_at}")
    for passage in found.passages:
        _passage(passage)
    if found.neighbours:
        _OUT.print("\nnear it")
        table(["id", "category", "statement"], [[b.id, b.category, b.statement] for b in found.neighbours])
    for decision in found.decisions:
        _OUT.print(Text(f"{decision.decision} by {decision.by}: {decision.reason}", style="dim"))


def _passage(passage: Passage) -> None:
    citation = passage.citation
    where = " › ".join(filter(None, (citation.doc_id, passage.heading)))
    proof = "" if passage.proven else "  NOT PROVEN"
    _OUT.print(Text(f"\n{where} [{citation.start}:{citation.end}]{proof}", style="dim" if passage.proven else "red"))
    before, after = passage.before.rpartition("\n\n")[2], passage.after.partition("\n\n")[0]
    _OUT.print(Text.assemble((before, "dim"), (citation.source_span, "reverse"), (after, "dim")))
    _OUT.print(Text(f"{citation.uri} · {citation.license} · read {citation.fetched_at}", style="dim"))


def findings(found: Sequence[Finding]) -> None:
    """Each check with what it found."""
    for finding in found:
        mark, style = ("ok  ", "green") if finding.ok else ("FAIL", "red") if finding.blocking else ("warn", "yellow")
        _OUT.print(Text.assemble((mark, style), f"  {finding.stage}  {finding.message}"))
        for offender in finding.offenders:
            _OUT.print(f"        {offender}")
        if finding.cure:
            _OUT.print(f"        {finding.cure}")


def evaluations(found: Sequence[EvalResult]) -> None:
    """The last evaluation by slice, then recall and MRR over time."""
    last = found[-1]
    measures = ["n", "recall@1", "recall@5", "recall@10", "mrr", "ndcg@10"]
    _OUT.print(f"{last.generation}, {last.at}, {last.engine}, {last.counts.get('items', 0)} items")
    table(["slice", *measures], [[name, *_cells(values, measures)] for name, values in last.metrics.items()])
    _OUT.print()
    table(
        ["generation", "at", "items", "recall@10", "mrr"],
        [
            [r.generation, r.at, r.counts.get("items", 0), *_cells(r.metrics.get("all", {}), ["recall@10", "mrr"])]
            for r in found[-15:]
        ],
    )


def _cells(values: Mapping[str, float], names: Sequence[str]) -> list[str]:
    return [f"{values[name]:g}" if name in values else "" for name in names]


def trend_plot(found: Sequence[EvalResult], path: Path) -> None:
    """Draw recall@10, MRR and nDCG@10 over the evaluations as SVG."""
    from kb_pipeline.faces.plotting import line_chart

    series = {name: [r.metrics.get("all", {}).get(name) for r in found] for name in ("recall@10", "mrr", "ndcg@10")}
    path.write_text(line_chart(series, [r.generation for r in found], title="Retrieval by generation"))
    _OUT.print(f"{path} drawn.")
