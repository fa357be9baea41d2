"""Sitemaps (sitemaps.org, protocol 0.9): XML, gzipped XML or plain lists, and indexes of them, all bounded."""

import zlib
from collections.abc import Iterator
from typing import Literal
from xml.parsers import expat

from kb_pipeline.errors import SourceUnavailable
from kb_pipeline.sources.urls import normal
from kb_pipeline.world import Fetcher

_MAX_SITEMAPS = 100
_MAX_BYTES = 50 * 1024 * 1024  # the protocol's own limit
_MAX_URLS = 50_000  # the same

Entry = tuple[Literal["page", "sitemap"], str]


def pages(sitemap: str, fetcher: Fetcher, allow_private: bool) -> Iterator[str]:
    """The pages, as ``normal`` URLs, that ``sitemap`` and the sitemaps it names list.

    Raises ``SourceUnavailable`` where one of them cannot be read: the listing would be incomplete.
    """
    waiting, seen = [normal(sitemap)], set[str]()
    while waiting:
        url = waiting.pop(0)
        if url in seen:
            continue
        seen.add(url)
        if len(seen) > _MAX_SITEMAPS:
            what = f"names more than {_MAX_SITEMAPS} sitemaps."
            raise SourceUnavailable(what, where=sitemap, cure="List the sitemaps you need as uri: instead.")
        content = fetcher.get(url, allow_private=allow_private).content
        for kind, address in entries(content, url):
            try:
                address = normal(address)
            except ValueError:
                continue  # neither this sitemap's site nor any other has such a page
            if kind == "page":
                yield address
            else:
                waiting.append(address)


def entries(content: bytes, url: str) -> list[Entry]:
    """What one sitemap lists, in its order. Raises ``SourceUnavailable`` where it is none."""
    try:
        text = _unpacked(content)
        found = _parsed(text) if text.lstrip()[:1] == b"<" else _lines(text)
    except (zlib.error, expat.ExpatError, UnicodeDecodeError, _NotASitemap) as error:
        cure = "Name a sitemap as uri:, or the pages themselves without sitemap: true."
        raise SourceUnavailable(f"is no sitemap ({error}).", where=url, cure=cure) from error
    return found[:_MAX_URLS]


class _NotASitemap(Exception):
    pass


def _unpacked(content: bytes) -> bytes:
    if not content.startswith(b"\x1f\x8b"):
        return content
    text = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(content, _MAX_BYTES + 1)
    if len(text) > _MAX_BYTES:
        raise _NotASitemap(f"more than {_MAX_BYTES >> 20} MB")
    return text


def _lines(text: bytes) -> list[Entry]:
    lines = [line.strip() for line in text.decode("utf-8-sig").splitlines() if line.strip()]
    if not lines or not all(line.startswith(("http://", "https://")) for line in lines):
        raise _NotASitemap("neither XML nor a list of URLs")
    return [("page", line) for line in lines]


def _parsed(text: bytes) -> list[Entry]:
    """``<loc>`` of each ``<url>`` and ``<sitemap>`` in the root's namespace: images' and videos' are left out."""
    found: list[Entry] = []
    path: list[tuple[str, str]] = []  # (namespace, name) of the open elements
    words: list[str] = []

    def start(element: str, attributes: dict[str, str]) -> None:
        namespace, _, name = element.rpartition(" ")
        if not path and name not in ("urlset", "sitemapindex"):
            raise _NotASitemap(f"its root is {name}")
        path.append((namespace, name))
        words.clear()

    def end(element: str) -> None:
        namespaces, names = zip(*path, strict=True)
        if len(path) == 3 and names[2] == "loc" and len(set(namespaces)) == 1 and names[1] in ("url", "sitemap"):
            found.append(("page" if names[1] == "url" else "sitemap", "".join(words).strip()))
        path.pop()

    def doctype(*_: object) -> None:
        raise _NotASitemap("it declares a document type")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = words.append
    parser.StartDoctypeDeclHandler = doctype
    parser.Parse(text, True)
    return found
