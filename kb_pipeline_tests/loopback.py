"""A web server on loopback for tests: pages from a table, every request remembered."""

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """What the server answers: 304 where the request carries the ``ETag`` or ``Last-Modified`` of ``headers``.

    ``send`` writes the whole answer itself, head and all.
    """

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    send: Callable[[Any], None] | None = None


@dataclass
class Site:
    """The server's pages by path, and the ``(path, headers)`` of each request so far."""

    url: str
    port: int
    pages: dict[str, Reply] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def page(self, path: str, text: str, **headers: str) -> None:
        """Serve ``text`` as HTML at ``path``; header names are given with underscores."""
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        self.pages[path] = Reply(text.encode(), headers={"Content-Type": "text/html", **names})

    def asked(self) -> list[str]:
        """Paths of all requests but those for robots.txt, in order."""
        return [path for path, _ in self.requests if path != "/robots.txt"]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet: apart, each answer waits 40 ms for an acknowledgement
    site: Site

    def do_GET(self) -> None:
        """Answer from the site's table."""
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.site.requests.append((self.path, headers))
        reply = self.site.pages.get(self.path, Reply(b"no such page", 404))
        if reply.send is not None:
            self.close_connection = True
            reply.send(self.wfile)
            return
        etag, modified = reply.headers.get("ETag"), reply.headers.get("Last-Modified")
        if (etag and headers.get("if-none-match") == etag) or (
            modified and headers.get("if-modified-since") == modified
        ):
            reply = Reply(b"", 304, reply.headers)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.status != 304:
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serve(tls: ssl.SSLContext | None = None) -> Iterator[Site]:
    """A running server with no pages, encrypted where ``tls`` is given."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    server.daemon_threads = True
    port = int(server.server_address[1])
    site = Site(f"http://127.0.0.1:{port}", port)
    server.RequestHandlerClass = type("Handler", (_Handler,), {"site": site})
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients hang up on purpose
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
