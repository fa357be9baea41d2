"""The JSON API over HTTP: requests to parameters, answers to bytes. Knows no page; what it can do stands in a table."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

import anyio.to_thread
from pydantic_core import from_json
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from kb_pipeline.api.visiting import Visitor
from kb_pipeline.errors import KbError
from kb_pipeline.faces.web import streams
from kb_pipeline.faces.web.openapi import description
from kb_pipeline.faces.web.operations import OPERATIONS, Operation, checked
from kb_pipeline.faces.web.problems import problem, usage
from kb_pipeline.records import Record

Handler = Callable[[Request], Awaitable[Response]]


def routes() -> list[Route]:
    """A route an operation, and the description of them all."""
    described = description(OPERATIONS)

    async def openapi(_: Request) -> Response:
        return JSONResponse(described)

    table = [Route(_path(row), handler(row), methods=[row.method], name=row.name) for row in OPERATIONS]
    return [*table, Route("/openapi.json", openapi, methods=["GET"])]


def handler(operation: Operation) -> Handler:
    """What answers ``operation``: in a thread, since verbs read files and compute."""

    async def handle(request: Request) -> Response:
        given = await given_by(request, operation)
        visitor = request.state.visitor
        if operation.streams and streams.wanted(request):
            return streams.response(_told(operation, visitor, checked(operation.parameters, given)))
        return Response(
            await anyio.to_thread.run_sync(operation.carry_out, visitor, given), media_type="application/json"
        )

    return handle


def _told(operation: Operation, visitor: Visitor, given: Record) -> streams.Work:
    """The work of a streamed operation: what it tells, then the answer, or the problem in its place."""

    def work(say: streams.Say) -> None:
        def tell(kind: str, record: Record) -> None:
            say(kind, record.model_dump_json())

        try:
            say("answer", operation.run(visitor, given, tell).model_dump_json())
        except KbError as error:
            say("problem", problem(error).model_dump_json())

    return work


async def given_by(request: Request, operation: Operation) -> dict[str, Any]:
    """The parameters of a request, from path, query and body. Raises ``KbError`` (code ``usage``)."""
    given: dict[str, Any] = {}
    for name, text in request.query_params.multi_items():
        if name in operation.several:
            given.setdefault(name, []).append(text)
        elif name in given:
            raise usage("is given twice.", where=name, cure="Give it once.")
        else:
            given[name] = text
    if operation.method == "POST":
        given |= _body(await request.body())
    return given | request.path_params


def _body(data: bytes) -> dict[str, Any]:
    try:
        found = from_json(data)
    except ValueError as error:
        raise usage(f"is no JSON: {error}.", where="body", cure="Send a JSON object.") from error
    if not isinstance(found, dict):
        raise usage("is not a JSON object.", where="body", cure="Send a JSON object.")
    return found


def _path(operation: Operation) -> str:
    """Ids of documents and paths of pages hold slashes."""
    return re.sub(r"(documents|pages)/{id}", r"\1/{id:path}", operation.path)
