"""The neighbourhood of a page: which pages stand around it, and where each of them is drawn. Pure.

Drawn as an arc diagram in one column, so that whole titles can be read on a phone: pages that lead here above the page,
pages that it names or is related to below it, an arc to each of them, and faint ones between those that lead to each
other. The same neighbourhood is always drawn alike.
"""

import posixpath
import re
import unicodedata
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from urllib.parse import unquote

from kb_pipeline.records import Link, Neighbour, Neighbourhood, Page
from kb_pipeline.rules.pages.reading import read
from kb_pipeline.rules.pages.rendering import BACKLINKS, RELATED, SOURCES

MOST = 24
"""Pages drawn around one: more arcs cannot be told apart."""
WIDTH = 280
"""Of the drawing, in its own units, which are pixels beside the text of a page."""
_ROW, _HEAD, _PILL, _EDGE = 26, 22, 34, 4
_DOT, _LABEL = 46, 57
_SHOWN, _SHOWN_BOLD = 32, 27  # letters of a title that fit; a wide one counts twice
_GROUPS: Mapping[str, str] = {"leads": "Named on", "named": "Names", "related": "Related"}
_ORDER = ("leads", "named", "related")
_LINK = re.compile(r"(?<!\\)\]\(([^()\s]+)\)")
_LISTED = frozenset({RELATED, BACKLINKS, SOURCES})


@dataclass(frozen=True)
class Node:
    """A page as it is drawn: ``x`` and ``y`` are those of its dot, ``label`` is as much of the title as fits."""

    title: str
    label: str
    path: str
    y: float
    x: float = _DOT


@dataclass(frozen=True)
class Drawing:
    """``heads`` are names of groups and where each stands. ``arcs`` lead from the page to others, ``between`` from one
    of those to another; both are path data of SVG."""

    width: int
    height: int
    page: Node
    nodes: tuple[Node, ...]
    heads: tuple[tuple[str, float], ...]
    arcs: tuple[str, ...]
    between: tuple[str, ...]


def neighbourhood(page: Page, text: str, pages: Mapping[str, Page], most: int = MOST) -> Neighbourhood:
    """The pages around ``page``, whose file says ``text``; ``pages`` are all that may be shown, by path.

    ``named`` are those that its sentences link to or whose title they bear. Where there are more than ``most``, those
    that are named come first, then related ones, then those that lead here.
    """
    body = [line.text for line in read(text) if line.kind != "foot" and line.section not in _LISTED]
    linked = _linked(body, page.path)
    said = "\n".join(body).casefold()
    found: dict[str, Neighbour] = {}
    for link in (*_known(linked, pages), *page.related):
        if link.path in pages and link.path != page.path and link.path not in found:
            kind = "named" if link.path in linked or _bears(said, link.title) else "related"
            found[link.path] = Neighbour(title=link.title, path=link.path, kind=kind)
    for link in page.backlinks:
        if link.path in pages and link.path not in found:
            found[link.path] = Neighbour(title=link.title, path=link.path, kind="leads")
    weight = {"named": 0, "related": 1, "leads": 2}
    chosen = sorted(found.values(), key=lambda n: weight[n.kind])[:most]
    chosen.sort(key=lambda n: (_ORDER.index(n.kind), n.title.casefold(), n.path))
    links = [
        (a, b)
        for (a, one), (b, other) in combinations(enumerate(chosen), 2)
        if _leads(pages[one.path], other.path) or _leads(pages[other.path], one.path)
    ]
    more = len(found) - len(chosen)
    return Neighbourhood(title=page.title, path=page.path, neighbours=tuple(chosen), links=tuple(links), more=more)


def hidden(text: str, path: str, pages: Container[str]) -> list[str]:
    """The lines of the page at ``path``, as they stand, that list pages which are not among ``pages``, and the headings
    of lists of which nothing else is left."""
    found: list[str] = []
    for section in (RELATED, BACKLINKS):
        heading, *listed = [line.raw for line in read(text) if line.section == section] or [""]
        foreign = [line for line in listed if any(leads not in pages for leads in _linked([line], path))]
        found += foreign if len(foreign) < len(listed) else [heading, *foreign]
    return [line for line in found if line]


def _linked(lines: Sequence[str], path: str) -> list[str]:
    """The places below ``kb/wiki`` that the links of these lines lead to, as far as they lead to files of it."""
    folder = posixpath.dirname(path)
    targets = (unquote(target).partition("#")[0] for line in lines for target in _LINK.findall(line))
    return [posixpath.normpath(posixpath.join(folder, target)) for target in targets if target.endswith(".md")]


def _known(paths: Sequence[str], pages: Mapping[str, Page]) -> Iterator[Link]:
    return (Link(title=pages[path].title, path=path) for path in paths if path in pages)


def _bears(said: str, title: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(title.casefold())}(?!\w)", said) is not None


def _leads(page: Page, path: str) -> bool:
    return any(link.path == path for link in (*page.related, *page.backlinks))


def drawn(around: Neighbourhood) -> Drawing:
    """Where everything of a neighbourhood is drawn."""
    above = [n for n in around.neighbours if n.kind == "leads"]
    y = float(_EDGE)
    heads: list[tuple[str, float]] = []
    places: dict[str, float] = {}
    middle = 0.0
    for kind in _ORDER:
        group = [n for n in around.neighbours if n.kind == kind]
        if group:
            heads.append((_GROUPS[kind], y + _HEAD - 7))
            y += _HEAD
        for neighbour in group:
            places[neighbour.path] = y + _ROW / 2
            y += _ROW
        if kind == "leads":
            y += _EDGE if above else 0
            middle = y + _PILL / 2
            y += _PILL + _EDGE
    nodes = tuple(Node(n.title, _cut(n.title, _SHOWN), n.path, places[n.path]) for n in around.neighbours)
    return Drawing(
        width=WIDTH,
        height=round(y) + _EDGE,
        page=Node(around.title, _cut(around.title, _SHOWN_BOLD), around.path, middle, _DOT - 12),
        nodes=nodes,
        heads=tuple(heads),
        arcs=tuple(_arc(_DOT - 12, middle, _DOT - 5, node.y) for node in nodes),
        between=tuple(_arc(_DOT - 5, nodes[a].y, _DOT - 5, nodes[b].y, steep=0.45) for a, b in around.links),
    )


def _arc(x: float, y: float, to_x: float, to_y: float, steep: float = 1.0) -> str:
    """A curve that bulges to the left, the more the farther it leads."""
    out = max(_EDGE, min(x, to_x) - steep * (8 + abs(to_y - y) * 0.1))
    return f"M{x:g} {y:g}C{out:g} {y:g} {out:g} {to_y:g} {to_x:g} {to_y:g}"


def _cut(title: str, most: int) -> str:
    """As much of a title as takes the room of ``most`` letters."""
    room = 0
    for n, letter in enumerate(title):
        room += 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        if room > most:
            return f"{title[: n - 1].rstrip()}…"
    return title
