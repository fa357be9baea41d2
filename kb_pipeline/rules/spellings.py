"""What two texts write in two ways and code can tell to be one: abbreviations and compounds. Pure.

Owns folding ``Domain Name System`` to ``DNS``, ``Kubernetes`` to ``k8s`` and ``data base`` to ``database`` where one
text has the one and the other text the other. Needs both texts, no table: the letters must agree. Refuses to compare.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise, starmap

import Stemmer

from kb_pipeline.rules.words import FUNCTION_WORDS

_ABBREVIATION = re.compile(r"(?<![\w-])[A-Z]{2,6}(?=s?(?![\w-]))")
_NUMERONYM = re.compile(r"(?<![\w-])([a-z])(\d{1,2})([a-z])(?![\w-])")
_WORD = re.compile(r"[A-Za-z]+")
_PAIR = re.compile(r"(?<![A-Za-z])([A-Za-z]+)(?=[ -]([A-Za-z]+))")
_NAMES = frozenset({"US", "UK", "EU", "IT", "AM", "PM"})
_APART = (" ", "-")
_stem: Callable[[str], str] = Stemmer.Stemmer("english", 0).stemWord
_known_stem = lru_cache(maxsize=1 << 15)(_stem)  # of words, which recur; what two make together hardly does

Span = tuple[int, int, str]
"""Where a text is to be written otherwise, and how."""


def levelled(a: str, b: str) -> tuple[str, str]:
    """Both texts, each with what the other abbreviates or joins written as it is there."""
    return _written(a, b), _written(b, a)


def _written(text: str, other: str) -> str:
    spans = [*_abbreviated(text, other), *_joined(text, other), *_numbered(text, other)]
    if not spans:
        return text
    parts, end = [], 0
    for start, stop, written in sorted(spans):
        if start >= end:
            parts += [text[end:start], written]
            end = stop
    return "".join((*parts, text[end:]))


def _abbreviated(text: str, other: str) -> list[Span]:
    """Runs of words whose initials are an abbreviation that only the other text has; ``of`` and the like between them
    may have no letter in it."""
    shorts = _abbreviations(other)
    words = list(_WORD.finditer(text)) if shorts else []
    found = []
    for short in sorted(shorts - {m.group() for m in words}):
        for at in range(len(words)):
            run = _initials(words[at:], short)
            if run and all(text[a.end() : b.start()] in _APART for a, b in pairwise(run)):
                found.append((run[0].start(), run[-1].end(), short))
    return found


@lru_cache(maxsize=1 << 14)
def _abbreviations(text: str) -> frozenset[str]:
    return frozenset(_ABBREVIATION.findall(text)) - _NAMES


def _initials(words: list[re.Match[str]], short: str) -> list[re.Match[str]]:
    """The first words, as many as it takes, if their initials are ``short``; else none."""
    left = short.lower()
    run: list[re.Match[str]] = []
    for word in words:
        low = word.group().lower()
        if not left:
            break
        if low[0] == left[0] and (low not in FUNCTION_WORDS or run):
            left = left[1:]
        elif not run or low not in FUNCTION_WORDS:
            return []
        run.append(word)
    return run if not left and run and run[-1].group().lower() not in FUNCTION_WORDS else []


def _joined(text: str, other: str) -> list[Span]:
    """Two words that the other text has as one and this one has not."""
    whole = _stems(other)
    found = whole.keys() & _compounds(text)
    pairs = _PAIR.finditer(text) if found else ()
    return [(m.start(), m.end(2), whole[stem]) for m in pairs if (stem := _compound(*m.groups())) in found]


@lru_cache(maxsize=1 << 14)
def _stems(text: str) -> dict[str, str]:
    """Each stem of a text and a word that has it."""
    return {_known_stem(word.lower()): word for word in _WORD.findall(text)}


@lru_cache(maxsize=1 << 14)
def _compounds(text: str) -> frozenset[str]:
    """The stems of every two neighbours written as one; none that a word of the text has."""
    return frozenset(starmap(_compound, _PAIR.findall(text))) - _stems(text).keys()


def _compound(first: str, second: str) -> str:
    return _stem(f"{first}{second}".lower())


def _numbered(text: str, other: str) -> list[Span]:
    """Words that the other text has as their first letter, the count of letters left out and the last."""
    return [
        (m.start(), m.end(), short.group())
        for short in _NUMERONYM.finditer(other)
        for m in _WORD.finditer(text)
        if len(m.group()) == int(short[2]) + 2
        and m.group().lower().startswith(short[1])
        and m.group().endswith(short[3])
    ]
