"""A document's Markdown as HTML that cannot act, with the places of its items marked.

Whatever a document says is text: HTML in it is escaped, links lead to web addresses alone, pictures become their
description, so that nothing is fetched. Marks travel through the renderer as private characters, which are turned into
elements around runs of text only, so that they nest with whatever stands between them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from kb_pipeline.records import Brief

_FIRST, _MOST, _END = 0xE100, 0xF00, "\ue001"
"""A place begins with the private character of its number and ends with one that all share."""
_PRIVATE = re.compile("[\ue000-\uf8ff]|%EE%[0-9A-F]{2}%[0-9A-F]{2}")
_PIECES = re.compile("(<[^>]*>|[\ue000-\uf8ff])")
_LEADING = re.compile(r"[\s#>|*+\-]*(?:\d{1,9}[.)]\s+)?")
_TRAILING = re.compile(r"[\s|]*$")
_SCHEMES = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_WITHIN = re.compile(rf"{_SCHEMES.pattern}|/(?:wiki|documents|items)/", re.IGNORECASE)
PART = 60_000
"""Characters shown at once: a longer document comes in parts, each rendered within some 100 ms."""


@dataclass(frozen=True)
class Place:
    """Where one or more items stand in a document."""

    start: int
    end: int
    items: tuple[Brief, ...]


@dataclass(frozen=True)
class Part:
    """A part of a document: ``html`` of its characters from ``start`` to ``end``, with the ``places`` in it."""

    start: int
    end: int
    html: str
    places: tuple[Place, ...]


def part(text: str, items: Sequence[Brief], at: int = 0) -> Part:
    """The part of ``text`` that holds character ``at``, with those of ``items`` marked that begin in it."""
    start, end = next((s, e) for s, e in _parts(text) if at < e or e == len(text))
    there = places([brief for brief in items if start <= brief.start < end])
    return Part(start, end, _marked(text[start:end], there, start), tuple(there))


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """Where a document is cut: at the last blank line, or end of line, before a part would grow too long."""
    start = 0
    while len(text) - start > PART:
        cut = text.rfind("\n\n", start + 1, start + PART)
        cut = cut if cut > start else text.rfind("\n", start + 1, start + PART)
        cut = cut if cut > start else start + PART
        yield start, cut
        start = cut
    yield start, len(text)


def places(items: Sequence[Brief]) -> list[Place]:
    """Items whose quotes overlap share a place."""
    found: list[Place] = []
    for brief in sorted(items, key=lambda b: (b.start, b.end)):
        if brief.start >= brief.end:
            continue
        if found and brief.start < found[-1].end:
            last = found.pop()
            found.append(Place(last.start, max(last.end, brief.end), (*last.items, brief)))
        else:
            found.append(Place(brief.start, brief.end, (brief,)))
    return found


def _marked(text: str, there: Sequence[Place], offset: int) -> str:
    """HTML of ``text``, which begins at ``offset`` of its document."""
    pieces, last = [], 0
    plain = unmarked(text)
    for number, place in enumerate(there[:_MOST]):
        start, end = place.start - offset, min(place.end - offset, len(plain))
        quoted = plain[start:end]
        lead = _LEADING.match(quoted)
        start += lead.end() if lead and lead.end() < len(quoted) else 0
        trail = _TRAILING.search(plain[start:end])
        end -= len(trail[0]) if trail else 0
        pieces += [plain[last:start], chr(_FIRST + number), plain[start:end], _END]
        last = max(end, last)
    pieces.append(plain[last:])
    return "".join(_wrapped(_RENDERER.render("".join(pieces)), there))


def _wrapped(html: str, there: Sequence[Place]) -> Iterator[str]:
    """``html`` with its marks as elements; each run of text between two tags gets one of its own."""
    number, inside = 0, False
    for piece in _PIECES.split(html):
        if len(piece) == 1 and _FIRST <= ord(piece) < _FIRST + len(there):
            number, inside = ord(piece) - _FIRST, True
            yield "".join(f'<span class="at" id="at-{escape(b.id)}"></span>' for b in there[number].items)
        elif piece == _END:
            inside = False
            yield f'<sup class="pin" data-place="{number}">{_pins(there[number].items)}</sup>'
        elif piece.startswith("<") and piece.endswith(">"):
            yield _PRIVATE.sub("", piece)
        elif piece.strip() and inside:
            yield f'<mark data-place="{number}">{piece}</mark>'
        else:
            yield piece


def _pins(items: Sequence[Brief]) -> str:
    return "".join(
        f'<a href="/items/{escape(b.id)}" aria-label="Item: {escape(b.statement)}" title="{escape(b.statement)}"'
        f"{'' if b.status == 'active' else ' class=gone'}>●</a>"
        for b in items
    )


def rendered(text: str) -> str:
    """HTML of a short text without marks."""
    return _PRIVATE.sub("", str(_RENDERER.render(unmarked(text))))


def unmarked(text: str) -> str:
    """``text`` without the characters that marks are made of."""
    return _PRIVATE.sub("\ufffd", text)


def mark(number: int) -> str:
    """What stands for the mark of that number until it is rendered."""
    return chr(_FIRST + number) if number < _MOST else ""


def with_marks(text: str, marks: Sequence[str]) -> str:
    """HTML of a page of ours, whose links may lead within this server, with each mark as the HTML given for it."""
    pieces = _PIECES.split(_INNER.render(text))
    shown = (marks[ord(p) - _FIRST] if len(p) == 1 and 0 <= ord(p) - _FIRST < len(marks) else p for p in pieces)
    return "".join(_PRIVATE.sub("", piece) for piece in shown)


def _image(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    """A picture's description, never its address."""
    shown = self.renderInlineAsText(tokens[at].children or [], options, env)
    return f'<span class="picture">{escape(shown) or "picture"}</span>'


def _link(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    tokens[at].attrSet("rel", "noopener noreferrer nofollow")
    return self.renderToken(tokens, at, options, env)


def _renderer(leads: re.Pattern[str]) -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
    markdown.validateLink = lambda url: leads.match(url) is not None  # type: ignore[method-assign]
    markdown.add_render_rule("image", _image)
    markdown.add_render_rule("link_open", _link)
    return markdown


_RENDERER, _INNER = _renderer(_SCHEMES), _renderer(_WITHIN)
