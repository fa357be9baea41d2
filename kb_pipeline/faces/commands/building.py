"""Commands of one who builds: init, build, check, eval, rollback, prompts, cost, dev."""

import gc
from pathlib import Path
from typing import Annotated

import typer

from kb_pipeline.errors import KbError
from kb_pipeline.faces.commands.options import Json, Root, Sources, opened, print_json

app = typer.Typer()
# The process of a build keeps nearly all that it makes, and ends with it. After an edit of one of 5,183 documents that
# is 1.3 million objects, 5 MB of them in cycles: to look at each once was a twentieth of its time.
_COLLECTIONS = 2_000_000, 20, 20


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
    from kb_pipeline.faces import building
    from kb_pipeline.faces.rendering import reports

    gc.set_threshold(*_COLLECTIONS)
    base = opened(root)
    if estimate:
        expected = base.estimate(frozenset(source or ()), full=full)
        print_json(expected) if as_json else reports.estimate(expected)
        return
    with reports.listening(quiet=as_json) as listener:
        report = building.build(
            base,
            only=frozenset(source or ()),
            full=full,
            accept_deletions=frozenset(accept_deletions or ()),
            listener=listener,
        )
    print_json(report) if as_json else reports.build_report(report)
    if building.failed(report) or (strict and report.quarantined):
        raise typer.Exit(1)


@app.command()
def status(
    root: Root = None,
    stale: Annotated[
        bool, typer.Option("--stale", help="What has grown old instead: sources, proofs, links, tags, categories.")
    ] = False,
    as_json: Json = False,
) -> None:
    """The state of every source and stage, the live generation, and what is quarantined.

    Examples: kb status · kb status --stale
    """
    from kb_pipeline.faces.rendering import remembering, reports

    if stale:
        old = opened(root).staleness()
        print_json(old) if as_json else remembering.staleness(old)
        return
    found = opened(root).status()
    print_json(found) if as_json else reports.overview(found)


@app.command()
def check(
    stage: Annotated[str | None, typer.Argument(help="Only the checks of this stage.")] = None,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Run all checks over everything that is on disk now.

    Examples: kb check · kb check tags
    """
    from kb_pipeline.faces.rendering import reports

    found = opened(root).check(stage)
    print_json(found) if as_json else reports.findings(found)
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
    from kb_pipeline.faces.rendering import reports

    found = opened(root).evaluations()
    if not found:
        raise KbError("nothing was evaluated yet.", where="kb eval", cure="Run `kb build`.", code="not-found")
    if plot and plot.suffix != ".svg":
        raise KbError("is no .svg file.", where=str(plot), cure="Name one: kb eval --plot trend.svg", code="usage")
    if plot:
        reports.trend_plot(found, plot)
    print_json(found) if as_json else reports.evaluations(found)


@app.command()
def rollback(
    generation: Annotated[str | None, typer.Argument(help="By default the one before the live one.")] = None,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Serve readers from an earlier generation until the inputs change."""
    live = opened(root).rollback(generation)
    print_json({"live": live}) if as_json else typer.echo(f"{live} is live until the inputs change.")


@app.command()
def prompts(root: Root = None, as_json: Json = False) -> None:
    """The prompts in use with version and model, and how much was made with an older one."""
    from kb_pipeline.faces.rendering import reports

    found = opened(root).prompts()
    print_json(found) if as_json else reports.prompts(found)


@app.command()
def cost(
    by: Annotated[str, typer.Option("--by", help="stage, source, model or day.")] = "stage",
    root: Root = None,
    as_json: Json = False,
) -> None:
    """What models cost so far on this machine.

    Examples: kb cost · kb cost --by day
    """
    from kb_pipeline.faces.rendering import reports

    found = opened(root).costs(by)
    print_json(found) if as_json else reports.costs(found)


@app.command()
def dev(
    root: Root = None,
    host: Annotated[str, typer.Option(help="Address of the UI.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port of the UI.")] = 3000,
) -> None:
    """Dagster's UI and daemon over this knowledge base: changed sources compile by themselves."""
    from kb_pipeline.faces import building

    building.dev(opened(root), host, port)
