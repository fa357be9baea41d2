"""HTML pages → Markdown of their main content, with title, author and date where the page names them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from kb_pipeline.convert.cleaning import clean
from kb_pipeline.convert.decoding import decode
from kb_pipeline.convert.front_matter import iso_date
from kb_pipeline.convert.main_content import cut_to_main_content
from kb_pipeline.convert.markup import html_tree
from kb_pipeline.convert.rendering import render
from kb_pipeline.convert.versions import version_of
from kb_pipeline.errors import ConversionError
from kb_pipeline.records import Converted, RawDoc

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_CHARSET: Final = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w-]{2,40})", re.IGNORECASE)
_DECLARATION: Final = re.compile(r"^\s*<\?xml[^>]*\?>")
_CONTAINERS: Final = re.compile(
    r"</?(?:div|span|section|font|center|b|i|em|strong|blockquote)\b[^>]{0,2000}>", re.IGNORECASE
)
_CREDENTIAL: Final = re.compile(r"^(?:[A-Z.]{2,6}|[Nn]ame|[Aa]uthor)$")
# The last change comes before the publication: what a page says is what it says since then.
_DATES: Final = (
    '//meta[@property="article:modified_time" or @itemprop="dateModified" or @name="last-modified"]/@content',
    '//time[@itemprop="dateModified"]/@datetime',
    '//script[@type="application/ld+json"][contains(text(), "dateModified")]/text()',
    '//meta[@property="article:published_time" or @itemprop="datePublished" or @name="date"]/@content',
    '//meta[starts-with(@name, "dc.date") or starts-with(@name, "DC.date") or @name="citation_date"]/@content',
    '//time[@itemprop="datePublished" or @pubdate]/@datetime',
    '//script[@type="application/ld+json"][contains(text(), "datePublished")]/text()',
)
_LINKED_DATE: Final = re.compile(r'"date(?:Modified|Published)"\s*:\s*"([^"]{8,40})"')
# A page rendered by script holds less than this and says what it is about in its description.
_EMPTY_PAGE: Final = 100


def convert(doc: RawDoc, kind: str) -> Converted:
    """Markdown of a page's content. Raises ``ConversionError`` where there is no element in it."""
    del kind
    tree, warnings = parse(doc.content, doc.doc_id)
    stated = _stated(tree, doc.uri)
    body = tree.find("body")
    if body is not None:
        cut_to_main_content(body)
    text = clean(render(body if body is not None else tree))
    if len(text) < _EMPTY_PAGE and len(stated["description"]) > len(text):
        text = clean(f"# {stated['title']}\n\n{stated['description']}")
        warnings += ("the page is drawn by script: only its description could be read",)
    return Converted(
        text=text,
        converter="trafilatura",
        converter_version=version_of("trafilatura"),
        title=_headline(text, stated["title"]),
        authors=stated["authors"],
        effective_date=stated["date"],
        source_type="web",
        metadata={k: stated[k] for k in ("description", "site") if stated[k]},
        warnings=warnings,
    )


def parse(data: bytes, where: str) -> tuple[HtmlElement, tuple[str, ...]]:
    """The tree of an HTML document in any encoding, and what had to be guessed or given up."""
    named = _CHARSET.search(data[:4096])
    text, _, warnings = decode(data, named.group(1).decode("ascii") if named else "")
    text = _DECLARATION.sub("", clean(text))
    tree, is_whole = html_tree(text, where)
    if not is_whole:
        tree, is_whole = html_tree(_CONTAINERS.sub("<hr>", text), where)
        warnings += ("nested too deeply: containers were left out",)
    if not is_whole:
        cure = "Open it in a browser and save its text."
        raise ConversionError("its elements are nested over 256 deep.", where=where, cure=cure)
    return tree, warnings


def _stated(tree: HtmlElement, url: str) -> Mapping[str, Any]:
    """Title, authors, date, description and site as the page states them; the date only from its own metadata."""
    from trafilatura.metadata import extract_metadata  # heavy: loaded by a worker alone

    found = extract_metadata(tree, default_url=url if url.startswith("http") else None, extensive=False)
    authors = (a.strip() for a in (found.author or "").split(";"))
    return {
        "title": " ".join((found.title or tree.findtext(".//title") or "").split()).rstrip("¶ "),
        "authors": tuple(a for a in authors if a and not _CREDENTIAL.match(a)),
        "date": _stated_date(tree),
        "description": " ".join((found.description or "").split()),
        "site": found.sitename or "",
    }


def _stated_date(tree: HtmlElement) -> str | None:
    """The date that the page's own metadata gives; a date guessed from its text would order documents wrongly."""
    for path in _DATES:
        for value in tree.xpath(path)[:1]:
            linked = _LINKED_DATE.search(value) if path.endswith("text()") else None
            day = iso_date(linked.group(1) if linked else value)
            if day:
                return day
    return None


def _headline(text: str, title: str) -> str:
    """The first heading where the page's title only adds the site's name to it (``Middleware | Site``)."""
    first = text.split("\n", 1)[0]
    heading = first.lstrip("#").strip()
    return heading if first.startswith("#") and heading and heading in title else title
