"""Commands of memory and upkeep: history, purge, sweep."""

from typing import Annotated

import typer

from kb_pipeline.errors import KbError
from kb_pipeline.faces.commands.options import Json, Root, opened, print_json

app = typer.Typer()


@app.command()
def history(
    item: Annotated[str, typer.Argument(metavar="ID", help="An item (kb_…), also one that is gone.")],
    root: Root = None,
    as_json: Json = False,
) -> None:
    """The story of an item: born, merged, superseded, edited, retired, with date, run, cause and quotes.

    Example: kb history kb_0123456789ab
    """
    from kb_pipeline.faces.rendering import remembering

    found = opened(root).history(item)
    print_json(found) if as_json else remembering.story(found)


@app.command()
def purge(
    document: Annotated[str, typer.Argument(metavar="DOC", help="A document: source/path.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    back: Annotated[bool, typer.Option("--readmit", help="Let a purged document be read again instead.")] = False,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Erase a document and every trace of its words, for good: history and kept versions included.

    Example: kb purge notes/jane.md --yes
    """
    from kb_pipeline.faces.rendering import remembering

    base = opened(root)
    if back:
        readmitted = base.readmit(document)
        told = "is read again by the next build" if readmitted else "was not purged"
        print_json({"readmitted": readmitted}) if as_json else typer.echo(f"{document} {told}.")
        return
    if not yes and not typer.confirm(f"Erase {document} and all that is known from it alone, for good?"):
        raise KbError("nothing was erased.", where=document, cure="Confirm, or pass --yes.", code="usage")
    report = base.purge(document)
    print_json(report) if as_json else remembering.purged(report)
    if report.residue:
        raise typer.Exit(1)


@app.command()
def sweep(root: Root = None, as_json: Json = False) -> None:
    """Decide every pair of statements anew, and report what has grown old; the nightly job of `kb dev` does the same.

    Example: kb sweep
    """
    from kb_pipeline.faces.rendering import remembering

    found = opened(root).sweep()
    print_json(found) if as_json else remembering.staleness(found)
