"""The pages: each takes a request to one verb of its visitor and renders a template. No markup stands here.

Every page works without a script; ``static/app.js`` makes some of them livelier by asking for ``?part=1``, which is the
same template without its frame.
"""

from collections import Counter
from functools import partial
from itertools import groupby
from urllib.parse import urlencode

import anyio.to_thread
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from kb_pipeline.api import editing
from kb_pipeline.api.visiting import Visitor
from kb_pipeline.errors import KbError
from kb_pipeline.faces.plotting import line_chart
from kb_pipeline.faces.web import comparing, forms, markdown, streams, wiki
from kb_pipeline.faces.web.operations import Asking, Browsing, Searching, ask, checked
from kb_pipeline.faces.web.problems import problem
from kb_pipeline.faces.web.rendering import Shown, View, fragment, page
from kb_pipeline.records import EvalResult, Record, Sentence

_CHANGES, _REVIEWS = 300, 30


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
            say("answer", fragment("failed.html", problem=problem(error)))
        else:
            say("answer", fragment("said.html", answer=found))

    return streams.response(work)


def item(visitor: Visitor, request: Request) -> Shown:
    """An item with its proofs in their documents."""
    view = visitor.item(request.path_params["id"])
    told, conflicts = editing.history(visitor, view.item.id), editing.disagreeing(visitor, view.item.id)
    home = visitor.seen.home(view.item.id)
    return "item.html", {"view": view, "history": told, "conflicts": conflicts, "home": home}


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


def changes(visitor: Visitor, request: Request) -> Shown:
    """What happened to items, build by build, the last one first."""
    since = request.query_params.get("since") or "2000-01-01"
    found = visitor.changes(since, _CHANGES)
    runs = [list(events) for _, events in groupby(found, key=lambda event: event.run)]
    return "changes.html", {
        "runs": runs,
        "full": len(found) == _CHANGES,
        "statements": visitor.statements(event.item for event in found),
    }


def review(visitor: Visitor, request: Request) -> Shown:
    """What waits for a person, those of one kind where it is named."""
    found = editing.reviews(visitor)
    kinds = Counter(one.kind for one in found)
    kind = request.query_params.get("kind", "")
    shown = [one for one in found if kind in {"", one.kind}][:_REVIEWS]
    given = {"reviews": shown, "kinds": kinds, "kind": kind, "total": len(found), "token": forms.token(visitor)}
    return "review.html", {**given, "done": request.query_params.get("done", "")}


async def decided(request: Request) -> Response:
    """Record a decision, and show what waits next."""
    given, visitor = await forms.read(request), request.state.visitor
    name, action = given.get("name", ""), given.get("action", "")
    await anyio.to_thread.run_sync(lambda: editing.decide(visitor, name, action, given.get("reason", "")))
    return RedirectResponse(f"/review?{urlencode({'kind': given.get('kind', ''), 'done': name})}", 303)


def routes() -> list[BaseRoute]:
    """A route a page."""
    table: tuple[tuple[str, View], ...] = (
        ("/", home),
        ("/search", search),
        ("/answer", answer),
        ("/items/{id}", item),
        ("/documents/{id:path}", document),
        ("/wiki", wiki.catalogue),
        ("/wiki/{name:path}", wiki.page),
        ("/browse", browse),
        ("/sources", sources),
        ("/sources/{source}", source),
        ("/evaluation", evaluation),
        ("/changes", changes),
        ("/changes/wiki", comparing.overview),
        ("/changes/wiki/{name:path}", comparing.page),
        ("/review", review),
    )
    shown: list[BaseRoute] = [Route(path, page(view), methods=["GET"]) for path, view in table]
    return [
        *shown,
        Route("/review", decided, methods=["POST"]),
        Route("/answer/events", answer_events, methods=["GET"]),
    ]
