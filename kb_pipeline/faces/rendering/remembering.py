"""What one who looks back sees: the story of an item, what a purge erased. Formats records, decides nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from kb_pipeline.faces.rendering.console import OUT
from kb_pipeline.records import Event, PurgeReport

_SHOWN = ("statement", "detail", "context", "status", "primary_category", "tags", "confidence", "note", "item_type")
_LONGEST = 160
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
        if name in event.before and event.kind != "absorbed":
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
