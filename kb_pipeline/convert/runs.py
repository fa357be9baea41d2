"""The text of an HTML tree in runs: inline content between two block boundaries. Knows not what is worth keeping."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kb_pipeline.convert.elements import is_block, is_skipped

if TYPE_CHECKING:
    from lxml.html import HtmlElement


@dataclass
class Run:
    """Inline content of ``block`` from ``after`` (a child; the start where ``None``) up to the next block.

    ``length`` counts its characters, ``mark`` is the letter that names it while it is marked.
    """

    block: HtmlElement
    after: HtmlElement | None
    inline: list[HtmlElement] = field(default_factory=list)
    length: int = 0
    mark: str = ""
    kept: bool = False

    def ancestry(self) -> Iterator[HtmlElement]:
        """The block and the elements around it, innermost first."""
        yield self.block
        yield from self.block.iterancestors()

    def put_mark(self, mark: str) -> None:
        """Write ``mark`` in front of every text node of the run: who keeps a part of it keeps the mark."""
        self.mark = mark
        if self.after is None:
            self.block.text = mark + (self.block.text or "")
        else:
            self.after.tail = mark + (self.after.tail or "")
        for element in self.inline:
            if (element.tail or "").strip():
                element.tail = mark + element.tail

    def clear_mark(self) -> None:
        """Undo ``put_mark``."""
        if self.after is None:
            self.block.text = (self.block.text or "").removeprefix(self.mark)
        else:
            self.after.tail = (self.after.tail or "").removeprefix(self.mark)
        for element in self.inline:
            element.tail = element.tail and element.tail.removeprefix(self.mark)

    def remove(self) -> None:
        """Take the run out of its tree."""
        if self.after is None:
            self.block.text = ""
        else:
            self.after.tail = ""
        for element in self.inline:
            self.block.remove(element)


def runs_of(root: HtmlElement) -> list[Run]:
    """All visible, non-blank runs under ``root`` in document order; a ``pre`` is one run."""
    return [run for run in _walk(root) if run.length]


def _walk(element: HtmlElement) -> Iterator[Run]:
    if element.tag == "pre":
        yield Run(element, None, list(element), _length(element.text_content()))
        return
    run = Run(element, None, length=_length(element.text))
    for child in element:
        if is_block(child):
            yield run
            if not is_skipped(child):
                yield from _walk(child)
            run = Run(element, child)
        else:
            run.inline.append(child)
            run.length += 0 if is_skipped(child) else _length(child.text_content())
        run.length += _length(child.tail)
    yield run


def _length(text: str | None) -> int:
    return len(text.strip()) if text else 0
