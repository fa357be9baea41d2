"""What one who asks a question sees: sentences as they are verified, then their sources. Decides nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.text import Text

from kb_pipeline.faces.rendering.console import ERR, OUT
from kb_pipeline.records import Answer, Evidence, Plan, Record, Sentence, ToolResult

_QUOTE = 300


@contextmanager
def streaming(*, quiet: bool) -> Iterator[Callable[[str, Record], None]]:
    """Yields what to tell of an answer as it comes: on a terminal each sentence at once, elsewhere nothing."""

    def tell(kind: str, record: Record) -> None:
        if isinstance(record, Plan):
            ERR.print(Text("looking up " + ", ".join(call.tool for call in record.calls), style="dim"))
        elif isinstance(record, ToolResult) and record.failed:
            ERR.print(Text(f"{record.call.tool} failed: {record.failed}", style="yellow"))
        elif isinstance(record, Sentence):
            ERR.print(Text(f"{len(record.cites)} source{'s' if len(record.cites) != 1 else ''} checked", style="dim"))

    yield (lambda kind, record: None) if quiet or not ERR.is_terminal else tell


def shown(found: Answer) -> None:
    """Sentences with the numbers of their sources, these with title, path and quote; or that there is no answer."""
    if not found.answered:
        OUT.print(Text("Not in the knowledge base.", style="bold"))
        _listed("nearest", found.nearest)
    numbers = {evidence.id: n for n, evidence in enumerate(found.evidence, start=1)}
    for sentence in found.sentences:
        marks = "".join(f" [{numbers[name]}]" for name in sentence.cites if name in numbers)
        OUT.print(Text.assemble(sentence.text, (marks, "cyan")))
        for note in sentence.notes:
            OUT.print(Text(f"  note: {note}", style="yellow"))
    if found.evidence:
        _listed("sources", found.evidence)
    for failure in found.failed:
        OUT.print(Text(f"could not look up {failure}", style="yellow"))
    for note in found.notes:
        OUT.print(Text(f"note: {note}", style="yellow"))
    OUT.print(Text(_facts(found), style="dim"))


def _listed(title: str, evidence: tuple[Evidence, ...]) -> None:
    if not evidence:
        return
    OUT.print(Text(f"\n{title}", style="bold"))
    for n, found in enumerate(evidence, start=1):
        where = " › ".join(filter(None, (found.title or found.doc_id, found.heading)))
        OUT.print(Text.assemble((f"{n:2}  ", "cyan"), f"[{where}]({found.doc_id})", (f"  {found.ref}", "dim")))
        quote = " ".join((found.quote or found.text).split())
        if found.quotable and quote:
            OUT.print(Text(f"    “{quote[:_QUOTE]}{'…' if len(quote) > _QUOTE else ''}”", style="dim"))
        for hint in found.hints:
            OUT.print(Text(f"    {hint}", style="yellow"))


def _facts(found: Answer) -> str:
    kept = "kept from before" if found.kept else f"{found.ms:.0f} ms, {found.calls} model calls"
    dropped = f"; {len(found.dropped)} sentences dropped by the verifier" if found.dropped else ""
    filed = f"; filed as {found.filed}" if found.filed else ""
    return f"\n{found.generation}, {found.engine}, {kept}{dropped}{filed}"
