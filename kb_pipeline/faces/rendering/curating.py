"""What one who curates sees: what waits, what contradicts. Formats records, decides nothing."""

from collections.abc import Sequence

from rich.text import Text

from kb_pipeline.faces.rendering.console import OUT, table
from kb_pipeline.records import Conflict, HumanDecision, Review


def reviews(found: Sequence[Review]) -> None:
    """What waits, a line each."""
    if not found:
        OUT.print("nothing waits for review")
        return
    table(
        ["name", "actions", "why", "statements"],
        [[r.name, ", ".join(r.actions), r.why, " | ".join(item.statement for item in r.items)] for r in found],
    )
    OUT.print(f'\n{len(found)} wait. Decide with: kb review NAME ACTION --reason "…"')


def review(one: Review, place: int, of: int) -> None:
    """One review with its quotes, for a person to decide."""
    OUT.print(Text(f"\n{place} of {of}  {one.kind}: {one.why}", style="bold"))
    for item in one.items:
        OUT.print(Text(f"  {item.id}  {item.category}  {item.status}", style="dim"))
        OUT.print(Text(f"  {item.statement}"))
    for who, value in one.values.items():
        OUT.print(Text(f"  {who}: {value}"))
    for quote in one.quotes:
        OUT.print(Text(f"  {quote.doc_id}: “{quote.text}”", style="dim"))


def conflicts(found: Sequence[Conflict]) -> None:
    """What contradicts, with both quotes."""
    if not found:
        OUT.print("no two active items disagree")
    for conflict in found:
        OUT.print(Text(f"{conflict.kind}: {conflict.why}", style="bold"))
        for key, quote in zip((conflict.a, conflict.b), conflict.quotes, strict=True):
            OUT.print(Text(f"  {key}  “{quote.text}”"))
            OUT.print(Text(f"    {quote.doc_id}", style="dim"))
        OUT.print(Text(f"  kb review conflict:{conflict.a}:{conflict.b} …", style="dim"))


def decision(line: HumanDecision) -> str:
    """A decision in a few words."""
    what = f"{line.field} of " if line.field else ""
    return f"{line.action} {what}{', '.join(line.items)}"
