"""The pages: each takes a request to one verb of its visitor and renders a template. No markup stands here.

Every page works without a script; ``static/app.js`` makes some of them livelier by asking for ``?part=1``, which is the
same template without its frame.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import anyio.to_thread
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from kb_pipeline import __version__
from kb_pipeline.api.visiting import Visitor
from kb_pipeline.errors import KbError
from kb_pipeline.faces.plotting import line_chart
from kb_pipeline.faces.web import markdown, streams
from kb_pipeline.faces.web.operations import Asking, Browsing, Searching, ask, checked
from kb_pipeline.faces.web.problems import problem
from kb_pipeline.records import EvalResult, Evidence, Record, Sentence

FOLDER = Path(__file__).parents[1] / "pages"
NAVIGATION = (("/", "Search"), ("/browse", "Browse"), ("/sources", "Sources"), ("/evaluation", "Evaluation"))

View = Callable[[Visitor, Request], "Shown"]
Shown = tuple[str, Mapping[str, Any]]
"""A template's name, and what it is given."""


def document_url(doc_id: str, at: int | None = None, item: str = "") -> str:
    """The page of a document, at a character of it or at an item."""
    where = f"?at={at}" if at else ""
    return f"/documents/{quote(doc_id)}{where}{f'#at-{item}' if item else ''}"


def evidence_url(found: Evidence) -> str:
    """The page of what an answer cites."""
    if found.kind == "item":
        return f"/items/{quote(found.ref)}"
    return document_url(found.doc_id, found.start) if found.doc_id else ""


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
        "day": lambda text: (text or "")[:10],
        "query": urlencode,
    }
    found.globals |= {"navigation": NAVIGATION, "version": __version__}
    return found


_TEMPLATES = _environment()


def render(request: Request, shown: Shown, status: int = 200) -> Response:
    """A template as a page, or with ``?part=1`` as what stands within its frame."""
    name, given = shown
    visitor = getattr(request.state, "visitor", None)
    frame = "part.html" if request.query_params.get("part") else "frame.html"
    common = {"visitor": visitor, "here": request.url.path, "frame": frame, "q": request.query_params.get("q", "")}
    return HTMLResponse(_TEMPLATES.get_template(name).render({**common, **given}), status)


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


def home(visitor: Visitor, _: Request) -> Shown:
    """The box, and what there is to ask about."""
    return "home.html", {"contents": visitor.contents(), "projects": visitor.projects()}


def search(visitor: Visitor, request: Request) -> Shown:
    """Hits for a query."""
    given = {name: text for name, text in request.query_params.items() if text and name not in {"part", "ask"}}
    if not given.get("q", "").strip():
        return "home.html", {"contents": visitor.contents(), "projects": visitor.projects()}
    asked = checked(Searching, given | {n: (given[n],) for n in ("source", "category") if n in given})
    look = partial(visitor.search, typing=bool(request.query_params.get("part")))
    found = look(asked.q, k=asked.k, scope=asked.scope(), project=asked.project)
    answering = bool(request.query_params.get("ask"))
    return "search.html", {"found": found, "asked": asked, "projects": visitor.projects(), "answering": answering}


def answer(visitor: Visitor, request: Request) -> Shown:
    """The answer to a question, for who runs no script."""
    given = _asked(request)
    return "answer.html", {"answer": ask(visitor, given), "projects": visitor.projects()}


def _asked(request: Request) -> Asking:
    given = {"question": request.query_params.get("q", "")}
    if request.query_params.get("project"):
        given["project"] = request.query_params["project"]
    return checked(Asking, given)


async def answer_events(request: Request) -> Response:
    """The same, told as it comes: each sentence once it is verified, then the whole with its citations."""
    given, visitor = _asked(request), request.state.visitor

    def work(say: streams.Say) -> None:
        def tell(_: str, record: Record) -> None:
            if isinstance(record, Sentence):
                say("sentence", record.text)

        try:
            found = ask(visitor, given, tell)
        except KbError as error:
            say("answer", _TEMPLATES.get_template("failed.html").render(problem=problem(error)))
        else:
            say("answer", _TEMPLATES.get_template("said.html").render(answer=found))

    return streams.response(work)


def item(visitor: Visitor, request: Request) -> Shown:
    """An item with its proofs in their documents."""
    return "item.html", {"view": visitor.item(request.path_params["id"])}


def document(visitor: Visitor, request: Request) -> Shown:
    """A document, or the part of it that was asked for, with its items in place."""
    view = visitor.document(request.path_params["id"])
    wanted = request.query_params.get("at", "0")
    part = markdown.part(view.text, view.items, int(wanted) if wanted.isdecimal() else 0)
    return "document.html", {"view": view, "part": part, "html": Markup(part.html)}  # noqa: S704 - escaped there


def browse(visitor: Visitor, request: Request) -> Shown:
    """Categories and tags, or the items of one."""
    given = {name: text for name, text in request.query_params.items() if name != "part"}
    if not given:
        return "browse.html", {"contents": visitor.contents()}
    asked = checked(Browsing, given)
    found = visitor.listing(**asked.model_dump())
    return "listing.html", {"asked": asked, "found": found, "contents": visitor.contents()}


def sources(visitor: Visitor, _: Request) -> Shown:
    """Every source with its freshness and failures."""
    return "sources.html", {"sources": visitor.sources()}


def source(visitor: Visitor, request: Request) -> Shown:
    """The documents of a source."""
    name = request.path_params["source"]
    documents = visitor.documents(name)
    view = next(s for s in visitor.sources() if s.status.id == name)
    return "source.html", {"source": view, "documents": documents}


def evaluation(visitor: Visitor, _: Request) -> Shown:
    """The trend, and the last evaluation by style and source."""
    found = visitor.evaluations()
    return "evaluation.html", {"results": found, "chart": Markup(_trend(found))}  # noqa: S704 - drawn by us, escaped


def _trend(results: list[EvalResult]) -> str:
    names = ("recall@10", "mrr", "ndcg@10")
    wanted = [r for r in results if "all" in r.metrics][-50:]
    series = {name: [r.metrics["all"].get(name) for r in wanted] for name in names}
    return line_chart(series, [r.generation for r in wanted], title="") if wanted else ""


def routes() -> list[BaseRoute]:
    """A route a page."""
    table: tuple[tuple[str, View], ...] = (
        ("/", home),
        ("/search", search),
        ("/answer", answer),
        ("/items/{id}", item),
        ("/documents/{id:path}", document),
        ("/browse", browse),
        ("/sources", sources),
        ("/sources/{source}", source),
        ("/evaluation", evaluation),
    )
    shown: list[BaseRoute] = [Route(path, page(view), methods=["GET"]) for path, view in table]
    return [*shown, Route("/answer/events", answer_events, methods=["GET"])]
