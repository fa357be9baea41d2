"""Commands of memory: history."""

from typing import Annotated

import typer

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
    print_json([event.model_dump(mode="json") for event in found]) if as_json else remembering.story(found)
