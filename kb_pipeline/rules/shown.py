"""What of a quote is prose, what in it is written as code, and what code it shows below. Pure.

A quote may run on into a block of code below its sentence: fenced, or indented by four columns. Owns where such a block
begins and ends within a quote; refuses to know who quoted it, and for what.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import dedent

_FENCE = re.compile(r"(?P<indent>[ \t>]*)(?P<mark>`{3,}|~{3,})[ \t]*(?P<language>[\w+#.-]*)[^`]*$")
_INDENTED = re.compile(r"(?: {4}|\t)\s*\S")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)\s?(.+?)\s?(?<!`)\1(?!`)", re.DOTALL)
_QUOTED = re.compile(r"^[ \t]*(?:>[ \t]?)+")


@dataclass(frozen=True, slots=True)
class Code:
    """A block of code as it reads without its margin, and the language that its fence names, if any."""

    text: str
    language: str = ""


def prose(quote: str) -> str:
    """``quote`` up to the code below it; all of it where no sentence stands above any code."""
    if "\n" not in quote:
        return quote
    lines = quote.split("\n")
    first = next((n for n in range(1, len(lines)) if _begins(lines, n)), len(lines))
    return "\n".join(lines[:first]).rstrip()


def code(quote: str) -> tuple[Code, ...]:
    """The blocks of code below the sentence of ``quote``, in order."""
    above = prose(quote)
    lines = quote[len(above) :].strip("\n").split("\n") if len(above) < len(quote.rstrip()) else []
    found: list[Code] = []
    at = 0
    while at < len(lines):
        fence = _FENCE.match(lines[at])
        end = _end(lines, at, fence)
        if fence:
            found.append(Code(_text(lines[at + 1 : end], fence["indent"]), fence["language"].lower()))
        elif _INDENTED.match(lines[at]):
            found.append(Code(_text(lines[at:end], "")))
        at = end + bool(fence)
    return tuple(block for block in found if block.text)


def names(quote: str) -> dict[str, tuple[bool, ...]]:
    """What stands between backticks in the sentence of ``quote``, and for each time that it occurs there whether it
    does so as code: of ``the `client` of a client`` the first time alone."""
    if "`" not in quote:
        return {}
    told = prose(quote)
    spans = [m for m in _SPAN.finditer(told) if "`" not in m[2]]
    return {name: tuple(_as_code(name, told, spans)) for name in dict.fromkeys(_folded(m[2]) for m in spans)}


def whole(name: str) -> str:
    """A pattern of ``name`` where no letter or digit touches it."""
    return rf"(?<!\w){re.escape(name)}(?!\w)"


def _as_code(name: str, told: str, spans: Sequence[re.Match[str]]) -> Iterator[bool]:
    for found in re.finditer(whole(name).replace(r"\ ", r"\s+"), told):
        around = next((m for m in spans if m.start() < found.start() < m.end()), None)
        if around is None or _folded(around[2]) == name:
            yield around is not None


def _folded(text: str) -> str:
    return " ".join(text.split())


def _begins(lines: list[str], n: int) -> bool:
    return _FENCE.match(lines[n]) is not None or (not lines[n - 1].strip() and _INDENTED.match(lines[n]) is not None)


def _end(lines: list[str], at: int, fence: re.Match[str] | None) -> int:
    """The line behind the block, or the line, that begins at ``at``: the closing mark of a fence."""
    if fence:
        closing = (n for n in range(at + 1, len(lines)) if lines[n].strip(" \t>").startswith(fence["mark"]))
        return next(closing, len(lines))
    if _INDENTED.match(lines[at]):
        return next(
            (n for n in range(at, len(lines)) if lines[n].strip() and not _INDENTED.match(lines[n])), len(lines)
        )
    return at + 1


def _text(lines: list[str], indent: str) -> str:
    margin = [_QUOTED.sub("", line) if ">" in indent else line for line in lines]
    return dedent("\n".join(margin)).strip("\n").rstrip()
