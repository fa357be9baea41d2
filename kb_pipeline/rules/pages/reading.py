"""A page read back: which lines state something, and what each of them cites. Pure."""

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from kb_pipeline.rules.pages.markdown import plain
from kb_pipeline.rules.pages.merging import BY_HAND, line_hashes, split
from kb_pipeline.rules.pages.rendering import AND_CODE, BACKLINKS, OURS, RELATED, SOURCES

_CITE = re.compile(r"\[\^(kb_[0-9a-f]+)\](?!:)")
_FOOT = re.compile(r"^\[\^([\w-]+)\]:\s?(.*)$")
_POINT = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")
_LINK = re.compile(r"(?<!\\)\[(?:\\.|[^\[\]\\])*\]\(([^()\s]+)\)")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_LISTS = {RELATED, BACKLINKS, SOURCES}


@dataclass(frozen=True)
class Line:
    """One line of a page: ``section`` is the second-level heading above it, ``ours`` whether the machine writes there.

    ``kind``: ``sentence``, ``lead`` (in to a list), ``foot`` (``label`` is the footnote's), ``heading``, ``link``,
    ``code`` (a line of a block of code, or one of its marks).
    ``raw`` is the line as it stands.
    """

    kind: str
    text: str
    section: str = ""
    ours: bool = True
    cites: tuple[str, ...] = ()
    label: str = ""
    raw: str = ""
    by_hand: bool = False


def read(text: str) -> Iterator[Line]:
    """The lines of a page in order, without the front matter and blank ones."""
    lines = [line for line in split(text)[1].splitlines() if line.strip()]
    section, fence = "", ""
    for n, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence or mark:
            yield Line("code", line, section, section in OURS or not section, raw=line)
            closes = mark and mark[1].startswith(fence) and line.strip() == mark[1]
            fence = (mark[1] if mark and not fence else "") if closes or not fence else fence
            continue
        if line.startswith("#"):
            section = line[3:].strip() if line.startswith("## ") else section
            yield Line("heading", line.lstrip("#").strip(), section, section in OURS or not section, raw=line)
            continue
        ours = section in OURS or not section
        foot = _FOOT.match(line)
        if foot:
            yield Line("foot", foot[2], section, ours, label=foot[1], raw=line)
            continue
        following = lines[n + 1] if n + 1 < len(lines) else ""
        lead = line.endswith(":") and not _CITE.search(line) and bool(_POINT.match(following))
        kind = "link" if section in _LISTS else "lead" if lead else "sentence"
        said = _POINT.sub("", _CITE.sub("", line).replace(BY_HAND, ""), count=1).strip()
        yield Line(kind, said, section, ours, tuple(_CITE.findall(line)), raw=line, by_hand=BY_HAND in line)


def likely_base(text: str) -> tuple[str, ...]:
    """The hashes of the lines that the machine will have rendered, where that is not on record: of sentences those that
    stand in the quotes of their own footnotes, of code what stands below such a sentence."""
    feet = {line.label: line.text for line in read(text) if line.kind == "foot"}
    foreign: set[str] = set()
    shows = False
    for line in read(text):
        quotes = [feet.get(key, "") for key in line.cites]
        shows = any(AND_CODE in quote for quote in quotes) or (shows and line.kind == "code")
        told = any(_bare(line.text).rstrip(".…:") in _bare(quote) for quote in quotes)
        unproven = (line.kind == "sentence" and not told) or (line.kind == "code" and not shows)
        if unproven or line.by_hand or not line.ours:
            foreign.add(line.raw)
    return line_hashes("\n".join(line for line in text.splitlines() if line not in foreign))


def _bare(text: str) -> str:
    return re.sub(r"[`\\*_\s]", "", text)


def places_of(lines: Iterable[Line], path: str) -> dict[str, str]:
    """Where the relative links of the machine's lines on the page at ``path`` lead: each target, without what stands
    behind ``#``, and its place below ``kb/``."""
    folder = posixpath.join("wiki", posixpath.dirname(path))
    found = [target for line in lines if line.ours and not line.by_hand for target in _LINK.findall(line.text)]
    targets = [target.partition("#")[0] for target in found if "://" not in target and not target.startswith("#")]
    return {target: unquote(posixpath.normpath(posixpath.join(folder, target))) for target in targets}


def leads(place: str, paths: Collection[str], documents: Collection[str]) -> bool:
    """Whether a page of ``paths`` or one of ``documents`` stands at ``place`` below ``kb/``."""
    if place.startswith("normalized/"):
        return place.removeprefix("normalized/").removesuffix(".md") in documents
    return place.removeprefix("wiki/") in paths


def words_of(text: str) -> str:
    """What a page says, as plain text: headings and sentences, a blank line apart, without footnotes and lists of
    links."""
    lines = (line for line in read(text) if line.kind in {"sentence", "lead", "heading"} and line.section not in _LISTS)
    return "\n\n".join(plain(line.text) for line in lines)
