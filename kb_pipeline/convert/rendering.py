"""An HTML tree → Markdown: every word under the given element, its headings, lists, code and tables.

What belongs to the document is decided before (``html.py``, ``office.py``, ``mail.py``). Emphasis and link targets are
not written: they split sentences that are to be quoted and found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from kb_pipeline.convert.elements import BLOCKS, CODE, is_block, is_skipped
from kb_pipeline.convert.fences import code_block
from kb_pipeline.convert.tables import Cell, markdown_table, spread

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_PERMALINK: Final = re.compile(r"(?:^|[\s_-])(?:headerlink|anchor|hash-link|permalink)(?:$|\s)", re.IGNORECASE)
_SIGNS: Final = frozenset(("¶", "#", "§", "🔗", "", "[source]"))
# A line of text that Markdown would read as a heading, a fence or a rule.
_STRUCTURE: Final = re.compile(r"^(?=#{1,6}\s|`{3}|~{3}|(?:=+|-{2,}|_{3,}|\*{3,})\s*$)", re.MULTILINE)
_SPACE: Final = re.compile(r"[^\S\n]+")
_AROUND_BREAK: Final = re.compile(r" *\n+ *")
_POWER: Final = re.compile(r"^[-+−–]?\d{1,3}$")
_BASE: Final = re.compile(r"(?:\d|\)|(?:^|[\s(/·*×\d])[A-Za-zµμΩ]{1,3})$")
MAX_DEPTH: Final = 200


def render(root: HtmlElement) -> str:
    """Markdown of everything visible under ``root``, blocks separated by one blank line."""
    return "\n\n".join(_blocks(root, 0))


# --- blocks ------------------------------------------------------------------------------------------------------


def _blocks(element: HtmlElement, depth: int) -> Iterator[str]:
    """The blocks of ``element``'s content: loose text and inline elements between blocks make paragraphs."""
    if depth > MAX_DEPTH:
        yield from _paragraph(" ".join(element.itertext()))
        return
    loose = [_flowing(element.text)]
    for child in element:
        if is_block(child):
            yield from _paragraph("".join(loose))
            loose = [""]
            if not is_skipped(child):
                yield from _WRITERS.get(child.tag, _blocks)(child, depth + 1)
        else:
            loose.append(_inline(child, depth + 1, loose[-1]))
        loose.append(_flowing(child.tail))
    yield from _paragraph("".join(loose))


def _paragraph(text: str) -> Iterator[str]:
    text = _AROUND_BREAK.sub("\n", _SPACE.sub(" ", text)).strip()
    if text:
        yield _STRUCTURE.sub(r"\\", text)


def _heading(element: HtmlElement, depth: int) -> Iterator[str]:
    text = _one_line(_inline(element, depth, ""))
    if text:
        yield f"{'#' * int(element.tag[1])} {text}"


def _quote(element: HtmlElement, depth: int) -> Iterator[str]:
    text = "\n\n".join(_blocks(element, depth))
    if text:
        yield "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


# --- lists -------------------------------------------------------------------------------------------------------


def _list(element: HtmlElement, depth: int) -> Iterator[str]:
    ordered = element.tag == "ol"
    start = element.get("start", "1")
    number = int(start) if start.isdecimal() and len(start) < 6 else 1
    items = []
    for child in element:
        if is_skipped(child):
            continue
        content = list(_list(child, depth + 1) if child.tag in ("ul", "ol") else _blocks(child, depth + 1))
        if content:
            items.append(_item(content, f"{number}. " if ordered else "- "))
            number += 1
    if items:
        yield "\n".join(items)


def _item(blocks: list[str], marker: str) -> str:
    """One list item: a nested list follows its paragraph directly, any other block after a blank line."""
    text = blocks[0]
    for block in blocks[1:]:
        text += ("\n" if re.match(r"(?:- |\d+\. )", block) else "\n\n") + block
    return marker + text.replace("\n", "\n" + " " * len(marker)).replace("\n" + " " * len(marker) + "\n", "\n\n")


def _definitions(element: HtmlElement, depth: int) -> Iterator[str]:
    """``dt`` and ``dd``: a short definition becomes ``- term: text``, a long one (an API entry) term and blocks."""
    terms: list[str] = []
    for child in element.iterchildren("dt", "dd", "div"):
        if child.tag == "div":
            yield from _definitions(child, depth + 1)
        elif child.tag == "dt":
            signature = "sig" in child.get("class", "")
            term = _one_line(_inline(child, depth, "").replace("`", "") if signature else _inline(child, depth, ""))
            terms += [f"`{term}`" if signature and term else term]
        else:
            content = list(_blocks(child, depth + 1))
            term, terms = ", ".join(t for t in terms if t), []
            if term and len(content) == 1 and "\n" not in content[0] and not term.startswith("`"):
                yield f"- {term.rstrip(':')}: {content[0]}"
            else:
                yield from [term, *content] if term else content
    yield from terms


