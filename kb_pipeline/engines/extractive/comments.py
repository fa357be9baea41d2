"""Comments and docstrings of source code, in any common language. Owns where they stand; refuses to parse the code."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_COMMENT = re.compile(
    r"""
      (?P<doc>(?P<quotes>\"{3}|'{3})(?P<body>.*?)(?P=quotes))
    | (?P<block>/\*+(?P<inner>.*?)\*+/)
    | (?P<lines>(?:^|(?<=\s))(?P<mark>\#(?![!\[])|//[/!]?|--(?=\s)|;;+)[^\n]*(?:\n[ \t]*(?P=mark)[^\n]*)*)
    | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_MARKS = re.compile(r"(?m)^[ \t]*(?:#+|//[/!]?|--|;;+|\*(?!\*))[ \t]?")
_DIRECTIVE = re.compile(
    r"\s*(?:noqa|type:|pragma|pylint|mypy:|ruff:|eslint|@ts-|region|endregion|coding[:=]|!/|vim:|-\*-)"
)
_TRAILING = re.compile(r"(?m)(?:#|//)\s*(?:noqa|type: ignore|pragma|pylint|nosec|NOLINT|eslint)\b.*$")
_DEFINITION = re.compile(
    r"(?:^|\n)[ \t]*(?:(?:async|export|public|private|protected|static|pub|default|final)\s+)*"
    r"(?P<what>def|class|function|func|fn|interface|struct|trait)\s+(?P<name>[\w.]+)\s*(?P<args>\([^()]*(?:\([^()]*\)[^()]*)*\))?"
)
_PARAGRAPH = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")


@dataclass(frozen=True, slots=True)
class Comment:
    """A paragraph of a comment: ``masked`` is its text with comment marks blanked, of the same length.

    ``name`` is ``function(arguments)`` or a class name on the first paragraph of what describes it.
    """

    start: int
    end: int
    masked: str
    name: str = ""


def comments(code: str) -> Iterator[Comment]:
    """Paragraphs of the comments and docstrings of ``code``, in order."""
    for m in _COMMENT.finditer(code):
        group = "body" if m["doc"] else "inner" if m["block"] else "lines" if m["lines"] else ""
        if not group or (m["doc"] and not _is_docstring(code, m.start())):
            continue
        name = _documented(code, m)
        for start, end in _paragraphs(m[group], m.start(group)):
            masked = code[start:end]
            for pattern in (_MARKS, _TRAILING):
                masked = pattern.sub(lambda mark: " " * len(mark.group()), masked)
            if masked.strip() and not _DIRECTIVE.match(masked):
                yield Comment(start, end, masked, name)
                name = ""


def _is_docstring(code: str, start: int) -> bool:
    """Whether the string at ``start`` stands alone as a statement; one that is a value is data."""
    before = code[:start].rstrip(" \trRbBuUfF")
    return not before or before[-1] in "\n:"


def _paragraphs(text: str, offset: int) -> Iterator[tuple[int, int]]:
    blanked = _MARKS.sub(lambda m: " " * len(m.group()), text)
    start = 0
    for gap in _PARAGRAPH.finditer(blanked):
        yield offset + start, offset + gap.start()
        start = gap.end()
    yield offset + start, offset + len(text)


def _documented(code: str, m: re.Match[str]) -> str:
    """What the comment describes: a docstring the definition above it, other comments the one right below."""
    if m["doc"]:
        above = list(_DEFINITION.finditer(code, max(0, m.start() - 600), m.start()))[-1:]
        found = next((d for d in above if re.fullmatch(r"[^\n]*:\s*[rRuU]?", code[d.end() : m.start()])), None)
    else:
        own_line = not code[code.rfind("\n", 0, m.start()) + 1 : m.start()].strip()
        found = _DEFINITION.match(code, m.end()) if own_line else None
    if not found:
        return ""
    arguments = (
        re.sub(r"\s+", " ", found["args"] or "").replace("( ", "(").replace(" )", ")")
        if found["what"] not in ("class", "struct", "interface")
        else ""
    )
    return f"{found['name']}{arguments}"
