"""The blocks of a chunk: paragraphs, list items, table rows, fences. Owns where prose stands; refuses to read it.

A line-by-line reader rather than a Markdown parser: it needs offsets into the chunk, and a chunk may begin anywhere.
Source code gives its comments and docstrings as blocks, a transcript its turns.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from kb_pipeline.engines.extractive.comments import comments
from kb_pipeline.records import Chunk

BlockKind = Literal["paragraph", "bullet", "row", "heading", "fence", "turn", "comment"]

_FENCE = re.compile(r"[ \t>]*(?P<mark>`{3,}|~{3,})\s*(?P<info>[^`\n]*)")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})\s*$")
_RULE = re.compile(
    r" {0,3}(?:[-*_]\s*){3,}$|\s*<!--.*?-->\s*$|\s*\[[^\]]+\]:\s*\S+.*$|\s*(?:!!!|\?\?\?\+?|:::|===)(?:\s|$)"
)
_BULLET = re.compile(
    r"(?P<indent>[ \t>]*)(?:[-*+•‣◦–]|\(?\d{1,3}[.)]|[a-zA-Z][)]|:(?=\s{1,3}\S))\s+(?:\[[ xX]\]\s+)?(?=\S)"
)
_QUOTE = re.compile(r"(?m)^[ \t]*(?:>[ \t]?)+(?:\[![A-Z]+\][ \t]*)?")
_TAG = re.compile(
    r"</?(?:div|p|h[1-6]|[uod]l|li|dt|dd|table|t[rhd]|br|hr|section|center|details|summary|img|picture|source|"
    r"pre)\b[^<>]*>",
    re.IGNORECASE,
)
_DELIMITER = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_INDENTED = re.compile(r"(?: {4}|\t)")
_TURN = re.compile(
    r"\s*(?:[\[(]?\d[\d:/.\- ,T]*(?:[AaPp][Mm])?[\])]?\s+)?(?:\*\*)?[\w.@'’ "
    r"-]{1,40}?(?:\*\*)?(?:\s[\[(][^\])]*[\])])?:(?:\*\*)?\s+"
)


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a chunk: ``masked`` is ``chunk.text[start:end]`` with line markers blanked, of the same length.

    ``indent`` is the column of a list item; ``header`` the cells above a table row; ``name`` the function that a
    docstring describes.
    """

    kind: BlockKind
    start: int
    end: int
    masked: str
    indent: int = 0
    header: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def blank(self) -> bool:
        return not self.text.strip(" \t>")


def read(chunk: Chunk) -> list[Block]:
    """The blocks of ``chunk`` in order; what is in none is structure (rules, markers, delimiters)."""
    if chunk.kind == "code":
        return [Block("comment", c.start, c.end, c.masked, name=c.name) for c in comments(chunk.text)]
    if chunk.kind == "transcript":
        return list(_turns(chunk.text))
    return list(_Reader(chunk).blocks())


def cells(row: str) -> tuple[str, ...]:
    """The cells of a table row; a bar that is escaped or in a code span divides nothing."""
    inner = row.strip().strip("|")
    return tuple(c.strip() for c in re.split(r"(?<!\\)\|(?=(?:[^`]*`[^`]*`)*[^`]*$)", inner))


def _lines(text: str) -> list[_Line]:
    lines, start = [], 0
    for line in text.split("\n"):
        lines.append(_Line(start, line))
        start += len(line) + 1
    return lines


def _masked(text: str, start: int, end: int) -> str:
    piece = text[start:end]
    return _QUOTE.sub(lambda m: " " * len(m.group()), piece) if ">" in piece else piece


def _turns(text: str) -> Iterator[Block]:
    for line in _lines(text):
        speaker = _TURN.match(line.text)
        start = line.start + (speaker.end() if speaker else 0)
        if text[start : line.end].strip():
            yield Block("turn", start, line.end, _masked(text, start, line.end))


