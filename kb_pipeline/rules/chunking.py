"""A document → its chunks. Owns headings, Markdown's blocks and the chunk records; where a section is cut is
``splitting``'s to say, source code ``code_chunks``' and speakers ``transcripts``'.

Only the block parser of markdown-it-py runs: its line maps give the offsets, inline markup does not matter here.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from markdown_it import MarkdownIt
from markdown_it.token import Token

from kb_pipeline.errors import SettingsError
from kb_pipeline.records import Chunk, Document
from kb_pipeline.rules import code_chunks, transcripts
from kb_pipeline.rules.ids import digest
from kb_pipeline.rules.splitting import Block, Piece, Section, Sizes, split

# The parser drops the structure of what is nested deeper, and every level costs a stack frame and time: 40 is
# 20 levels of lists, twice the default, at which a deep list would swallow the headings after it.
_MARKDOWN = MarkdownIt("commonmark", {"maxNesting": 40}).enable("table")
_TITLE_MAX = 200
_PLAIN = re.compile(r"[^*_`\[\]<>\\&!{]*")
_ATTRIBUTES = re.compile(r"\s*\{[#:.][^{}]*\}\s*$")
_UNBROKEN = frozenset(("fence", "code_block"))
_FOLLOWING = _UNBROKEN | {"bullet_list", "ordered_list", "table"}
"""Blocks that belong to the words that introduce them: no chunk begins with one of its own accord."""


def chunk(document: Document, *, minimum: int, target: int, maximum: int) -> list[Chunk]:
    """Cut ``document`` into chunks of about ``target`` code points, in order.

    Every non-space character is in exactly one chunk, ``text == document.text[start:end]``, and white space alone
    lies between. A chunk is over ``maximum`` only where one fence is (up to ``splitting.WHOLE`` times), under
    ``minimum`` where its section is. An edit changes the chunks it touches and at most one neighbour; where a stretch
    had to be cut by force (``splitting``), also others of that stretch. Raises SettingsError unless ``0 < minimum <=
    target <= maximum``.
    """
    if not 0 < minimum <= target <= maximum:
        what = f"chunk sizes {minimum}, {target}, {maximum} are not in order."
        raise SettingsError(what, where="settings", cure="Set chunk_min <= chunk_target <= chunk_max, all above 0.")
    text, sizes = document.text, Sizes(minimum, target, maximum)
    made = [
        (section.path, trimmed)
        for section in _sections(document, sizes)
        for piece in split(text, section, sizes)
        if (trimmed := _trimmed(text, piece))
    ]
    return _records(document, made)


def _sections(document: Document, sizes: Sizes) -> Sequence[Section]:
    if document.meta.source_type == "code":
        return code_chunks.sections(document.text, document.meta.doc_id.rpartition("/")[2], sizes)
    sections = list(markdown_sections(document.text, sizes.maximum))
    if document.meta.source_type == "chat" or transcripts.is_transcript(document.text):
        return [transcripts.by_turns(document.text, section) for section in sections]
    return sections


def _trimmed(text: str, piece: Piece) -> Piece | None:
    """``piece`` without blank lines at its ends; the indent of its first line stays, since it may mean something."""
    end = piece.start + len(text[piece.start : piece.end].rstrip())
    if end <= piece.start:
        return None
    ink = end - len(text[piece.start : end].lstrip())
    start = max(piece.start, text.rfind("\n", piece.start, ink) + 1)
    return piece._replace(start=start, end=end)


def _records(document: Document, made: Sequence[tuple[tuple[str, ...], Piece]]) -> list[Chunk]:
    doc_id, text = document.meta.doc_id, document.text
    hashes = [digest(p.kind, *path, p.header, text[p.start : p.end]) for path, p in made]
    seen: Counter[str] = Counter()
    ids: list[str | None] = [None]
    for content in hashes:
        seen[content] += 1
        ids.append(f"ck_{digest(doc_id, content, str(seen[content]))[:12]}")
    ids.append(None)
    return [
        Chunk(
            id=ids[n] or "",
            doc_id=doc_id,
            hash=content,
            kind=piece.kind,
            heading=path,
            text=text[piece.start : piece.end],
            header=piece.header,
            start=piece.start,
            end=piece.end,
            previous=ids[n - 1],
            next=ids[n + 1],
        )
        for n, ((path, piece), content) in enumerate(zip(made, hashes, strict=True), start=1)
    ]


# --- sections ----------------------------------------------------------------------------------------------------


def markdown_sections(text: str, longest: int) -> Iterator[Section]:
    """The sections of ``text``, each with its heading path (empty before the first heading), titles as plain text.

    A heading stands in the first block of its section; one without a body goes with the next section, unless such a
    run of headings is over ``longest`` code points: then it is a section of its own.
    """
    path: tuple[tuple[int, str], ...] = ()
    blocks: list[Block] = []
    run: list[tuple[int, tuple[str, ...]]] = []
    for node in _nodes(text):
        if node.level:
            if blocks:
                yield Section(_titles(path), blocks, node.start)
                blocks = []
            path = (*(entry for entry in path if entry[0] < node.level), (node.level, node.title))
            run.append((node.start, _titles(path)))
            continue
        if run and node.start - run[0][0] > longest and len(run) > 1:
            yield _outline(run[:-1], run[-1][0])
            del run[:-1]
        blocks.append(replace(node.block, start=run[0][0]) if run else node.block)
        run = []
    if blocks:
        yield Section(_titles(path), blocks, len(text))
    elif run:
        yield _outline(run, len(text))


def _outline(run: Sequence[tuple[int, tuple[str, ...]]], end: int) -> Section:
    """Headings without any text: one alone has its own path, several the path that they share."""
    levels = zip(*(path for _, path in run), strict=False)
    shared = tuple(titles[0] for titles in takewhile(lambda titles: len(set(titles)) == 1, levels))
    return Section(shared, [Block(start) for start, _ in run], end)


def _titles(path: tuple[tuple[int, str], ...]) -> tuple[str, ...]:
    return tuple(title for _, title in path)


def _title(raw: str) -> str:
    """A heading's words without markup, on one line, cut at 200 code points."""
    raw = _ATTRIBUTES.sub("", " ".join(raw[: 2 * _TITLE_MAX].split()))
    if not _PLAIN.fullmatch(raw):
        children = _MARKDOWN.parseInline(raw)[0].children or []
        raw = " ".join("".join(_words(token) for token in children).split())
    return raw[:_TITLE_MAX]


