"""Whether a cleaned text still says what the original says, and nothing else. Pure.

Owns what cleaning may do: whole lines may go, ``[UNREADABLE]`` may stand for a passage, words that a line break cut in
two may be joined, broken characters repaired. Refuses to know what boilerplate is: how much may go is bounded, and
headings, figures and code that stay are those of the original.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from kb_pipeline.rules.evidence import UNREADABLE

MOST_GONE = 0.5
"""Largest share of the words that may go: a page whose text is mostly navigation keeps its conversion."""

_FENCE = re.compile(r"^(?P<mark>`{3,}|~{3,}).*?^(?P=mark)[`~]*[ \t]*$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_SIGN = r"(?:[<>≤≥±~$€£]\s?|[-+−](?=\d))?"  # turns a figure into another one
_LETTER = r"(?:[^\W_]|\ufffd)"
_WORD = re.compile(rf"\[UNREADABLE\]|{_SIGN}{_LETTER}+(?:[.,:'’/_-]{_LETTER}+)*(?:\s?%)?")
_LOST = "\ufffd"  # what a decoder leaves of a letter that it cannot read
_FIGURE = re.compile(r"[<>≤≥±~$€£+−-]?\s?\d+(?:[.,]\d+)*\s?%?")
_APART = re.compile(r"[^\w\ufffd]+|_")


def unfaithful(original: str, cleaned: str) -> str:
    """Why ``cleaned`` may not stand for ``original``; empty where it may."""
    if not cleaned.strip():
        return "nothing is left"
    fences = _subsequence(_fences(cleaned), _fences(original))
    if fences or len(_fences(cleaned)) != len(_fences(original)):
        return "a code block is not as it was"
    headings = _subsequence(_HEADING.findall(_prose(cleaned)), _HEADING.findall(_prose(original)))
    if headings:
        return f"a heading is not as it was: {headings}"
    return _words_differ(_prose(original), _prose(cleaned))


def _fences(text: str) -> list[str]:
    return [m.group() for m in _FENCE.finditer(text)]


def _prose(text: str) -> str:
    return _FENCE.sub("", text)


def _subsequence(part: Sequence[str], whole: Sequence[str]) -> str:
    """The first of ``part`` that does not follow in ``whole``; empty where all do."""
    rest = iter(whole)
    return next((found for found in part if found not in rest), "")


def _words_differ(original: str, cleaned: str) -> str:
    """What was added, changed, or taken out of the middle of a line."""
    lines = list(_lines(original))
    before = [word for line in lines for word in line]
    after = _WORD.findall(cleaned)
    whole = _boundaries(lines)
    gone = 0
    matcher = SequenceMatcher(a=before, b=after, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            continue
        old, new = before[a:b], after[c:d]
        if not new:
            if a not in whole or b not in whole:
                return f"a part of a line is gone: {' '.join(old)[:80]}"
            gone += b - a
        elif set(new) == {UNREADABLE}:
            gone += b - a
        elif not _repaired(old, new):
            return f"it has what the original has not: {' '.join(new)[:80]}"
    return "too much is gone" if gone > MOST_GONE * len(before) else ""


def _lines(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        if words := _WORD.findall(line):
            yield words


def _boundaries(lines: Sequence[Sequence[str]]) -> set[int]:
    places, at = {0}, 0
    for line in lines:
        at += len(line)
        places.add(at)
    return places


def _repaired(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether new words are the old ones, joined or parted otherwise, with letters where some were lost."""
    ours, theirs = (_APART.sub("", _folded("".join(words))) for words in (old, new))
    if _FIGURE.findall(" ".join(old)) != _FIGURE.findall(" ".join(new)):
        return False
    if ours == theirs:
        return True
    return _LOST in ours and re.fullmatch(re.escape(ours).replace(_LOST, r"[^\W\d_]{0,2}"), theirs) is not None


def _folded(text: str) -> str:
    """Ligatures as their letters, without soft hyphens."""
    return unicodedata.normalize("NFKC", text).replace("\u00ad", "")
