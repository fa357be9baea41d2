"""Commands of one who reads the wiki: its pages, one page, a site of them."""

from pathlib import Path
from typing import Annotated

import typer

from kb_pipeline.faces.commands.options import Json, Root, opened, print_json

app = typer.Typer()


@app.command()
def pages(
    category: Annotated[str | None, typer.Option("--category", "-c", help="Only the pages of this category.")] = None,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """The pages of the wiki, with what each is about.

    Example: kb pages --category Releases
    """
    from kb_pipeline.faces.rendering import reading

    found = opened(root).pages(category)
    print_json(found) if as_json else reading.pages(found)


@app.command()
def page(
    name: Annotated[str, typer.Argument(metavar="PAGE", help="A title, a path below kb/wiki, or an id (pg_…).")],
    root: Root = None,
    as_json: Json = False,
) -> None:
    """A page of the wiki as it stands, in Markdown.

    Example: kb page Turnstile
    """
    from kb_pipeline.faces.rendering import reading

    found = opened(root).page(name)
    print_json(found) if as_json else reading.page(found)


@app.command()
def export(
    html: Annotated[Path, typer.Option("--html", help="A folder for a site that needs no server.")],
    root: Root = None,
    as_json: Json = False,
) -> None:
    """The wiki as a static site with search.

    Example: kb export --html site
    """
    from kb_pipeline.faces.rendering.console import OUT
    from kb_pipeline.faces.rendering.site import write_site

    base = opened(root)
    written = write_site([base.page(brief.id) for brief in base.pages()], html)
    print_json({"folder": str(html), "pages": written}) if as_json else OUT.print(f"{written} pages in {html}")
