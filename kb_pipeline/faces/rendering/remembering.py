"""What one who looks back sees: a story, what a purge erased, what grew old. Formats records, decides nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from kb_pipeline.faces.rendering.console import OUT, table
from kb_pipeline.records import Event, PurgeReport, Staleness

_SHOWN = ("statement", "detail", "context", "status", "primary_category", "tags", "confidence", "note", "item_type")
_LONGEST = 160
_MOST = 20
_WORDS = {"absorbed": "merged away", "sources": "proofs", "changed": "changed", "recategorised": "filed anew"}


def story(events: Sequence[Event]) -> None:
    """Each event with its date, cause, former values and quotes."""
    for event in events:
        who = " by a person" if event.by == "person" else ""
        title = f"{_WORDS.get(event.kind, event.kind)}{who}"
        OUT.print(Text.assemble((event.at, "dim"), "  ", (title, "bold"), f"  {event.cause}"))
        if event.others:
            OUT.print(Text(f"    with {', '.join(event.others)}"))
        _values(event)
        for quote in event.quotes:
            OUT.print(Text.assemble(f"    {quote.doc_id}: ", (f"“{_short(quote.text)}”", "italic")))
        for citation in event.lost:
            OUT.print(Text(f"    no longer {citation.doc_id}: “{_short(citation.source_span)}”", style="dim"))
        if event.run:
            OUT.print(Text(f"    run {event.run}", style="dim"))


def _values(event: Event) -> None:
    for name in _SHOWN:
        if name in event.before and event.kind not in {"absorbed", "hidden"}:
            now = f" → {_value(event.after, name)}" if name in event.after else ""
            OUT.print(Text(f"    {name} was {_value(event.before, name)}{now}"))


def _value(values: Mapping[str, Any], name: str) -> str:
    value = values[name]
    return _short(", ".join(value) if isinstance(value, list) else str(value or "empty"))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def purged(report: PurgeReport) -> None:
    """What was erased, and what is left to do."""
    OUT.print(f"{report.doc_id} is erased, and will not be read again.")
    for name, count in report.erased.items():
        OUT.print(f"    {count:6} {name}")
    for warning in report.warnings:
        OUT.print(Text(f"warning    {warning}", style="yellow"))
    for path in report.residue:
        OUT.print(Text(f"left       kb/{path} still holds words of it: look at it.", style="red"))
    OUT.print("Commits made before still hold it: rewriting them is up to you (git filter-repo).")
    OUT.print(
        "Dagster's runs still name it, and tags made of its words: delete .dagster/, which loses their history alone."
    )


def staleness(found: Staleness) -> None:
    """What has grown old, kind by kind; the first twenty of each."""
    OUT.print(f"{found.items} active items at {found.at}; {found.unclassified:.0%} without a category")
    if found.rechecked:
        OUT.print(f"{found.rechecked} pairs decided anew, {found.overturned} of them otherwise")
    _rows(
        "sources past their refresh",
        ["source", "last read", "why"],
        [[s.id, s.last_read, s.why] for s in found.sources],
    )
    old = [[item.date, item.id, item.doc_id, _short(item.statement)] for item in found.old_items]
    _rows("items whose only source is old", ["date", "id", "document", "statement"], old)
    links = [[link.doc_id, link.target, link.why] for link in found.dead_links]
    _rows("dead links", ["document", "target", "why"], links)
    near = [[tags.a, tags.a_items, tags.b, tags.b_items, tags.why] for tags in found.near_tags]
    _rows("tags that may be one", ["tag", "items", "tag", "items", "why"], near)
    wide = [[category.category, category.items, f"{category.share:.0%}"] for category in found.wide]
    _rows("categories that are too wide", ["category", "items", "share"], wide)
    _rows("tags that nothing bears", ["tag"], [[tag] for tag in found.unused_tags])
    _rows("categories that are empty", ["category"], [[name] for name in found.empty])


def _rows(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    if rows:
        OUT.print(Text(f"\n{title} ({len(rows)})", style="bold"))
        table(columns, rows[:_MOST])
        if len(rows) > _MOST:
            OUT.print(f"and {len(rows) - _MOST} more: kb status --stale --json")
