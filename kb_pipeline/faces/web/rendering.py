"""Templates to pages: what all of them share, and what an error looks like. Knows no verb."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import anyio.to_thread
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from kb_pipeline import __version__
from kb_pipeline.api.access import ROLES
from kb_pipeline.api.visiting import Visitor
from kb_pipeline.errors import KbError
from kb_pipeline.faces.web.problems import problem
from kb_pipeline.records import Evidence, Role

FOLDER = Path(__file__).parents[1] / "pages"
NAVIGATION: tuple[tuple[str, str, Role], ...] = (
    ("/", "Search", "reader"),
    ("/wiki", "Wiki", "reader"),
    ("/browse", "Browse", "reader"),
    ("/sources", "Sources", "reader"),
    ("/changes", "Changes", "reader"),
    ("/evaluation", "Evaluation", "reader"),
    ("/review", "Review", "editor"),
    ("/inbox", "Add", "editor"),
)
"""Where a page leads, and who may go there."""

_PAGES = {"item": "items", "page": "wiki"}
View = Callable[[Visitor, Request], "Shown"]
Shown = tuple[str, Mapping[str, Any]]
"""A template's name, and what it is given."""


def document_url(doc_id: str, at: int | None = None, item: str = "") -> str:
    """The page of a document, at a character of it or at an item."""
    where = f"?at={at}" if at else ""
    return f"/documents/{quote(doc_id)}{where}{f'#at-{item}' if item else ''}"


def evidence_url(found: Evidence) -> str:
    """The page of what an answer cites."""
    if found.kind in _PAGES:
        return f"/{_PAGES[found.kind]}/{quote(found.ref)}"
    return document_url(found.doc_id, found.start) if found.doc_id else ""


def page_url(path: str) -> str:
    """The page of the wiki that lies at ``path`` below ``kb/wiki``."""
    return f"/wiki/{quote(path.removesuffix('.md'))}"


def _environment() -> Environment:
    found = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "evidence_url": evidence_url,
        "document_url": document_url,
        "page_url": page_url,
        "day": lambda text: (text or "")[:10],
        "query": urlencode,
    }
    found.globals["version"] = __version__
    return found


_TEMPLATES = _environment()


def render(request: Request, shown: Shown, status: int = 200) -> Response:
    """A template as a page, or with ``?part=1`` as what stands within its frame."""
    name, given = shown
    visitor = getattr(request.state, "visitor", None)
    frame = "part.html" if request.query_params.get("part") else "frame.html"
    common = {
        "visitor": visitor,
        "navigation": _open_to(visitor),
        "here": request.url.path,
        "frame": frame,
        "q": request.query_params.get("q", ""),
        "saved": request.query_params.get("saved", ""),
        "edits": visitor is not None and ROLES.index(visitor.principal.role) >= ROLES.index("editor"),
    }
    return HTMLResponse(_TEMPLATES.get_template(name).render({**common, **given}), status)


def _open_to(visitor: Visitor | None) -> list[tuple[str, str]]:
    role = visitor.principal.role if visitor else "reader"
    return [(path, name) for path, name, needed in NAVIGATION if ROLES.index(needed) <= ROLES.index(role)]


def fragment(name: str, **given: Any) -> str:
    """A template that is no page of its own, as markup."""
    return _TEMPLATES.get_template(name).render(given)


def refusal(request: Request, error: KbError) -> Response:
    """An error as a page; who is not known is sent to sign in."""
    found = problem(error)
    if found.status == 401 and request.method == "GET" and not request.query_params.get("part"):
        return RedirectResponse(f"/login?{urlencode({'next': request.url.path})}", 303)
    return render(request, ("problem.html", {"problem": found}), found.status)


def page(view: View) -> Callable[[Request], Awaitable[Response]]:
    """What answers with ``view``: in a thread, since verbs read files and compute."""

    async def handle(request: Request) -> Response:
        def work() -> Response:
            return render(request, view(request.state.visitor, request))

        return await anyio.to_thread.run_sync(work)

    return handle
