"""Commands of one who curates: review, conflicts, edit, restore."""

import sys
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import typer

from kb_pipeline.faces.commands.options import Json, Root, opened, print_json

app = typer.Typer()

_ONE_STAYS = frozenset({"supersede", "retire"})
_ON = frozenset({"skip", "quit"})
_NEXT = "Run `kb build` to carry it out."


@app.command()
def review(
    name: Annotated[str | None, typer.Argument(help="A review, as --list names it.")] = None,
    action: Annotated[str | None, typer.Argument(help="merge, keep, supersede, retire, mine, machine or skip.")] = None,
    reason: Annotated[str, typer.Option("--reason", "-r", help="Why, for those who come later.")] = "",
    who: Annotated[str, typer.Option("--who", envvar="KB_WHO", help="Who decides.")] = "",
    kind: Annotated[
        Literal["edit", "conflict", "pair", "unclassified", "low_confidence", "page"] | None,
        typer.Option("--kind", help="Only reviews of this kind."),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List what waits; decide nothing.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take back the last decision.")] = False,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Walk through what is uncertain and decide; a decision outranks the machine's, for good.

    Of two items the first named stays: it supersedes the other, or the other is retired.

    Examples: kb review · kb review --list · kb review pair:kb_1:kb_2 merge -r "one fact" · kb review --undo
    """
    from kb_pipeline.faces.rendering import curating as shown

    base = opened(root)
    if undo:
        taken = base.undo()
        print_json(taken) if as_json else typer.echo(f"Taken back: {shown.decision(taken)}. {_NEXT}")
    elif name and action:
        made = base.decide(name, action, reason, who)
        print_json(made) if as_json else typer.echo(f"On record: {shown.decision(made)}. {_NEXT}")
    else:
        waiting = [r for r in base.reviews() if kind in {None, r.kind} and name in {None, r.name}]
        if as_json:
            print_json(waiting)
        elif listed or name or not sys.stdin.isatty():
            shown.reviews(waiting)
        else:
            _walk(base, waiting, who)


def _walk(base: Any, waiting: list[Any], who: str) -> None:
    """One review after the other, as long as the person goes on."""
    from kb_pipeline.errors import KbError
    from kb_pipeline.faces.rendering import curating as shown

    made = 0
    for place, one in enumerate(waiting, start=1):
        shown.review(one, place, len(waiting))
        while (action := _chosen(f"{', '.join(one.actions)} or quit", (*one.actions, "quit"), "skip")) not in _ON:
            try:
                name = _first_stays(one.name) if action in _ONE_STAYS and len(one.items) > 1 else one.name
                base.decide(name, action, typer.prompt("why"), who)
            except KbError as error:
                typer.echo(str(error))
                continue
            made += 1
            break
        if action == "quit":
            break
    typer.echo(f"{made} decided, {len(waiting)} waited. {_NEXT if made else ''}".rstrip())


def _chosen(question: str, known: Sequence[str], default: str) -> str:
    """One of ``known``, by its name or as much of it as tells it from the others; asked until it is one."""
    while True:
        said = typer.prompt(question, default=default).strip().casefold()
        found = [said] if said in known else [one for one in known if one.startswith(said)]
        if len(found) == 1:
            return found[0]
        typer.echo(f"'{said}' does not settle it. Known: {', '.join(known)}.")


def _first_stays(name: str) -> str:
    """The name of a review of two items, with the one first that a person wants to stay."""
    kind, first, second = name.split(":")
    stays = _chosen(f"which stays, 1 ({first}) or 2 ({second})", ("1", "2"), "1")
    return name if stays == "1" else f"{kind}:{second}:{first}"


@app.command()
def conflicts(root: Root = None, as_json: Json = False) -> None:
    """Active items that disagree on a number, a version or a yes and no, with both quotes."""
    from kb_pipeline.faces.rendering import curating as shown

    found = opened(root).conflicts()
    print_json(found) if as_json else shown.conflicts(found)


@app.command()
def edit(
    item: Annotated[str, typer.Argument(metavar="ID", help="An item (kb_…).")],
    statement: Annotated[str | None, typer.Option("--statement")] = None,
    detail: Annotated[str | None, typer.Option("--detail")] = None,
    context: Annotated[str | None, typer.Option("--context")] = None,
    category: Annotated[str | None, typer.Option("--category", "-c", help="Of the closed list.")] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", "-t", help="In place of all tags; repeat for more.")] = None,
    note: Annotated[str | None, typer.Option("--note")] = None,
    item_type: Annotated[str | None, typer.Option("--type")] = None,
    confidence: Annotated[str | None, typer.Option("--confidence", help="high, medium or low.")] = None,
    status: Annotated[str | None, typer.Option("--status", help="active or retired.")] = None,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Word an item better; without an option in $VISUAL or $EDITOR. What you change stays yours in every build.

    Examples: kb edit kb_0123456789ab --category Concepts --tag cache · kb edit kb_0123456789ab
    """
    given = {
        "statement": statement,
        "detail": detail,
        "context": context,
        "primary_category": category,
        "tags": tag,
        "note": note,
        "item_type": item_type,
        "confidence": confidence,
        "status": status,
    }
    base = opened(root)
    fields = {name: value for name, value in given.items() if value is not None}
    if not fields:
        from kb_pipeline.faces.editor import reworded

        fields = reworded(base.show(item).item)
    changed = base.edit(item, fields)
    if as_json:
        print_json(changed)
    else:
        typer.echo(f"{changed.id}: {', '.join(fields) or 'nothing'} changed. {_NEXT if fields else ''}".rstrip())


@app.command()
def restore(item: Annotated[str, typer.Argument(metavar="ID")], root: Root = None, as_json: Json = False) -> None:
    """Bring back an item that was retired by a person, or whose file was deleted by hand.

    Example: kb restore kb_0123456789ab
    """
    opened(root).restore(item)
    print_json({"restored": item}) if as_json else typer.echo(f"{item} comes back. {_NEXT}")
