"""Commands of one who asks: search, show, sql."""

from typing import Annotated

import typer

from kb_pipeline.errors import KbError
from kb_pipeline.faces.commands.options import AsOf, Json, Root, Sources, opened, print_json

app = typer.Typer()


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="Words, a question, or an exact token such as a flag or an error.")],
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="How many hits.")] = 10,
    project: Annotated[str | None, typer.Option("--project", "-p", help="Only the sources of this project.")] = None,
    source: Sources = None,
    category: Annotated[list[str] | None, typer.Option("--category", "-c", help="Only these categories.")] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="item or chunk.")] = None,
    as_of: AsOf = None,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Find items and passages: lexical, vector and exact-token search, fused.

    Examples: kb search "block size default" · kb search ERR_KV_EXHAUSTED --kind item -k 3 · kb search "block size"
    --as-of 2026-01-31
    """
    from kb_pipeline.faces.rendering import results
    from kb_pipeline.records import Scope

    if kind not in {None, "item", "chunk"}:
        raise KbError(f"unknown kind '{kind}'.", where="--kind", cure="Known kinds: item, chunk.", code="usage")
    scope = Scope(kinds=(kind,) if kind else (), sources=tuple(source or ()), categories=tuple(category or ()))
    found = opened(root).search(query, k=k, scope=scope, project=project, as_of=as_of)
    print_json(found) if as_json else results.hits(found)
    if as_of and not as_json:
        typer.echo("Items that were active then, alone: no passages and pages are kept of earlier days.", err=True)


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="ID", help="An item (kb_…) or a document (source/path).")],
    as_of: AsOf = None,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """An item with its proofs, history and neighbours, or a document with its items.

    Examples: kb show kb_0123456789ab · kb show notes/paged-attention.md
    """
    from kb_pipeline.faces.rendering import results

    found = opened(root).show(name, as_of)
    print_json(found) if as_json else results.shown(found)


@app.command()
def sql(
    query: Annotated[str, typer.Argument(help="A SELECT over the table `rows`: the live rows alone.")],
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Ask the live rows in SQL.

    Example: kb sql "select category, count(*) from rows where kind = 'item' group by 1 order by 2 desc"
    """
    from kb_pipeline.faces.rendering.console import table

    columns, rows = opened(root).sql(query)
    print_json([dict(zip(columns, row, strict=True)) for row in rows]) if as_json else table(columns, rows)