class _Reader:
    """Reads one Markdown text line by line; ``at`` is the next line."""

    def __init__(self, chunk: Chunk) -> None:
        self.text = chunk.text
        self.lines = _lines(chunk.text)
        self.header = cells(chunk.header.strip().split("\n")[0]) if chunk.header.strip() else ()
        self.in_list = False
        self.at = 0

    def blocks(self) -> Iterator[Block]:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.blank or _RULE.match(line.text):
                self.at += 1
                self.in_list &= line.blank
            elif _FENCE.match(line.text):
                yield self._fence(line)
            elif _HEADING.match(line.text):
                self.at += 1
                self.in_list, self.header = False, ()
                yield Block("heading", line.start, line.end, line.text)
            elif self._is_table(line):
                yield from self._table()
            elif bullet := _BULLET.match(line.text):
                self.in_list = True
                yield from self._prose("bullet", line.start + bullet.end(), len(bullet["indent"].expandtabs(4)))
            elif _INDENTED.match(line.text) and not self.in_list and not self._is_admonition():
                yield self._indented()
            else:
                self.in_list &= line.text[:1] in " \t"
                yield from self._prose("paragraph", line.start, 0)

    def _fence(self, line: _Line) -> Block:
        mark = _FENCE.match(line.text)["mark"]  # type: ignore[index]
        first = self.at + 1
        self.at = first
        while self.at < len(self.lines) and not self.lines[self.at].text.strip(" \t>").startswith(mark):
            self.at += 1
        last = min(self.at, len(self.lines))
        self.at += 1
        if first >= last:
            return Block("fence", line.end, line.end, "")
        start, end = self.lines[first].start, self.lines[last - 1].end
        return Block("fence", start, end, _masked(self.text, start, end))

    def _indented(self) -> Block:
        first = self.at
        while self.at < len(self.lines) and (_INDENTED.match(self.lines[self.at].text) or self.lines[self.at].blank):
            self.at += 1
        start, end = self.lines[first].start, self.lines[self.at - 1].end
        return Block("fence", start, end, self.text[start:end])

    def _is_admonition(self) -> bool:
        """Whether the indented line belongs to a ``!!! note`` above it: prose, not code."""
        for line in reversed(self.lines[: self.at]):
            if not line.blank and not _INDENTED.match(line.text):
                return bool(re.match(r"\s*(?:!!!|\?\?\?\+?|===|\[\^)", line.text))
        return False

    def _is_table(self, line: _Line) -> bool:
        if "|" not in line.text:
            return False
        following = self.lines[self.at + 1].text if self.at + 1 < len(self.lines) else ""
        delimited = "|" in following and _DELIMITER.match(following) is not None
        return delimited or bool(self.header) or line.text.lstrip().startswith("|") or bool(_DELIMITER.match(line.text))

    def _table(self) -> Iterator[Block]:
        header = self.header
        while self.at < len(self.lines) and "|" in self.lines[self.at].text:
            line = self.lines[self.at]
            following = self.lines[self.at + 1].text if self.at + 1 < len(self.lines) else ""
            self.at += 1
            if _DELIMITER.match(line.text):
                continue
            if "|" in following and _DELIMITER.match(following):
                header = cells(_masked(self.text, line.start, line.end))
                continue
            yield Block("row", line.start, line.end, _masked(self.text, line.start, line.end), header=header)

    def _prose(self, kind: Literal["paragraph", "bullet"], start: int, indent: int) -> Iterator[Block]:
        self.at += 1
        while self.at < len(self.lines) and self._continues():
            self.at += 1
        end = self.lines[self.at - 1].end
        if kind == "paragraph" and self.at < len(self.lines) and _UNDERLINE.match(self.lines[self.at].text):
            self.at += 1
            yield Block("heading", start, end, self.text[start:end])
            return
        for tag in [*_TAG.finditer(self.text, start, end), None]:
            stop = tag.start() if tag else end
            if self.text[start:stop].strip():
                yield Block(kind, start, stop, _masked(self.text, start, stop), indent)
            start = tag.end() if tag else end

    def _continues(self) -> bool:
        """Whether the next line belongs to the paragraph or list item above it."""
        line, above = self.lines[self.at], self.lines[self.at - 1].text
        if line.blank or _UNDERLINE.match(line.text) or _RULE.match(line.text):
            return False
        if any(pattern.match(line.text) for pattern in (_FENCE, _HEADING, _BULLET)) or self._is_table(line):
            return False
        hard_break = above.endswith(("  ", "\\")) and not line.text.lstrip()[:1].islower()
        return not hard_break
