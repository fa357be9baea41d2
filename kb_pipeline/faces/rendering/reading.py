"""What one who reads the wiki sees on a terminal."""

from collections.abc import Sequence

from rich.text import Text

from kb_pipeline.faces.rendering.console import OUT, table
from kb_pipeline.records import PageBrief, PageView


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
