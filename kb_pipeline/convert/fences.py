"""Fenced code blocks of Markdown, from plain text and from HTML."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kb_pipeline.convert.elements import is_skipped

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_LINE_NUMBERS: Final = frozenset(("linenos", "lineno"))
_LANGUAGE: Final = re.compile(r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-|brush:\s*)([\w+#.-]+)")
_NO_LANGUAGE: Final = frozenset(("none", "auto", "default", "text", "plaintext", "plain", "notranslate", "wrapper"))


def fenced(text: str, language: str = "") -> str:
    """``text`` as fenced code, the fence longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def code_block(element: HtmlElement) -> str:
    """A ``pre`` as fenced code with the language that it names; ``""`` where it is blank."""
    text = _dedent(_code_text(element).replace("\r", "")).strip("\n")
    return fenced(text, language_of(element)) if text else ""


def _dedent(text: str) -> str:
    """``text`` without the indent that all its lines share, a tab counting as four spaces."""
    lines = (text.expandtabs(4) if "\t" in text else text).split("\n")
    indent = min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), default=0)
    return "\n".join(line[indent:].rstrip() for line in lines)


def _code_text(element: HtmlElement) -> str:
    pieces = [element.text or ""]
    for child in element:
        if child.tag == "br":
            pieces.append("\n")
        elif not is_skipped(child) and child.get("class") not in _LINE_NUMBERS:
            inner = _code_text(child)
            is_line = child.tag in ("div", "p", "li", "tr") and not inner.endswith("\n")
            pieces.append(f"{inner}\n" if is_line else inner)
        pieces.append(child.tail or "")
    return "".join(pieces)


def language_of(element: HtmlElement) -> str:
    """The language that a code block, its child or a wrapper of it names in ``class`` or ``data-lang``, or ``""``."""
    inner = element.find("code")
    near = [e for e in (inner, element, element.getparent()) if e is not None]
    if near[-1].getparent() is not None and near[-1] is not element:
        near.append(near[-1].getparent())
    for candidate in near:
        named = candidate.get("data-lang") or candidate.get("data-language")
        found = named or next(iter(_LANGUAGE.findall(candidate.get("class", ""))), "")
        if found:
            return "" if found.lower() in _NO_LANGUAGE else str(found).lower()
    return ""
