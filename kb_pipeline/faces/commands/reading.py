"""Commands of one who reads the wiki: its pages, one page, what changed, a site of them."""

from pathlib import Path
from typing import Annotated

import typer

from kb_pipeline.errors import KbError
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
def diff(
    name: Annotated[str | None, typer.Argument(metavar="PAGE", help="As for kb page; all pages without it.")] = None,
    since: Annotated[
        str | None, typer.Option("--since", help="A retained generation, by default the last but one.")
    ] = None,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """What changed on the wiki since an earlier build, sentence by sentence, and why.

    Examples: kb diff · kb diff Turnstile · kb diff --since g7
    """
    from kb_pipeline.faces.rendering import reading

    base = opened(root)
    if name is None:
        found = base.wiki_changes(since)
        print_json(found) if as_json else reading.wiki_changes(found)
    else:
        page = base.page_changes(name, since)
        print_json(page) if as_json else reading.page_changes(page)


@app.command()
def export(
    html: Annotated[Path | None, typer.Option("--html", help="A folder for a site that needs no server.")] = None,
    okf: Annotated[Path | None, typer.Option("--okf", help="A folder for an Open Knowledge Format bundle.")] = None,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """The wiki as a static site with search, or as a bundle that other tools read.

    Example: kb export --html site
    """
    from kb_pipeline.faces.rendering.console import OUT
    from kb_pipeline.faces.rendering.okf import write_bundle
    from kb_pipeline.faces.rendering.site import write_site

    wanted = [(folder, write) for folder, write in ((html, write_site), (okf, write_bundle)) if folder is not None]
    if not wanted:
        raise KbError(
            "there is nowhere to write to.", where="kb export", cure="Give --html DIR or --okf DIR.", code="usage"
        )
    pages = opened(root).whole_pages()
    written = {str(folder): write(pages, folder) for folder, write in wanted}
    if as_json:
        print_json(written)
        return
    for folder_name, count in written.items():
        OUT.print(f"{count} pages in {folder_name}")