# --- tables ------------------------------------------------------------------------------------------------------


def _table(element: HtmlElement, depth: int) -> Iterator[str]:
    code = element.xpath('.//td[contains(@class, "code") or contains(@class, "gutter")]//pre')
    if code:
        yield code_block(code[-1])
        return
    for caption in element.iterchildren("caption"):
        yield from _paragraph(_inline(caption, depth, ""))
    rows = [row for row in element.xpath("./tr | ./thead/tr | ./tbody/tr | ./tfoot/tr") if not is_skipped(row)]
    if _is_layout(element, rows):
        for row in rows:
            for cell in row.iterchildren("td", "th"):
                if not is_skipped(cell):
                    yield from _blocks(cell, depth + 1)
        return
    grid = spread([_cells(row, depth) for row in rows])
    if any(any(row) for row in grid):
        yield markdown_table(grid)


def _is_layout(element: HtmlElement, rows: list[HtmlElement]) -> bool:
    """A table that arranges a page: one column, or cells that hold headings, code or several paragraphs."""
    if element.get("role") == "presentation" or max((len(row) for row in rows), default=0) < 2:
        return True
    return bool(element.xpath(".//h1 | .//h2 | .//h3 | .//pre | .//td[count(.//p) > 3]"))


def _cells(row: HtmlElement, depth: int) -> list[Cell]:
    return [
        Cell(_one_line(_cell_text(cell, depth + 1)), _span(cell, "colspan"), _span(cell, "rowspan"))
        for cell in row.iterchildren("td", "th")
        if not is_skipped(cell)
    ]


def _span(cell: HtmlElement, name: str) -> int:
    value = cell.get(name, "1").strip()
    return int(value) if value.isdecimal() and len(value) < 5 else 1


def _cell_text(cell: HtmlElement, depth: int) -> str:
    lists = cell.xpath(".//li | .//tr")
    if not lists:
        return _inline(cell, depth, "")
    own = _inline(cell, depth, "", stop=frozenset(("li", "tr")))
    return "; ".join(t for t in (_one_line(t) for t in (own, *(_inline(i, depth, "") for i in lists))) if t)


# --- inline ------------------------------------------------------------------------------------------------------


def _flowing(text: str | None) -> str:
    """Source text: a line end in it is a space, only ``<br>`` breaks a line."""
    return " ".join(text.split("\n")) if text else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _inline(element: HtmlElement, depth: int, before: str, stop: frozenset[str] = frozenset()) -> str:
    """The text of ``element`` and its inline markup; ``before`` is the text it follows."""
    if is_skipped(element) or element.tag in stop or _is_permalink(element):
        return ""
    write = _INLINE.get(element.tag)
    if write:
        return write(element, before)
    if element.tag in CODE:
        return _inline_code(element)
    if element.get("data-math-style"):
        mark = "$$" if element.get("data-math-style") == "display" else "$"
        return f"{mark}{element.text_content().strip()}{mark}"
    if depth > MAX_DEPTH:
        return str(element.text_content())
    text = _flowing(element.text)
    for child in element:
        text += _inline(child, depth + 1, text or before, stop) + _flowing(child.tail)
    return f" {text} " if element.tag in BLOCKS else text


def _is_permalink(element: HtmlElement) -> bool:
    if element.tag != "a":
        return False
    text = element.text_content().strip()
    return text in _SIGNS or (bool(_PERMALINK.search(element.get("class", ""))) and len(text) < 3)


def _inline_code(element: HtmlElement) -> str:
    text = _one_line(element.text_content())
    if not text:
        return ""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    mark = "`" * (longest + 1)
    return f"{mark} {text} {mark}" if longest else f"`{text}`"


def _superscript(element: HtmlElement, before: str) -> str:
    """A power keeps its sign of power (``10^6``, ``m^2``), so that no digits run together; ordinals stay (``20th``)."""
    text = _one_line(element.text_content())
    is_power = _POWER.match(text) and _BASE.search(before) and element.find(".//a") is None
    return f"^{text}" if is_power else text


def _math(element: HtmlElement, before: str) -> str:
    del before
    tex = element.xpath('.//*[local-name()="annotation"][contains(@encoding, "tex")]')
    if tex:
        return f"${tex[0].text_content().strip()}$"
    return _one_line(element.get("alttext") or element.text_content())


_INLINE: Final[dict[str, Callable[[HtmlElement, str], str]]] = {
    "br": lambda _element, _before: "\n",
    "wbr": lambda _element, _before: "",
    "img": lambda _element, _before: "",
    "hr": lambda _element, _before: "",
    "sup": _superscript,
    "math": _math,
}
_WRITERS: Final[dict[str, Callable[[HtmlElement, int], Iterator[str]]]] = {
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), _heading),
    "blockquote": _quote,
    "pre": lambda element, _depth: filter(None, [code_block(element)]),
    "ul": _list,
    "ol": _list,
    "menu": _list,
    "dl": _definitions,
    "table": _table,
}
