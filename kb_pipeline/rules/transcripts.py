"""Conversations: where a speaker's turn begins. Owns the forms of a turn's first line; refuses to read what is said."""

import re
from collections import Counter

from kb_pipeline.rules.splitting import Block, Section

_TIME = r"[\[(]?\d[\d:/.,\-T ]{2,30}(?:[AaPp]\.?[Mm]\.?)?Z?[\])]?[ \t]+(?:-[ \t]+)?"
_NAME = r"@?\w[\w.'’\-]{0,40}(?:[ \t][\w.'’\-]{1,40}){0,3}"
_ASIDE = r"(?:[ \t]?[\[(][^\])\n]{1,60}[\])])?"
_SPEAKER = rf"(?P<bold>\*\*|__)?(?P<name>{_NAME}){_ASIDE}(?:\*\*|__)?{_ASIDE}:(?:\*\*|__)?(?=\s)"
_NICK = rf"{_TIME}<(?P<nick>[^<>\s]{{1,40}})>(?=\s)"
_TURN = re.compile(rf"^[ \t]*(?:(?P<time>{_TIME})?{_SPEAKER}|{_NICK})", re.MULTILINE)
"""``Name: …``, ``[time] Name: …``, ``Name (time): …``, ``**Name:** …``, ``time <nick> …`` at the start of a line."""

_LINE = re.compile(r"^.*\S", re.MULTILINE)
_FEWEST_TURNS = 4
_SHARE = 0.6


def is_transcript(text: str) -> bool:
    """Whether most lines of ``text`` begin a turn, by at least two speakers who speak twice or more on average.

    A name in lower case without a time or emphasis is taken for a key (``fix: …``), not for a speaker.
    """
    turns = [m for m in _TURN.finditer(text) if _is_speaker(m)]
    if len(turns) < _FEWEST_TURNS:
        return False
    speakers = Counter(m["name"] or m["nick"] for m in turns)
    lines = sum(1 for _ in _LINE.finditer(text))
    return len(turns) >= _SHARE * lines and 2 <= len(speakers) <= len(turns) / 2


def _is_speaker(turn: re.Match[str]) -> bool:
    name = turn["name"]
    return not name or bool(turn["time"] or turn["bold"]) or name[0] == "@" or not name[0].islower()


def by_turns(text: str, section: Section) -> Section:
    """``section`` with its turns as blocks; a line inside a fence begins none, what precedes the first is kept."""
    starts: list[int] = []
    ends = [*(block.start for block in section.blocks[1:]), section.end]
    for block, end in zip(section.blocks, ends, strict=True):
        if not block.whole:
            starts += (m.start() for m in _TURN.finditer(text, block.start, end))
    if not starts:
        return section
    begin = section.blocks[0].start
    preface = [begin] if text[begin : starts[0]].strip() else []
    turns = [Block(start, kind="transcript") for start in starts]
    if preface:
        return Section(section.path, [Block(begin, kind="transcript", opens=False), *turns], section.end)
    return Section(section.path, turns, section.end)
