"""What one who asks a question sees: sentences as they are verified, then their sources. Decides nothing."""

from collections.abc import Sequence

from rich.text import Text

from kb_pipeline.faces.rendering.console import ERR, OUT
from kb_pipeline.records import Answer, Evidence, Plan, Record, Sentence, ToolResult

_QUOTE = 300
_TOLD = frozenset({"change", "person", "conflict"})


class Telling:
    """An answer on its way to the terminal, where each sentence is shown at once; elsewhere all of it at its end.

    Sources are numbered in the order in which sentences cite them.
    """

    def __init__(self, *, quiet: bool) -> None:
        self._live = OUT.is_terminal and not quiet
        self._numbers: dict[str, int] = {}
        self._said = 0

    def tell(self, kind: str, record: Record) -> None:
        """Show what has come of the answer."""
        if not self._live:
            return
        if isinstance(record, Plan):
            ERR.print(Text("looking up " + ", ".join(call.tool for call in record.calls), style="dim"))
        elif isinstance(record, ToolResult) and record.failed:
            ERR.print(Text(f"{record.call.tool} failed: {record.failed}", style="yellow"))
        elif isinstance(record, Sentence):
            self._say(record)

    def end(self, found: Answer) -> None:
        """Show what is left: sentences, sources with title, path and quote, or that there is no answer."""
        for sentence in found.sentences[self._said :]:
            self._say(sentence)
        if not found.answered:
            OUT.print(Text("Not in the knowledge base.", style="bold"))
            _listed("nearest", found.nearest, ())
        sources = sorted(found.evidence, key=lambda evidence: self._numbers.get(evidence.id, 0))
        _listed("sources", sources, found.sentences)
        for failure in found.failed:
            OUT.print(Text(f"could not look up {failure}", style="yellow"))
        for note in found.notes:
            OUT.print(Text(f"note: {note}", style="yellow"))
        OUT.print(Text(_facts(found), style="dim"))

    def _say(self, sentence: Sentence) -> None:
        marks = "".join(f" [{self._numbers.setdefault(name, len(self._numbers) + 1)}]" for name in sentence.cites)
        OUT.print(Text.assemble(sentence.text, (marks, "cyan")))
        for note in sentence.notes:
            OUT.print(Text(f"  note: {note}", style="yellow"))
        self._said += 1


def _listed(title: str, evidence: Sequence[Evidence], sentences: Sequence[Sentence]) -> None:
    if evidence:
        OUT.print(Text(f"\n{title}", style="bold"))
    for n, found in enumerate(evidence, start=1):
        where = " › ".join(filter(None, (found.title or found.doc_id, found.heading)))
        path = found.uri if found.kind == "page" else found.doc_id
        OUT.print(Text.assemble((f"{n:2}  ", "cyan"), f"[{where}]({path})", (f"  {found.ref}", "dim")))
        for words in _proof(found, sentences) if found.quotable else ():
            OUT.print(Text(f"    {words}", style="dim"))
        for hint in found.hints:
            OUT.print(Text(f"    {hint}", style="yellow"))


def _proof(found: Evidence, sentences: Sequence[Sentence]) -> list[str]:
    """The words that carry what is said: the quote of an item, of a longer text what was said of it; between quotation
    marks only what stands so in the document that is named."""
    if found.kind in _TOLD:
        return []  # the sentence says all that there is
    said = [s.text for s in sentences if found.id in s.cites and s.text in " ".join(found.text.split())]
    words = [found.quote] if found.kind == "item" and found.quote else said or [found.quote or found.text]
    cut = [text if len(text) <= _QUOTE else f"{text[:_QUOTE]}…" for text in (" ".join(w.split()) for w in words)]
    return cut if found.kind == "page" else [f"“{text}”" for text in cut if text]


def _facts(found: Answer) -> str:
    kept = "kept from before" if found.kept else f"{found.ms:.0f} ms, {found.calls} model calls"
    dropped = f"; {len(found.dropped)} sentences dropped by the verifier" if found.dropped else ""
    filed = f"; filed as {found.filed}" if found.filed else ""
    return f"\n{found.generation}, {found.engine}, {kept}{dropped}{filed}"
