"""Where people add knowledge: a note or files into the inbox, and the compile that follows, watched as it goes."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from kb_pipeline.api import inbox
from kb_pipeline.api.visiting import Visitor
from kb_pipeline.faces.web import forms, streams
from kb_pipeline.faces.web.compiling import Compiler
from kb_pipeline.faces.web.rendering import Shown, page

_QUIET = 5.0


def show(visitor: Visitor, request: Request) -> Shown:
    """The form, and the compile of what was sent with it before."""
    visitor.require("editor")
    asked = request.query_params
    return "inbox.html", {
        "token": forms.token(visitor),
        "sent": [name for name in asked.get("sent", "").split("\n") if name],
        "message": asked.get("message", ""),
    }


def routes(compiler: Compiler) -> list[BaseRoute]:
    """The form, what takes it, and the events of the compile."""

    async def take(request: Request) -> Response:
        texts, dropped = await forms.read_files(request)
        visitor = request.state.visitor

        def put() -> str:
            done = inbox.deposit(visitor, texts.get("note", ""), texts.get("title", ""), dropped)
            compiler.start(done.source)
            return urlencode({"sent": "\n".join(done.documents), "message": done.message})

        return RedirectResponse(f"/inbox?{await anyio.to_thread.run_sync(put)}", 303)

    async def events(request: Request) -> Response:
        visitor = request.state.visitor
        visitor.require("editor")
        whole = not visitor.principal.projects

        def work(say: streams.Say) -> None:
            for line in compiler.watch(_QUIET):
                if line is not None and (whole or "stage" not in line):
                    say(*_told(line))
            say("end", "")

        return streams.response(work)

    return [
        Route("/inbox", page(show), methods=["GET"]),
        Route("/inbox", take, methods=["POST"]),
        Route("/inbox/events", events, methods=["GET"]),
    ]


def _told(line: Mapping[str, Any]) -> tuple[str, str]:
    """A line of the compile as an event: where a stage stands, what came of it, or why nothing did."""
    if "stage" in line:
        return "stage", json.dumps(dict(line))
    if "report" in line:
        report = line["report"]
        failed = [*report["failed"], *report["warnings"][:3]]
        return "done", json.dumps({"live": report["live"], "seconds": report["seconds"], "failed": failed})
    if "waiting" in line:
        return "waiting", json.dumps({"holder": line["waiting"]})
    return "failed", json.dumps({"why": line["failed"]})
