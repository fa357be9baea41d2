"""Errors as RFC 9457 problems: what, where and the cure, with the status that belongs to their code."""

from starlette.responses import Response

from kb_pipeline.api.door import TooMany
from kb_pipeline.errors import KbError
from kb_pipeline.records import Record

MEDIA_TYPE = "application/problem+json"

_STATUS = {
    "usage": 422,
    "sql": 422,
    "not-found": 404,
    "unauthorized": 401,
    "forbidden": 403,
    "too-large": 413,
    "too-many": 429,
    "busy": 409,
    "outdated": 409,
    "method": 405,
    "slow": 503,
    "store": 503,
    "missing": 503,
    "settings": 503,
    "fault": 500,
}
_DEFAULT = 503
"""Whatever else went wrong (a model's endpoint, a budget) is no fault of the request: it may work later."""


class Problem(Record):
    """What a client is told: ``detail`` says what is wrong, ``where`` it is, ``cure`` what to do."""

    type: str
    title: str
    status: int
    detail: str
    where: str = ""
    cure: str = ""


def problem(error: KbError) -> Problem:
    """``error`` as a problem."""
    status = _STATUS.get(error.code, _DEFAULT)
    title = error.code.replace("-", " ")
    return Problem(
        type=f"urn:kb:{error.code}", title=title, status=status, detail=error.what, where=error.where, cure=error.cure
    )


def response(error: KbError) -> Response:
    """``error`` as a response."""
    found = problem(error)
    headers = {"WWW-Authenticate": "Bearer"} if found.status == 401 else {}
    if isinstance(error, TooMany):
        headers["Retry-After"] = f"{error.seconds:.0f}"
    return Response(found.model_dump_json(), found.status, headers, MEDIA_TYPE)


def usage(what: str, *, where: str, cure: str) -> KbError:
    """What a request has wrong."""
    return KbError(what, where=where, cure=cure, code="usage")
