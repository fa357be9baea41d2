"""What every request goes through before anything else: who it is, how large it is, where it comes from, how long it
may take. Knows no page and no verb.

The headers forbid a page everything but our own script, style and pictures: were a document's text ever taken for
markup, nothing of it would run and nothing would be fetched from elsewhere.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

import anyio.to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kb_pipeline.api.access import Forbidden
from kb_pipeline.api.door import Door
from kb_pipeline.errors import KbError
from kb_pipeline.faces.web.metrics import Metrics
from kb_pipeline.records import UserKind

Refusal = Callable[[Scope, KbError], Response]
"""How an error is shown to whoever made the request."""

COOKIE = "kb_token"
_OPEN = ("/healthz", "/static/", "/login")
"""What anybody may see."""
_FACES: Mapping[str, tuple[str, UserKind]] = {"/api/": ("api", "automation"), "/mcp": ("mcp", "agent")}
_UPLOADS = "/inbox"
_STREAMS = ("/api/ask", "/answer", "/inbox/events", "/mcp")
_UNANSWERED = 0
_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
    " connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with no-referrer, browsers send our own forms with the origin null
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True)
class Limits:
    """Bytes that a request may have (one that brings files more), and seconds that it may take."""

    body: int = 1_000_000
    upload: int = 32_000_000
    seconds: float = 30.0


@dataclass
class Guard:
    """``app`` behind ``door``. ``hosts`` are the names that it is known by, none for any: on loopback, a page elsewhere
    could else reach it under a name of its own (DNS rebinding)."""

    app: ASGIApp
    door: Door
    metrics: Metrics
    refuse: Refusal
    hosts: frozenset[str] = frozenset()
    limits: Limits = field(default_factory=Limits)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it with a problem."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), [_UNANSWERED]
        face, kind = next((v for k, v in _FACES.items() if scope["path"].startswith(k)), ("web", "person"))

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                status[0] = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        with self.metrics.in_progress():
            try:
                await self._admitted(scope, receive, sending, face, kind)
            except KbError as error:
                if status[0] != _UNANSWERED:
                    raise  # half an answer cannot be taken back
                await self.refuse(scope, error)(scope, receive, sending)
            finally:
                method = scope["method"] if scope["method"] in _METHODS else "other"
                self.metrics.observe(face, method, status[0], time.perf_counter() - began)

    async def _admitted(self, scope: Scope, receive: Receive, send: Send, face: str, kind: UserKind) -> None:
        headers = Headers(scope=scope)
        self._known_host(headers)
        _same_origin(scope, headers)
        receive = self._bounded(scope, headers, receive)
        if not scope["path"].startswith(_OPEN):
            secret = _secret(headers)
            visitor = await anyio.to_thread.run_sync(lambda: self.door.admit(secret, face=face, kind=kind))
            scope.setdefault("state", {})["visitor"] = visitor
        if scope["path"].startswith(_STREAMS):
            await self.app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self.limits.seconds):
                await self.app(scope, receive, send)
        except TimeoutError as error:
            what = f"took longer than {self.limits.seconds:g} s."
            raise KbError(what, where=scope["path"], cure="Ask for less, or later.", code="slow") from error

    def _known_host(self, headers: Headers) -> None:
        name = urlsplit(f"//{headers.get('host', '')}").hostname or ""
        if self.hosts and name not in self.hosts:
            cure = f"Use one of: {', '.join(sorted(self.hosts))}."
            raise Forbidden(f"this server does not go by the name '{name}'.", where="Host", cure=cure)

    def _bounded(self, scope: Scope, headers: Headers, receive: Receive) -> Receive:
        limit = self.limits.upload if scope["path"] == _UPLOADS else self.limits.body
        left = [limit]
        if headers.get("content-length", "0").isdigit() and int(headers.get("content-length", "0")) > limit:
            raise _too_large(limit)

        async def receiving() -> Message:
            message = await receive()
            left[0] -= len(message.get("body", b""))
            if left[0] < 0:
                raise _too_large(limit)
            return message

        return receiving


def _secret(headers: Headers) -> str | None:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return None
    return morsel.value if morsel else None


def _same_origin(scope: Scope, headers: Headers) -> None:
    """Other sites may link to a page; they may neither send forms nor ask in the background."""
    site, mode = headers.get("sec-fetch-site", "none"), headers.get("sec-fetch-mode", "navigate")
    foreign = site not in {"none", "same-origin"}
    origin = headers.get("origin")
    if origin and urlsplit(origin).netloc != headers.get("host", ""):
        foreign = True
    if foreign and not (scope["method"] in _SAFE and mode == "navigate" and not origin):
        raise Forbidden("comes from another site.", where="Origin", cure="Use the pages of this server.")


def _too_large(limit: int) -> KbError:
    what = f"is larger than {limit:,} bytes."
    return KbError(what, where="body", cure="Send less, or put the files into a source's folder.", code="too-large")
