"""HTML and XML texts → lxml trees that can be written to: nothing fetched, no entity of a document resolved."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kb_pipeline.errors import ConversionError

if TYPE_CHECKING:
    from lxml.etree import XMLSyntaxError, _Element
    from lxml.html import HtmlElement

# What a character reference can name and no tree may hold.
_ILLEGAL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# libxml2's XML_ERR_NO_MEMORY, for which lxml has no exception of its own.
_NO_MEMORY: Final = 2


def xml_root(data: bytes) -> _Element:
    """The root of an XML document. Raises ``lxml.etree.XMLSyntaxError``; ``MemoryError`` at the memory limit."""
    from lxml import etree  # heavy: loaded by a worker alone

    try:
        return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
    except etree.XMLSyntaxError as error:
        _raise_memory_error(error)
        raise


def html_tree(text: str, where: str) -> tuple[HtmlElement, bool]:
    """A tree, and whether it is all of ``text``: libxml2 stops in silence where elements nest 256 deep.

    Raises ``ConversionError`` where there is no element at all, ``MemoryError`` at the memory limit.
    """
    from lxml import etree  # heavy: loaded by a worker alone
    from lxml.html import HTMLParser, document_fromstring

    parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        tree = document_fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        _raise_memory_error(error)
        cure = "Open it in a browser: if it shows text, save the page anew."
        raise ConversionError("there is no HTML element in it.", where=where, cure=cure) from error
    for element in tree.iter():
        if element.text and _ILLEGAL.search(element.text):
            element.text = _ILLEGAL.sub("", element.text)
        if element.tail and _ILLEGAL.search(element.tail):
            element.tail = _ILLEGAL.sub("", element.tail)
    return tree, not any("Excessive depth" in entry.message for entry in parser.error_log)


def _raise_memory_error(error: XMLSyntaxError | ValueError) -> None:
    if getattr(error, "code", None) == _NO_MEMORY:
        raise MemoryError from error
