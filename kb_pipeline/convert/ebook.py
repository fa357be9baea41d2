"""E-books (EPUB 2 and 3) → Markdown: the pages of the spine in order, each rendered as any other HTML."""

from __future__ import annotations

import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from kb_pipeline.convert.archives import opened
from kb_pipeline.convert.cleaning import clean
from kb_pipeline.convert.front_matter import iso_date
from kb_pipeline.convert.html import parse
from kb_pipeline.convert.markup import xml_root
from kb_pipeline.convert.rendering import render
from kb_pipeline.convert.versions import version_of
from kb_pipeline.errors import ConversionError
from kb_pipeline.records import Converted, RawDoc

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_CONTAINER: Final = "META-INF/container.xml"
_ENCRYPTION: Final = "META-INF/encryption.xml"
# Fonts are obfuscated in many free books; a page that is encrypted cannot be read.
_CIPHERED_PAGE: Final = re.compile(rb"CipherReference[^>]{1,500}\.x?html?[\"']")
_PAGES: Final = frozenset(("application/xhtml+xml", "text/html", "application/x-dtbook+xml"))


def convert(doc: RawDoc, kind: str) -> Converted:
    """All pages of the reading order; the table of contents repeats them and is left out.

    Raises ``ConversionError`` where the archive is damaged, inflates beyond bounds or is protected against copying.
    """
    del kind
    from lxml.etree import XMLSyntaxError  # heavy: loaded by a worker alone

    with opened(doc) as book:
        if _ENCRYPTION in book.namelist() and _CIPHERED_PAGE.search(book.read(_ENCRYPTION)):
            cure = "Add a copy without copy protection."
            raise ConversionError("it is protected against copying.", where=doc.doc_id, cure=cure)
        try:
            path, package = _package(book)
            text = "\n\n".join(_page(book.read(page), doc.doc_id) for page in _spine(path, package))
        except (KeyError, XMLSyntaxError, zipfile.BadZipFile, NotImplementedError, zlib.error) as error:
            cure = "Open it in a reader and save it again."
            raise ConversionError(f"it is damaged ({error}).", where=doc.doc_id, cure=cure) from error
    named = {name: _named(package, name) for name in ("title", "creator", "date", "description")}
    return Converted(
        text=clean(text),
        converter="kb_pipeline",
        converter_version=version_of("kb_pipeline"),
        title=next(iter(named["title"]), ""),
        authors=tuple(named["creator"]),
        effective_date=iso_date(next(iter(named["date"]), "")),
        source_type="doc",
        metadata={"description": named["description"][0]} if named["description"] else {},
    )


def _package(book: zipfile.ZipFile) -> tuple[str, Element]:
    """Path and root of the package document, which says what the book is made of."""
    rootfile = xml_root(book.read(_CONTAINER)).find(".//{*}rootfile")
    path = rootfile.get("full-path", "") if rootfile is not None else ""
    return path, xml_root(book.read(path))


def _spine(path: str, package: Element) -> Iterator[str]:
    """Paths of the pages in reading order, the navigation document left out."""
    manifest = {item.get("id"): item for item in package.iterfind(".//{*}manifest/{*}item")}
    for reference in package.iterfind(".//{*}spine/{*}itemref"):
        item = manifest.get(reference.get("idref"))
        if item is not None and item.get("media-type") in _PAGES and "nav" not in item.get("properties", "").split():
            yield posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(item.get("href", ""))))


def _page(data: bytes, where: str) -> str:
    if not data.strip():
        return ""
    body = parse(data, where)[0].find("body")
    return render(body) if body is not None else ""


def _named(package: Element, name: str) -> list[str]:
    found = package.iterfind(f".//{{http://purl.org/dc/elements/1.1/}}{name}")
    return [text for element in found if (text := " ".join("".join(element.itertext()).split()))]
