"""Commands of one who asks: ask, search, show, sql."""

from typing import Annotated, Literal

import typer

from kb_pipeline.errors import KbError
from kb_pipeline.faces.commands.options import AsOf, Json, Root, Sources, asking, opened, print_json

app = typer.Typer()
_PAGES = ("pg_", "wiki/", "kb/wiki/")  # begin what names a page
_KINDS = ("item", "chunk", "page")


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="A question in plain words.")],
    project: Annotated[str | None, typer.Option("--project", "-p", help="Only the sources of this project.")] = None,
    source: Sources = None,
    way: Annotated[
        Literal["hybrid", "catalogue", "auto"],
        typer.Option("--way", help="Search, or read whole what the catalogue names, or what the question calls for."),
    ] = "auto",
    keep: Annotated[bool, typer.Option("--keep", help="File the answer under kb/wiki/answers, as derived.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Answer anew, whatever was answered before.")] = False,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Answer a question, each sentence with its sources, or say that it is not in the knowledge base.

    Examples: kb ask "How long may a replica drain?" · kb ask "What changed since 2026-11-01?" --project platform
    """
    from kb_pipeline.faces.rendering.answers import Telling
    from kb_pipeline.records import Scope

    telling, scope = Telling(quiet=as_json), Scope(sources=tuple(source or ()))
    found = opened(root).ask(question, scope=scope, project=project, way=way, keep=keep, fresh=fresh, tell=telling.tell)
    print_json(found) if as_json else telling.end(found)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="Words, a question, or an exact token such as a flag or an error.")],
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="How many hits.")] = 10,
    project: Annotated[str | None, typer.Option("--project", "-p", help="Only the sources of this project.")] = None,
    source: Sources = None,
    category: Annotated[list[str] | None, typer.Option("--category", "-c", help="Only these categories.")] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="item, chunk or page.")] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", "-t", help="Only what bears one of these tags.")] = None,
    status: Annotated[
        list[str] | None, typer.Option("--status", help="Only items that are active, superseded or retired.")
    ] = None,
    since: Annotated[str, typer.Option("--since", metavar="DAY", help="Only what is from that day or later.")] = "",
    until: Annotated[str, typer.Option("--until", metavar="DAY", help="Only what is from that day or earlier.")] = "",
    as_of: AsOf = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say of each hit why it stands there.")] = False,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Find items and passages: lexical, vector and exact-token search, fused.

    Examples: kb search "block size default" · kb search ERR_KV_EXHAUSTED --kind item -k 3 · kb search "block size"
    --as-of 2026-01-31
    """
    from kb_pipeline.faces.rendering import results
    from kb_pipeline.records import Scope

    if kind not in {None, *_KINDS}:
        known = ", ".join(_KINDS)
        raise KbError(f"unknown kind '{kind}'.", where="--kind", cure=f"Known kinds: {known}.", code="usage")
    scope = Scope(
        kinds=(kind,) if kind else (),
        sources=tuple(source or ()),
        categories=tuple(category or ()),
        tags=tuple(tag or ()),
        statuses=tuple(status or ()),
        since=since,
        until=until,
    )
    found = asking(root).search(query, k=k, scope=scope, project=project, as_of=as_of, explain=explain)
    print_json(found) if as_json else results.hits(found)
    if as_of and not as_json:
        typer.echo("Items that were active then, alone: no passages and pages are kept of earlier days.", err=True)


@app.command()
def show(
    name: Annotated[
        str, typer.Argument(metavar="ID", help="An item (kb_…), a document (source/path) or a page (pg_…, wiki/…).")
    ],
    as_of: AsOf = None,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """An item with its proofs, history and neighbours, a document with its items, or a page of the wiki.

    Examples: kb show kb_0123456789ab · kb show notes/paged-attention.md
    """
    from kb_pipeline.faces.rendering import reading, results

    if as_of is None and name.startswith(_PAGES):
        page = opened(root).page(name)
        print_json(page) if as_json else reading.page(page)
        return
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
