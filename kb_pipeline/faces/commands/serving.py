"""Commands that serve others, and let them in: serve, token, usage."""

from typing import Annotated

import typer

from kb_pipeline.errors import KbError
from kb_pipeline.faces.commands.options import Root, found_root

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
    from kb_pipeline.faces.web.app import application
    from kb_pipeline.faces.web.listening import listen

    local = host in LOOPBACK
    door = Door(found_root(root), ajar=local)
    try:
        if not local and not door.base.tokens():
            cure = "Add one first: kb token add NAME; or stay on loopback."
            raise KbError("is no loopback address, and there is no token.", where=f"--host {host}", cure=cure)
        served = application(door, hosts=LOOPBACK | {host} if local else frozenset())
        listen(served, host, port, lambda url: typer.echo(f"Serving {door.base.settings.root} at {url} until Ctrl-C."))
    finally:
        door.close()
