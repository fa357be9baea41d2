"""What differs between a page as it was and as it is: sentences that came, went or were worded otherwise. Pure.

What is kept of a page that was is its words, as ``reading.words_of`` has them: headings and sentences without a mark of
which is which. A heading is told by being one now, or by being one of its documents'.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from kb_pipeline.records import Piece
from kb_pipeline.rules.pages.markdown import plain
from kb_pipeline.rules.pages.reading import Line, read, words_of
from kb_pipeline.rules.pages.rendering import OURS

_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_ENDS = " .:…"
_ALIKE, _ALIKE_ELSEWHERE = 0.6, 0.8
"""Of the words of the longer of two sentences: from this share on one is a rewording of the other, below the same
headings or not."""


@dataclass(frozen=True)
class Said:
    """A sentence of a page: ``section`` are the headings above it, ``cites`` the items of its footnotes."""

    text: str
    section: tuple[str, ...] = ()
    cites: tuple[str, ...] = ()
    by_hand: bool = False

    @property
    def words(self) -> str:
        """What it says, however it ends: a list, or code, below it makes a colon of a full stop."""
        return self.text.rstrip(_ENDS)


@dataclass(frozen=True)
class Difference:
    """A sentence as it was and as it is; None where it was, or is, not there."""

    before: Said | None
    now: Said | None


def said_now(text: str) -> list[Said]:
    """The sentences of a page's file, in order."""
    lines = [(plain(line.text), line) for line in read(text) if line.kind != "foot"]
    found: list[Said] = []
    section: tuple[str, ...] = ()
    at = 0
    for unit in _units(words_of(text)):
        here = next((n for n in range(at, len(lines)) if lines[n][0] == unit), None)
        line = lines[here][1] if here is not None else Line("sentence", unit)
        at = here + 1 if here is not None else at
        if line.kind == "heading":
            section = _below(section, unit, inner=not line.raw.startswith("## "), top=line.raw.startswith("# "))
        else:
            found.append(Said(unit, section, line.cites, line.by_hand or not line.ours))
    return found


def headings_of(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The headings of a page's file: those of the second level, and those below them."""
    found = [(plain(line.text), line.raw) for line in read(text) if line.kind == "heading"]
    outer = frozenset(words for words, raw in found if raw.startswith("## "))
    return outer, frozenset(words for words, raw in found if raw.startswith("###"))


def said_then(words: str, title: str, now: str, headings: Collection[str]) -> list[Said]:
    """The sentences of a page that was called ``title``, in order. ``now`` is its file as it stands (empty where there
    is none), ``headings`` are those of its documents."""
    outer, inner = headings_of(now)
    stated = {said.text for said in said_now(now)}
    outer, inner = outer | OURS, (inner | frozenset(headings)) - stated
    found: list[Said] = []
    section: tuple[str, ...] = ()
    for n, unit in enumerate(_units(words)):
        if n == 0 and unit == title:
            continue
        if unit in outer or unit in inner:
            section = _below(section, unit, inner=unit not in outer)
        else:
            found.append(Said(unit, section))
    return found


def _units(words: str) -> Iterator[str]:
    return (unit for unit in words.split("\n\n") if unit.strip())


def _below(section: tuple[str, ...], heading: str, *, inner: bool, top: bool = False) -> tuple[str, ...]:
    """The headings above what follows a heading."""
    if top:
        return ()
    return (*section[:1], heading) if inner else (heading,)


def compared(then: Sequence[Said], now: Sequence[Said]) -> tuple[list[Difference], int]:
    """What differs, in the order of the page as it is, what went after what it followed; and how many sentences stand
    elsewhere on it, word for word."""
    matcher = SequenceMatcher(None, [one.words for one in then], [one.words for one in now], autojunk=False)
    blocks = matcher.get_matching_blocks()
    places = {block.a + n: block.b + n for block in blocks for n in range(block.size)}
    gone = [a for a in range(len(then)) if a not in places]
    come = sorted(set(range(len(now))) - set(places.values()))
    shifted = dict(_shifted(then, now, gone, come))
    gone, come = [a for a in gone if a not in shifted], [b for b in come if b not in shifted.values()]
    reworded = dict(_reworded(then, now, gone, come))
    places |= reworded
    came = set(come) - set(reworded.values())
    found = [(b, 0, Difference(None, now[b])) for b in came]
    found += [(b, 0, Difference(then[a], now[b])) for a, b in reworded.items()]
    behind = -1
    for a in range(len(then)):
        behind = places.get(a, behind)
        if a not in places and a not in shifted:
            found.append((behind, a + 1, Difference(then[a], None)))
    return [difference for *_, difference in sorted(found, key=lambda one: one[:2])], len(shifted)


def _shifted(
    then: Sequence[Said], now: Sequence[Said], gone: Sequence[int], come: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Places of sentences that went from one place and came to another."""
    places: dict[str, list[int]] = {}
    for b in come:
        places.setdefault(now[b].words, []).append(b)
    for a in gone:
        if waiting := places.get(then[a].words):
            yield a, waiting.pop(0)


def _reworded(
    then: Sequence[Said], now: Sequence[Said], gone: Sequence[int], come: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Places of two wordings of one sentence, the likest first; each serves one."""
    words = {text: set(_WORD.findall(text.casefold())) for text in [then[a].text for a in gone]}
    words |= {text: set(_WORD.findall(text.casefold())) for text in [now[b].text for b in come]}
    pairs = [(_share(words[then[a].text], words[now[b].text]), a, b) for a in gone for b in come]
    left, right = set(gone), set(come)
    for share, a, b in sorted(pairs, key=lambda pair: (-pair[0], abs(pair[1] - pair[2]), pair[1])):
        alike = _ALIKE if then[a].section == now[b].section else _ALIKE_ELSEWHERE
        if share >= alike and a in left and b in right:
            left.remove(a)
            right.remove(b)
            yield a, b


def _share(a: Collection[str], b: Collection[str]) -> float:
    return len(set(a) & set(b)) / max(1, len(a), len(b))


def pieces(before: str, now: str) -> tuple[Piece, ...]:
    """A changed sentence word by word: what went stands before what came in its place. White space between two changed
    words changes with them, so that words are read together."""
    a, b = _TOKEN.findall(before), _TOKEN.findall(now)
    found: list[tuple[str, str]] = []
    gone = come = ""
    for kind, i, to_i, j, to_j in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        old, new = "".join(a[i:to_i]), "".join(b[j:to_j])
        if kind != "equal" or (not old.strip() and (gone or come) and to_i < len(a) and to_j < len(b)):
            gone, come = gone + old, come + new
            continue
        found += [("removed", gone), ("added", come), ("same", old)]
        gone = come = ""
    found += [("removed", gone), ("added", come)]
    return tuple(Piece(kind=kind, text=text) for kind, text in found if text)
