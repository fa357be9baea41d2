"""What one sees who answers for a served knowledge base: who asked, and what. Formats records, decides nothing."""

from collections.abc import Sequence

from kb_pipeline.faces.rendering.console import OUT, table
from kb_pipeline.records import Query, Usage

_KINDS = ("person", "agent", "automation")


def usage(found: Usage) -> None:
    """Queries by day, project and user, and those to look at."""
    OUT.print(f"{found.queries} queries since {found.since}")
    if not found.queries:
        return
    table(["day", *_KINDS], [[day, *(counts.get(kind, 0) for kind in _KINDS)] for day, counts in found.days.items()])
    table(["project", "queries"], [list(row) for row in found.projects.items()])
    table(["user", "queries"], [list(row) for row in found.users.items()])
    _queries("without an answer", found.unanswered)
    _queries("slow", found.slow)


def _queries(title: str, queries: Sequence[Query]) -> None:
    if queries:
        OUT.print(f"\n{title}")
        table(
            ["at", "who", "face", "ms", "question"],
            [[q.at, q.who, q.face, f"{q.ms:.0f}", q.question or "(not kept)"] for q in queries],
        )
