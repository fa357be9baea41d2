"""An application served over HTTP until it is told to stop; requests under way are finished first."""

import signal
import socket
from collections.abc import Callable
from contextlib import suppress

import uvicorn
from starlette.types import ASGIApp

from kb_pipeline.errors import KbError

_GRACE = 5
"""Seconds that requests under way have to end once the server is told to stop."""
_AT_ONCE = 256
_BACKLOG = 512


def listen(app: ASGIApp, host: str, port: int, told: Callable[[str], None]) -> None:
    """Serve ``app`` until SIGINT or SIGTERM; ``told`` hears the address once it is bound (port 0 takes a free one).

    Raises ``KbError`` where the address cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        bound = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        cure = "Choose another with --host or --port."
        raise KbError(f"cannot be listened at: {error.strerror}.", where=f"{host}:{port}", cure=cure) from error
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=_GRACE,
        timeout_keep_alive=30,
        limit_concurrency=_AT_ONCE,
    )
    name = f"[{host}]" if ":" in host else host
    with bound, suppress(KeyboardInterrupt):
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        told(f"http://{name}:{bound.getsockname()[1]}")
        uvicorn.Server(config).run(sockets=[bound])
