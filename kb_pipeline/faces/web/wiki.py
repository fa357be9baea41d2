"""The wiki as pages: its Markdown with links that lead within this server and notes that show their quotes."""

import posixpath
import re
from collections import Counter
from html import escape, unescape
from urllib.parse import quote, unquote

from markupsafe import Markup
from starlette.requests import Request

from kb_pipeline.api.visiting import Visitor
from kb_pipeline.faces.graph import graph
from kb_pipeline.faces.web import markdown
from kb_pipeline.faces.web.rendering import Shown, page_url
from kb_pipeline.rules.pages.catalogue import by_category, heading_of
from kb_pipeline.rules.pages.markdown import anchor, plain

_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_NOTE = re.compile(r"^\[\^(kb_[0-9a-f]+|by-hand)\]: (.*)$", re.MULTILINE)
_MARK = re.compile(r"\[\^(kb_[0-9a-f]+|by-hand)\]")
_BY_HAND = "by-hand"
_LINK = re.compile(r"\]\((?![a-z]+:|/|#)([^)\s#]+)\.md(#[^)\s]*)?\)")
_HEADING = re.compile(r"<h([23])>(.*?)</h\1>", re.DOTALL)
_TAG = re.compile(r"<sup class=\"cite.*?</sup>|<[^>]+>", re.DOTALL)
_LINKED = re.compile(r"(?<!\\)\[((?:\\.|[^\[\]\\])*)\]\([^()\s]*\)")
_NORMALIZED = "../normalized/"


def catalogue(visitor: Visitor, request: Request) -> Shown:
    """Every page by its category."""
    pages = visitor.pages(request.query_params.get("category") or None)
    shelves = [(heading_of(category), shelf) for category, shelf in by_category(pages)]
    return "wiki.html", {"shelves": shelves, "total": len(pages)}


def page(visitor: Visitor, request: Request) -> Shown:
    """One page as it stands, with what leads to it."""
    view = visitor.page(request.path_params["name"])
    html, contents = with_contents(rendered(view.text, view.brief.path))
    return "page.html", {
        "view": view,
        "html": Markup(html),  # noqa: S704 - escaped there
        "contents": contents,
        "category": heading_of(view.brief.category),
        "graph": Markup(graph(visitor.seen.around(view), page_url)),  # noqa: S704 - escaped there
    }


def with_contents(html: str) -> tuple[str, list[tuple[int, str, str]]]:
    """HTML of a page with an anchor at each heading below its title, and those: level, anchor and words."""
    found: list[tuple[int, str, str]] = []
    taken: Counter[str] = Counter()

    def anchored(heading: re.Match[str]) -> str:
        words = unescape(_TAG.sub("", heading[2])).strip()
        name = anchor(words) or "section"
        taken[name] += 1
        name = name if taken[name] == 1 else f"{name}-{taken[name] - 1}"
        found.append((int(heading[1]), name, words))
        return f'<h{heading[1]} id="{escape(name)}">{heading[2]}</h{heading[1]}>'

    return _HEADING.sub(anchored, html), found


def rendered(text: str, path: str) -> str:
    """A page's Markdown as HTML. ``path`` is where it stands below ``kb/wiki``: its links are relative to that."""
    notes = {name: _plain(said) for name, said in _NOTE.findall(text)}
    body = _NOTE.sub("", _FRONT.sub("", text))
    cited: list[str] = []

    def mark(found: re.Match[str]) -> str:
        cited.append(found[1])
        return markdown.mark(len(cited) - 1)

    def link(found: re.Match[str]) -> str:
        return f"]({address(found[1], path)})"

    body = _MARK.sub(mark, _LINK.sub(link, markdown.unmarked(body)))
    return markdown.with_marks(body, [_cite(name, notes.get(name, "")) for name in cited])


def address(target: str, path: str) -> str:
    """Where a relative link (less its extension) leads here: to a page or a document."""
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(target)))
    if joined.startswith(_NORMALIZED):
        return f"/documents/{quote(joined.removeprefix(_NORMALIZED))}"
    return f"/wiki/{quote(joined)}"


def _plain(said: str) -> str:
    """A note as text: of a link its words."""
    return plain(_LINKED.sub(r"\1", said))


def _cite(name: str, said: str) -> str:
    tip = f'<span class="card-over" role="tooltip">{escape(said)}</span>' if said else ""
    if name == _BY_HAND:
        return f'<sup class="cite note hand" tabindex="0" aria-label="By a person">✎{tip}</sup>'
    return f'<sup class="cite note"><a href="/items/{name}" aria-label="Proof of {name}">●</a>{tip}</sup>'
