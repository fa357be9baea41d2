"""What one who reads the wiki sees on a terminal."""

from collections.abc import Sequence
from itertools import groupby

from rich.text import Text

from kb_pipeline.faces.rendering.console import OUT, table
from kb_pipeline.records import PageBrief, PageChanges, PageView, SentenceChange, WikiChanges

_STYLES = {"same": "", "added": "green underline", "removed": "red strike"}
_NOTHING_EARLIER = "nothing earlier is retained to compare with: a build from now on can be"


def pages(found: Sequence[PageBrief]) -> None:
    """The catalogue, a line a page."""
    if not found:
        OUT.print("there are no pages yet: run kb build")
        return
    rows = [[brief.title, brief.path, brief.items, brief.summary] for brief in found]
    table(["title", "path", "statements", "about"], rows)


def page(found: PageView) -> None:
    """A page as its file has it, without the front matter, and what waits for a person on it."""
    text = found.text.partition("\n---\n")[2].lstrip() if found.text.startswith("---\n") else found.text
    OUT.print(Text(text), soft_wrap=True)
    for clash in found.clashes:
        OUT.print(Text(f"a person wrote: {' '.join(clash.person)}", style="yellow"))
        OUT.print(Text(f"the machine says: {' '.join(clash.machine) or 'nothing any more'}", style="yellow"))
    if found.proposal:
        OUT.print(Text("the page is reviewed; what the machine would change waits in kb review", style="yellow"))


def wiki_changes(found: WikiChanges) -> None:
    """The pages that changed, a line a page."""
    if not found.since:
        OUT.print(_NOTHING_EARLIER)
        return
    OUT.print(f"since {found.since}, made {found.at.replace('T', ' ').removesuffix('Z')}")
    if not found.pages:
        OUT.print("no page changed")
        return
    rows = [
        [p.kind, p.title, p.path, *(p.count(kind) for kind in ("added", "changed", "removed"))] for p in found.pages
    ]
    table(["page", "title", "path", "added", "changed", "removed"], rows)
    if found.more:
        OUT.print(f"and {found.more} more")


def page_changes(found: PageChanges) -> None:
    """The sentences of a page that came, went or changed, below their headings, each with its cause."""
    if found.kind == "unknown":
        OUT.print(_NOTHING_EARLIER)
        return
    OUT.print(Text(f"{found.title}: {found.kind} since {found.since}", style="bold"))
    if found.former_title:
        OUT.print(Text(f"it was called “{found.former_title}”"))
    for section, changes in groupby(found.changes, key=lambda change: change.section):
        OUT.print(Text(f"\n{' › '.join(section) or found.title}", style="bold"))
        for change in changes:
            OUT.print(_sentence(change), soft_wrap=True)
            why = ": ".join(filter(None, (change.event, change.cause)))
            who = " (by a person)" if change.by == "person" else ""
            if why or who:
                OUT.print(Text(f"    {why}{who}", style="dim"), soft_wrap=True)
    if found.shifted:
        OUT.print(Text(f"\n{found.shifted} sentences stand elsewhere on the page, word for word", style="dim"))


def _sentence(change: SentenceChange) -> Text:
    """A sentence with its sign: ``+`` it came, ``-`` it went, ``~`` its words changed (``[-gone-]``, ``{+new+}``)."""
    if change.kind == "changed":
        marks = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
        words = ((marks[piece.kind].format(piece.text), _STYLES[piece.kind]) for piece in change.pieces)
        return Text.assemble("  ~ ", *words)
    if change.kind == "added":
        return Text(f"  + {change.now}", style="green")
    gone = f"a sentence of a document that is gone (kb history {change.items[0] if change.items else 'ID'})"
    return Text(f"  - {change.before or gone}", style="red")
