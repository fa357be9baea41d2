"""Word documents made safe for kreuzberg, whose reader loses what stands between words. Knows only WordprocessingML.

Measured on kreuzberg 4.10: every ``&``, ``<`` and ``>`` of a paragraph is dropped ("latency < 5 ms" becomes "latency
5 ms"), line breaks and tabs join the words around them, an equation inside a sentence moves in front of it, a list
made by style is no list. So each text part of the package is rewritten first: such characters become private ones
that ``restored`` turns back, the others what kreuzberg keeps.
"""

from __future__ import annotations

import copy
import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from kb_pipeline.convert.markup import xml_root

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_SPACE: Final = "{http://www.w3.org/XML/1998/namespace}space"
_TEXT_PART: Final = re.compile(r"word/(?:document|footnotes|endnotes|header\d*|footer\d*|comments)\.xml")
_STYLES: Final = "word/styles.xml"
_PRIVATE: Final = str.maketrans("&<>", "\ue0f0\ue0f1\ue0f2")
_RESTORED: Final = {0xE0F0: "&amp;", 0xE0F1: "&lt;", 0xE0F2: "&gt;"}
_BREAKS: Final = {f"{_W}br": " ", f"{_W}cr": " ", f"{_W}tab": " ", f"{_W}noBreakHyphen": "-", f"{_W}softHyphen": ""}


def protected(package: bytes) -> bytes:
    """The package with its text parts rewritten. Raises ``zipfile.BadZipFile`` or ``lxml.etree.XMLSyntaxError``."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as target:
        lists = _list_styles(source.read(_STYLES)) if _STYLES in source.namelist() else {}
        for member in source.infolist():
            data = source.read(member)
            target.writestr(member.filename, _rewritten(data, lists) if _TEXT_PART.fullmatch(member.filename) else data)
    return out.getvalue()


def restored(markup: str) -> str:
    """HTML made from a protected package, with the protected characters as entities."""
    return markup.translate(_RESTORED)


def _rewritten(part: bytes, lists: Mapping[str, Element]) -> bytes:
    from lxml import etree  # heavy: loaded by a worker alone

    root = xml_root(part)
    for equation in [*root.iter(f"{_M}oMath")]:
        if _is_inside_sentence(equation):
            _replace(equation, f"${''.join(_math(equation)).strip()}$", in_run=True)
    for run in [*root.iter(f"{_W}r")]:
        for child in [*run.iterchildren(*_BREAKS)]:
            _replace(child, _BREAKS[child.tag])
    for style in [*root.iter(f"{_W}pStyle")]:
        properties, numbering = style.getparent(), lists.get(style.get(f"{_W}val", ""))
        if numbering is not None and properties is not None and properties.find(f"{_W}numPr") is None:
            properties.append(copy.deepcopy(numbering))
    for text in root.iter(f"{_W}t"):
        text.text = (text.text or "").translate(_PRIVATE)
    return bytes(etree.tostring(root, encoding="UTF-8", xml_declaration=True, standalone=True))


def _list_styles(part: bytes) -> dict[str, Element]:
    """Paragraph styles that number or mark their paragraphs ("List Bullet"), with how; numbered headings stay out."""
    styles = {}
    for style in xml_root(part).iter(f"{_W}style"):
        numbering = style.find(f"{_W}pPr/{_W}numPr")
        is_heading = style.find(f"{_W}pPr/{_W}outlineLvl") is not None
        if numbering is not None and not is_heading:
            if numbering.find(f"{_W}ilvl") is None:  # kreuzberg takes a list without a level for a bulleted one
                numbering.insert(0, numbering.makeelement(f"{_W}ilvl", {f"{_W}val": "0"}))
            styles[style.get(f"{_W}styleId", "")] = numbering
    return styles


def _replace(element: Element, text: str, *, in_run: bool = False) -> None:
    """Put a text in the place of ``element``, in a run of its own where ``in_run``."""
    from lxml import etree  # heavy: loaded by a worker alone

    new = etree.Element(f"{_W}r" if in_run else f"{_W}t")
    holder = etree.SubElement(new, f"{_W}t") if in_run else new
    holder.text = text
    holder.set(_SPACE, "preserve")
    parent = element.getparent()
    if parent is not None:
        parent.replace(element, new)


# --- equations ---------------------------------------------------------------------------------------------------


def _is_inside_sentence(equation: Element) -> bool:
    """Whether the paragraph holds words beside the equation; one that stands alone is kreuzberg's."""
    parent = equation.getparent()
    if parent is None or parent.tag == f"{_M}oMathPara":
        return False
    return any((text.text or "").strip() for text in parent.iter(f"{_W}t"))


def _math(element: Element) -> Iterator[str]:
    """An equation in the notation of TeX, as far as its structure carries meaning: fractions, powers, roots, sums."""
    for child in element:
        if child.tag == f"{_M}t":
            yield child.text or ""
        elif template := _TEMPLATES.get(str(child.tag)):
            parts = {name: "".join(_math(part)) for name in _PARTS if (part := child.find(f"{_M}{name}")) is not None}
            yield template.format_map(dict.fromkeys(_PARTS, "") | parts)
        elif not str(child.tag).endswith("Pr"):
            yield from _math(child)


_PARTS: Final = ("num", "den", "e", "sub", "sup", "deg", "fName", "lim")
_TEMPLATES: Final = {
    f"{_M}f": r"\frac{{{num}}}{{{den}}}",
    f"{_M}sSup": "{e}^{{{sup}}}",
    f"{_M}sSub": "{e}_{{{sub}}}",
    f"{_M}sSubSup": "{e}_{{{sub}}}^{{{sup}}}",
    f"{_M}rad": r"\sqrt{{{e}}}",
    f"{_M}d": "({e})",
    f"{_M}func": "{fName} {e}",
    f"{_M}nary": r"\sum_{{{sub}}}^{{{sup}}} {e}",
    f"{_M}limLow": "{e}_{{{lim}}}",
}