def _words(token: Token) -> str:
    if token.type in {"text", "code_inline", "image", "text_special"}:
        return token.content
    return " " if token.type in {"softbreak", "hardbreak"} else ""


# --- Markdown's blocks -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Node:
    """A top-level block of Markdown; a heading has a ``level`` from 1 to 6 and a ``title``."""

    block: Block
    level: int = 0
    title: str = ""

    @property
    def start(self) -> int:
        return self.block.start


@dataclass(slots=True)
class _Open:
    """A block whose closing token is still to come."""

    token: Token
    children: list[Block] = field(default_factory=list)
    title: str = ""


def _nodes(text: str) -> Iterator[_Node]:
    """The top-level blocks in order; what the parser passes over in silence (link definitions) is a block too."""
    tokens: list[Token] = []
    _MARKDOWN.block.parse(text, _MARKDOWN, {}, tokens)
    lines = [0, *(m.end() for m in re.finditer("\n", text)), len(text)]
    done = 0
    for node, end in _top_level(text, tokens, lines):
        if text[done : node.start].strip():
            yield _Node(Block(done))
        yield node
        done = end
    if text[done:].strip():
        yield _Node(Block(done))


def _top_level(text: str, tokens: Sequence[Token], lines: Sequence[int]) -> Iterator[tuple[_Node, int]]:
    """Each top-level block with the offset of its end."""
    stack: list[_Open] = []
    for token in tokens:
        if token.nesting == 1:
            stack.append(_Open(token))
            continue
        if token.type == "inline":
            stack[-1].title = token.content
            continue
        closed = stack.pop() if token.nesting == -1 else _Open(token)
        kind = closed.token.type.removesuffix("_open")
        if stack:
            _adopt(stack[-1], text, kind, closed, lines)
            continue
        level = int(closed.token.tag[1]) if kind == "heading" else 0
        title = _title(closed.title) if level else ""
        yield _Node(_block(text, kind, closed, lines), level, title), lines[_lines_of(closed)[1]]


def _adopt(parent: _Open, text: str, kind: str, child: _Open, lines: Sequence[int]) -> None:
    """Cells are no blocks; a table's rows pass through its head and body to the table."""
    if kind in {"thead", "tbody"}:
        parent.children += child.children
    elif kind not in {"td", "th"}:
        parent.children.append(_block(text, kind, child, lines))


def _block(text: str, kind: str, closed: _Open, lines: Sequence[int]) -> Block:
    start = lines[_lines_of(closed)[0]]
    if kind == "table":
        return _table(text, start, closed.children[1:])
    return Block(start, opens=kind not in _FOLLOWING, whole=kind in _UNBROKEN, children=tuple(closed.children))


def _table(text: str, start: int, rows: Sequence[Block]) -> Block:
    """A table that repeats its header and delimiter rows with every piece but the first."""
    header = text[start : rows[0].start].rstrip() if rows else ""
    first = Block(start, kind="table")
    later = (replace(row, kind="table", header=header) for row in rows[1:])
    return Block(start, kind="table", opens=False, children=(first, *later))


def _lines_of(closed: _Open) -> tuple[int, int]:
    first, last = closed.token.map or (0, 0)
    return first, last
