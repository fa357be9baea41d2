"""The command line: parse, call one verb, render. Knows no stage and no store."""

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from kb_pipeline.errors import KbError
from kb_pipeline.records import Record

app = typer.Typer(
    name="kb",
    help="Compile scattered sources into a knowledge base of proven items, and search it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
Root = Annotated[
    Path | None,
    typer.Option(
        "--root", envvar="KB_ROOT", help="Folder that holds sources.yaml; found upwards from here by default."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Sources = Annotated[list[str] | None, typer.Option("--source", "-s", metavar="SOURCE", help="Only these sources.")]
_DEBUG = "KB_DEBUG"
_INTERRUPTED = 130  # what typer exits with after Ctrl-C


def main() -> NoReturn:
    """Run the command line: exit 0 done, 1 failed, 2 wrong usage."""
    try:
        app()
    except KbError as error:
        typer.echo(f"kb: {error}", err=True)
        sys.exit(2 if error.code == "usage" else 1)
    except SystemExit as end:
        if end.code == _INTERRUPTED:
            typer.echo("kb: stopped; what was finished is kept.", err=True)
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        typer.echo(f"kb: {where}{error.strerror or error}. Check the path, its permissions and free space.", err=True)
        sys.exit(1)
    except Exception as error:  # nobody who types a command should meet a traceback
        if os.environ.get(_DEBUG):
            raise
        kind = type(error).__name__
        typer.echo(f"kb: unexpected {kind}: {error}. This is a fault of kb; {_DEBUG}=1 shows where.", err=True)
        sys.exit(1)
    sys.exit(0)


def _open(root: Path | None) -> Any:
    from kb_pipeline.api import find_root, shared

    return shared(root.absolute() if root else find_root(Path.cwd()))


def _print(value: Record | list[Any] | dict[str, Any]) -> None:
    plain = value.model_dump(mode="json") if isinstance(value, Record) else value
    typer.echo(json.dumps(plain, ensure_ascii=False, indent=2))


@app.command()
def init(folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to make.")]) -> None:
    """Start an empty knowledge base.

    Example: kb init ~/knowledge
    """
    from kb_pipeline.api import init as start

    made = start(folder)
    typer.echo(
        f"Made {', '.join(made)} in {folder}. Put documents into {folder / 'notes'}, then: kb build --root {folder}"
    )


@app.command()
def build(
    root: Root = None,
    source: Sources = None,
    full: Annotated[bool, typer.Option("--full", help="Trust no time stamp: hash every file and check all.")] = False,
    accept_deletions: Annotated[
        list[str] | None, typer.Option(metavar="SOURCE", help="Confirm that a source lost most of its documents.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Fail also when anything is quarantined.")] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Build nothing: tell what models would be asked, and what it costs.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compile what changed, and only that.

    Examples: kb build · kb build --source notes · kb build --full --json
    """
    from kb_pipeline.faces import building, rendering

    base = _open(root)
    if estimate:
        expected = base.estimate(frozenset(source or ()), full=full)
        _print(expected) if as_json else rendering.estimate(expected)
        return
    with rendering.listening(quiet=as_json) as listener:
        report = building.build(
            base,
            only=frozenset(source or ()),
            full=full,
            accept_deletions=frozenset(accept_deletions or ()),
            listener=listener,
        )
    _print(report) if as_json else rendering.build_report(report)
    if building.failed(report) or (strict and report.quarantined):
        raise typer.Exit(1)


@app.command()
def status(root: Root = None, as_json: Json = False) -> None:
    """The state of every source and stage, the live generation, and what is quarantined."""
    from kb_pipeline.faces import rendering

    found = _open(root).status()
    _print(found) if as_json else rendering.overview(found)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="Words, a question, or an exact token such as a flag or an error.")],
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="How many hits.")] = 10,
    project: Annotated[str | None, typer.Option("--project", "-p", help="Only the sources of this project.")] = None,
    source: Sources = None,
    category: Annotated[list[str] | None, typer.Option("--category", "-c", help="Only these categories.")] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="item or chunk.")] = None,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Find items and passages: lexical, vector and exact-token search, fused.

    Examples: kb search "block size default" · kb search ERR_KV_EXHAUSTED --kind item -k 3
    """
    from kb_pipeline.faces import rendering
    from kb_pipeline.records import Scope

    if kind not in {None, "item", "chunk"}:
        raise KbError(f"unknown kind '{kind}'.", where="--kind", cure="Known kinds: item, chunk.", code="usage")
    scope = Scope(kinds=(kind,) if kind else (), sources=tuple(source or ()), categories=tuple(category or ()))
    found = _open(root).search(query, k=k, scope=scope, project=project)
    _print(found) if as_json else rendering.hits(found)


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="ID", help="An item (kb_…) or a document (source/path).")],
    root: Root = None,
    as_json: Json = False,
) -> None:
    """An item with its proofs, history and neighbours, or a document with its items.

    Examples: kb show kb_0123456789ab · kb show notes/paged-attention.md
    """
    from kb_pipeline.faces import rendering

    found = _open(root).show(name)
    _print(found) if as_json else rendering.shown(found)


@app.command()
def check(
    stage: Annotated[str | None, typer.Argument(help="Only the checks of this stage.")] = None,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Run all checks over everything that is on disk now.

    Examples: kb check · kb check tags
    """
    from kb_pipeline.faces import rendering

    found = _open(root).check(stage)
    _print([f.model_dump(mode="json") for f in found]) if as_json else rendering.findings(found)
    if any(f.blocking and not f.ok for f in found):
        raise typer.Exit(1)


@app.command(name="eval")
def evaluation(
    root: Root = None,
    as_json: Json = False,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw the trend as SVG.")] = None,
) -> None:
    """The last evaluation by style and source, and the trend.

    Examples: kb eval · kb eval --plot trend.svg
    """
    from kb_pipeline.faces import rendering

    found = _open(root).evaluations()
    if not found:
        raise KbError("nothing was evaluated yet.", where="kb eval", cure="Run `kb build`.", code="not-found")
    if plot and plot.suffix != ".svg":
        raise KbError("is no .svg file.", where=str(plot), cure="Name one: kb eval --plot trend.svg", code="usage")
    if plot:
        rendering.trend_plot(found, plot)
    _print([r.model_dump(mode="json") for r in found]) if as_json else rendering.evaluations(found)


@app.command()
def rollback(
    generation: Annotated[str | None, typer.Argument(help="By default the one before the live one.")] = None,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Serve readers from an earlier generation until the inputs change."""
    live = _open(root).rollback(generation)
    _print({"live": live}) if as_json else typer.echo(f"{live} is live until the inputs change.")


@app.command()
def sql(
    query: Annotated[str, typer.Argument(help="A SELECT over the table `rows`: the live rows alone.")],
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Ask the live rows in SQL.

    Example: kb sql "select category, count(*) from rows where kind = 'item' group by 1 order by 2 desc"
    """
    from kb_pipeline.faces import rendering

    columns, rows = _open(root).sql(query)
    _print([dict(zip(columns, row, strict=True)) for row in rows]) if as_json else rendering.table(columns, rows)


@app.command()
def prompts(root: Root = None, as_json: Json = False) -> None:
    """The prompts in use with version and model, and how much was made with an older one."""
    from kb_pipeline.faces import rendering

    found = _open(root).prompts()
    _print([row.model_dump(mode="json") for row in found]) if as_json else rendering.prompts(found)


@app.command()
def cost(
    by: Annotated[str, typer.Option("--by", help="stage, source, model or day.")] = "stage",
    root: Root = None,
    as_json: Json = False,
) -> None:
    """What models cost so far on this machine.

    Examples: kb cost · kb cost --by day
    """
    from kb_pipeline.faces import rendering

    found = _open(root).costs(by)
    _print([row.model_dump(mode="json") for row in found]) if as_json else rendering.costs(found)


@app.command()
def dev(
    root: Root = None,
    host: Annotated[str, typer.Option(help="Address of the UI.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port of the UI.")] = 3000,
) -> None:
    """Dagster's UI and daemon over this knowledge base: changed sources compile by themselves."""
    from kb_pipeline.faces import building

    building.dev(_open(root), host, port)
