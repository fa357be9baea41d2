"""The server put together: pages, API and what else is mounted, behind the guard. Knows no face but its own."""

import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Scope

from kb_pipeline.api.access import Forbidden
from kb_pipeline.api.door import Door
from kb_pipeline.errors import KbError, NotFound
from kb_pipeline.faces.web import api, inbox, pages, problems, rendering, rewording
from kb_pipeline.faces.web.compiling import Compiler
from kb_pipeline.faces.web.guard import COOKIE, Guard, Limits
from kb_pipeline.faces.web.metrics import TEXT, Metrics

Mounted = tuple[ASGIApp, AbstractAsyncContextManager[None]]
"""An application of another face, and what must run while it is served."""

_FOR_PROGRAMS = ("/api/", "/mcp", "/openapi.json", "/healthz", "/metrics")
_COOKIE_DAYS = 30


def application(
    door: Door,
    *,
    mounts: Mapping[str, Mounted] | None = None,
    hosts: frozenset[str] = frozenset(),
    limits: Limits | None = None,
) -> ASGIApp:
    """The ASGI application of everything that is served. ``hosts`` are the names it goes by (none: any)."""
    metrics, mounted, compiler = Metrics(), dict(mounts or {}), Compiler(door.base.settings.root)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for _app, running in mounted.values():
                await stack.enter_async_context(running)
            stack.callback(compiler.stop)
            yield

    routes: list[BaseRoute] = [
        *api.routes(),
        *pages.routes(),
        *inbox.routes(compiler),
        *rewording.routes(),
        *_signing_in(door),
        Route("/healthz", _health(door), methods=["GET"]),
        Route("/metrics", _metrics(metrics), methods=["GET"]),
        Mount("/static", StaticFiles(directory=rendering.FOLDER / "static")),
        *(Route(path, app) for path, (app, _) in mounted.items()),
    ]
    handlers = {KbError: _on_error, HTTPException: _on_http, Exception: _on_fault}
    inner = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    return Guard(inner, door, metrics, refusal, hosts, limits or Limits())


def refusal(scope: Scope, error: KbError) -> Response:
    """An error in the words of whoever made the request: a problem for programs, a page for people."""
    if scope["path"].startswith(_FOR_PROGRAMS):
        return problems.response(error)
    return rendering.refusal(Request(scope), error)


async def _on_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, KbError)
    return refusal(request.scope, error)


async def _on_http(request: Request, error: Exception) -> Response:
    """What the router refuses: no such path, no such method."""
    assert isinstance(error, HTTPException)
    where = request.url.path
    found: KbError = NotFound("there is no such page.", where=where, cure="The paths are listed at /openapi.json.")
    if error.status_code == 405:
        found = KbError("cannot be asked so.", where=f"{request.method} {where}", cure="See Allow.", code="method")
    response = refusal(request.scope, found)
    response.headers.update(error.headers or {})
    return response


async def _on_fault(request: Request, error: Exception) -> Response:
    """A fault of ours: its words stay in the log."""
    return refusal(request.scope, KbError("This is a fault of kb; its log shows where.", code="fault"))


def _health(door: Door) -> Callable[[Request], "Response"]:
    def health(_: Request) -> Response:
        """Whether readers are served; tells nothing else, since anybody may ask."""
        index = door.base.world.index
        well = index.live() is not None and not index.fault()
        return JSONResponse({"status": "ok" if well else "nothing to serve"}, 200 if well else 503)

    return health


def _metrics(metrics: Metrics) -> Callable[[Request], "Response"]:
    def show(request: Request) -> Response:
        """Figures of all that is served, so not for one who sees some projects alone."""
        visitor = request.state.visitor
        if visitor.principal.projects:
            raise Forbidden("counts what other projects hold.", where="/metrics", cure="Use a token for all projects.")
        index = visitor.base.world.index
        if index.live() is None:
            return PlainTextResponse(metrics.text({}, ""), media_type=TEXT)
        with index.snapshot() as snapshot:
            return PlainTextResponse(metrics.text(snapshot.count(), snapshot.generation), media_type=TEXT)

    return show


def _signing_in(door: Door) -> list[BaseRoute]:
    """A token put into a cookie that no script can read and no other site can send."""

    def form(request: Request) -> Response:
        return rendering.render(request, ("login.html", {"next": request.query_params.get("next", "/"), "wrong": ""}))

    async def sign_in(request: Request) -> Response:
        given = await request.form()
        token, after = str(given.get("token", "")).strip(), str(given.get("next", "/"))
        try:
            await anyio.to_thread.run_sync(lambda: door.admit(token or secrets.token_hex(), face="web", kind="person"))
        except KbError as error:
            return rendering.render(request, ("login.html", {"next": after, "wrong": error.what}), 401)
        safe = after if after.startswith("/") and not after.startswith(("//", "/\\")) else "/"
        response = RedirectResponse(safe, 303)
        https = request.url.scheme == "https"
        response.set_cookie(COOKIE, token, _COOKIE_DAYS * 86_400, httponly=True, samesite="strict", secure=https)
        return response

    def sign_out(_: Request) -> Response:
        response = RedirectResponse("/login", 303)
        response.delete_cookie(COOKIE)
        return response

    return [
        Route("/login", form, methods=["GET"]),
        Route("/login", sign_in, methods=["POST"]),
        Route("/logout", sign_out, methods=["POST"]),
    ]
