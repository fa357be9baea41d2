"""Commands that serve others, and let them in: serve, token, usage."""

from typing import Annotated

import typer

from kb_pipeline.errors import KbError
from kb_pipeline.faces.commands.options import Json, Root, found_root, opened, print_json

app = typer.Typer()

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@app.command()
def serve(
    root: Root = None,
    host: Annotated[str, typer.Option(help="Address to listen at; any but loopback needs tokens.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at.")] = 8000,
) -> None:
    """Serve pages, a JSON API and MCP over HTTP.

    Examples: kb serve · kb serve --port 9000 · kb serve --host 0.0.0.0
    """
    from kb_pipeline.api.door import Door
    from kb_pipeline.faces import mcp_server
    from kb_pipeline.faces.web.app import application
    from kb_pipeline.faces.web.listening import listen

    local = host in LOOPBACK
    door = Door(found_root(root), ajar=local)
    try:
        if not local and not door.base.tokens():
            cure = "Add one first: kb token add NAME; or stay on loopback."
            raise KbError("is no loopback address, and there is no token.", where=f"--host {host}", cure=cure)
        door.warm()
        mounts = {"/mcp": mcp_server.over_http("/mcp")}
        served = application(door, mounts=mounts, hosts=LOOPBACK | {host} if local else frozenset())
        listen(served, host, port, lambda url: typer.echo(f"Serving {door.base.settings.root} at {url} until Ctrl-C."))
    finally:
        door.close()


@app.command()
def mcp(root: Root = None) -> None:
    """Serve one agent over MCP on standard input and output; KB_TOKEN, if set, is its token.

    Example: claude mcp add kb -- kb mcp --root ~/knowledge
    """
    from kb_pipeline.api.door import Door
    from kb_pipeline.faces import mcp_server

    door = Door(found_root(root))
    try:
        door.warm()
        mcp_server.over_stdio(door)
    finally:
        door.close()


token = typer.Typer(help="Tokens, which let others in.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(token, name="token")


@token.command()
def add(
    name: Annotated[str, typer.Argument(help="Whose it is; the log of queries names it.")],
    project: Annotated[
        list[str] | None, typer.Option("--project", "-p", metavar="PROJECT", help="What it sees; the first by default.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="It sees all of the knowledge base.")] = False,
    role: Annotated[str, typer.Option("--role", help="reader, editor (also edits and reviews) or admin.")] = "reader",
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Make a token. It is told this once; only its hash is kept.

    Examples: kb token add ci --project platform · kb token add mira --all --role editor
    """
    from kb_pipeline.api.access import ROLES

    base = opened(root)
    if role not in ROLES:
        raise KbError(f"unknown role '{role}'.", where="--role", cure=f"Roles: {', '.join(ROLES)}.", code="usage")
    if bool(project) == everything:
        known = ", ".join(p.id for p in base.settings.projects) or "none"
        cure = f"Name projects with --project, or give --all. Known projects: {known}."
        raise KbError("what may the token see?", where="kb token add", cure=cure, code="usage")
    secret = base.add_token(name, role, tuple(project or ()))
    print_json({"name": name, "token": secret}) if as_json else typer.echo(secret)


@token.command(name="list")
def list_(root: Root = None, as_json: Json = False) -> None:
    """Who has a token, and what it may."""
    from kb_pipeline.faces.rendering.console import table

    found = opened(root).tokens()
    if as_json:
        print_json([t.model_dump(mode="json", exclude={"sha256"}) for t in found])
        return
    rows = [[t.name, t.role, ", ".join(t.projects) or "all", t.created_at] for t in found]
    table(["name", "role", "projects", "made"], rows)


@token.command()
def revoke(name: Annotated[str, typer.Argument(help="As `kb token list` names it.")], root: Root = None) -> None:
    """Shut a token out, from its next request on."""
    opened(root).revoke_token(name)
    typer.echo(f"'{name}' is shut out.")


@app.command()
def usage(
    days: Annotated[int, typer.Option("--days", min=1, max=3650, help="How far to look back.")] = 30,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """What was asked: queries a day by kind of user, by project and user, what had no answer, what was slow.

    Example: kb usage --days 7
    """
    from kb_pipeline.faces.rendering import access

    found = opened(root).usage(days)
    print_json(found) if as_json else access.usage(found)
