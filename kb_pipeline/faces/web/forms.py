"""Forms that only our own pages can send: each carries a token that another site can neither read nor guess."""

import hmac
import secrets

from starlette.datastructures import UploadFile
from starlette.requests import Request

from kb_pipeline.api.access import Forbidden
from kb_pipeline.api.visiting import Visitor

_SECRET = secrets.token_bytes(32)
"""Of this process: a form that is older than the server must be loaded again."""
_FIELDS, _FILES = 20, 100


def token(visitor: Visitor) -> str:
    """What a form for this visitor carries in its field ``token``."""
    return hmac.new(_SECRET, visitor.principal.name.encode(), "sha256").hexdigest()


async def read(request: Request) -> dict[str, str]:
    """The texts of a form. Raises ``Forbidden`` where it is none of ours."""
    return (await read_files(request))[0]


async def read_files(request: Request) -> tuple[dict[str, str], list[tuple[str, bytes]]]:
    """The texts of a form, and the name and bytes of each file that came with it. Raises ``Forbidden``."""
    async with request.form(max_fields=_FIELDS, max_files=_FILES) as form:
        carried = str(form.get("token", "")).encode()
        if not hmac.compare_digest(carried, token(request.state.visitor).encode()):
            cure = "Load the page again, then send it."
            raise Forbidden("this form is not of this page.", where="token", cure=cure)
        files = [value for _, value in form.multi_items() if isinstance(value, UploadFile) and value.filename]
        texts = {name: value for name, value in form.multi_items() if isinstance(value, str)}
        return texts, [(file.filename or "", await file.read()) for file in files]
