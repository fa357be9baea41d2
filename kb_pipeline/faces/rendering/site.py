"""The wiki as a static site: one file a page, an index, and a search that runs in the browser. No server, no network.

Owns HTML and the search's index. Markdown is rendered by markdown-it-py without raw HTML, so a page can hold no script.
"""

import html
import json
import posixpath
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote, unquote

from markdown_it import MarkdownIt

from kb_pipeline.faces.graph import graph
from kb_pipeline.records import Page, PageView
from kb_pipeline.rules.pages.catalogue import by_category, heading_of
from kb_pipeline.rules.pages.neighbourhood import neighbourhood

_MARKDOWN = MarkdownIt("commonmark", {"html": False, "linkify": False})
_FOOT = re.compile(r"^\[\^([\w-]+)\]:\s?(.*)$", re.MULTILINE)
_MARK = re.compile(r"\[\^([\w-]+)\](?!:)")
_LINK = re.compile(r'href="([^":]+?\.md)(#[^"]*)?"')
_PLAIN = re.compile(r"<[^>]+>")
_FILES = Path(__file__).parent / "site_parts"


def write_site(pages: Sequence[PageView], folder: Path) -> int:
    """Write the site below ``folder``; how many pages. Files of an earlier site that are none any more stay."""
    paths = {view.page.path: f"{view.page.path.removesuffix('.md')}.html" for view in pages}
    planned = {view.page.path: view.page for view in pages}
    listed = []
    for view in pages:
        body, notes = _body(view, paths)
        whole = f"{body}{_around(view, planned)}{notes}"
        _write(folder / paths[view.page.path], _framed(view.page.title, whole, depth=view.page.path.count("/")))
        words = " ".join(html.unescape(_PLAIN.sub(" ", body)).split())
        listed.append([view.page.title, paths[view.page.path], view.brief.summary, words])
    _write(folder / "index.html", _framed("Wiki", _index(pages, paths), depth=0))
    _write(folder / "search.js", f"const PAGES = {json.dumps(listed, ensure_ascii=False)};\n{_script()}")
    _write(folder / "style.css", (_FILES / "style.css").read_text(encoding="utf-8"))
    return len(pages)


def _script() -> str:
    return (_FILES / "search.js").read_text(encoding="utf-8")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _framed(title: str, body: str, *, depth: int) -> str:
    up = "../" * depth
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="stylesheet" href="{up}style.css"></head>\n<body data-up="{up}"><header>'
        f'<a href="{up}index.html">Wiki</a> <input id="search" type="search" placeholder="Search" aria-label="Search">'
        f'<ol id="hits"></ol></header>\n'
        f'<main dir="auto">\n{body}</main>\n<script src="{up}search.js"></script></body></html>\n'
    )


def _index(pages: Sequence[PageView], paths: Mapping[str, str]) -> str:
    parts = ["<h1>Wiki</h1>\n"]
    for category, briefs in by_category(view.brief for view in pages):
        lines = (
            f'<li dir="auto"><a href="{html.escape(paths[brief.path])}">{html.escape(brief.title)}</a>: '
            f"{html.escape(brief.summary)}</li>\n"
            for brief in briefs
        )
        parts.append(f"<h2>{html.escape(heading_of(category))}</h2>\n<ul>\n{''.join(lines)}</ul>\n")
    return "".join(parts)


def _body(view: PageView, paths: Mapping[str, str]) -> tuple[str, str]:
    """The page's Markdown as HTML, and its notes: numbered, shown on hover and listed below; links between pages are
    kept."""
    text = view.text.partition("\n---\n")[2] if view.text.startswith("---\n") else view.text
    feet = {m[1]: m[2] for m in _FOOT.finditer(text)}
    numbers = {key: n for n, key in enumerate(feet, start=1)}
    rendered = _MARKDOWN.render(_FOOT.sub("", text))
    quotes = {key: html.escape(_told(foot), quote=True) for key, foot in feet.items()}
    marked = _MARK.sub(
        lambda m: (
            f'<sup><a href="#fn{numbers[m[1]]}" title="{quotes[m[1]]}">{numbers[m[1]]}</a></sup>'
            if m[1] in numbers
            else ""
        ),
        rendered,
    )
    notes = "".join(
        f'<li id="fn{numbers[key]}" dir="auto">{_MARKDOWN.renderInline(foot)}</li>\n' for key, foot in feet.items()
    )
    listed = f'<section class="notes"><ol>\n{notes}</ol></section>\n' if notes else ""
    body, below = (_LINK.sub(lambda m: _href(m, view.page.path, paths), part) for part in (marked, listed))
    return body, below


def _around(view: PageView, planned: Mapping[str, Page]) -> str:
    """The pages around it, drawn; nothing for a page that stands alone."""
    folder = posixpath.dirname(view.page.path) or "."
    drawing = graph(
        neighbourhood(view.page, view.text, planned),
        lambda path: quote(f"{posixpath.relpath(path, folder).removesuffix('.md')}.html"),
    )
    return f'<nav class="around" aria-label="Pages around this one">\n{drawing}</nav>\n' if drawing else ""


def _told(foot: str) -> str:
    return html.unescape(_PLAIN.sub("", _MARKDOWN.renderInline(foot)))


def _href(m: re.Match[str], origin: str, paths: Mapping[str, str]) -> str:
    """A link to a page leads to its file in the site; one to a document, which is not part of it, to nothing."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), unquote(m[1])))
    if target not in paths:
        return 'class="outside"'
    return f'href="{posixpath.relpath(paths[target], posixpath.dirname(origin) or ".")}"'
