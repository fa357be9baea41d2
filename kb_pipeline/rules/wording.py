"""Which content words a sentence has, and which of two only one has. Pure.

Owns reading words, stemming them, what carries no content and what narrows or widens what is said. Refuses to know
their order (``roles`` does), synonyms beyond function words, and statistics: a vector tells that two sentences are
about the same, not that they say the same. Made for English.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import Stemmer

from kb_pipeline.rules.measures import plain
from kb_pipeline.rules.numbers import WRITTEN
from kb_pipeline.rules.phrases import folded
from kb_pipeline.rules.synonyms import FORMS
from kb_pipeline.rules.words import FUNCTION_WORDS, words


def _rows(table: str) -> dict[str, str]:
    """Every word of a row mapped to the row's first."""
    return {word: row.split()[0] for row in table.strip().splitlines() for word in row.split()}


# Function words that narrow or widen what is said; those of one row count as the same.
_SCOPE = _rows("""
all each every entire whole
any
both
some
several various multiple
many numerous
few
most
only solely exclusively just
can may might could
must shall
should ought
should
when if once whenever
unless except
during while
until till
always
usually typically generally normally
often frequently
sometimes occasionally
rarely seldom
at_least
at_most
up_to
more
less fewer
before
after
without
not
no none
never
or
rather
first
last
""")
# Function words that place it: kept as content, but one that is merely added changes no scope.
_PLACE = _rows("""
between among
within inside
across
outside
against
over
under
above
below
other
same
""")
_TOKEN = re.compile(r"(?<!\w)--?[A-Za-z][\w-]*|\d+(?:[.,:]\d+)+|\w+(?:[.+#/_']\w+)*(?:\+\+|#)?|%|[,;]")
_ISE = re.compile(r"(?<=\w{4})is(?=(?:e|es|ed|ing|ation|ations)$)")
_BRITISH = re.compile(r"(?<=\w{3})our(?=(?:s|ed|ing|al|ally)?$)")
_CONTRACTED = re.compile(r"'(?:s|ve|re|ll|d|m)?$")
_NAME = re.compile(r"[_./#+\d]|[a-z][A-Z]")
_STEMMER = Stemmer.Stemmer("english", 0)  # what recurs is kept below
_DROPPED = FUNCTION_WORDS | words("even get gets got getting become becomes one s t thus namely using , ;")
_MOVABLE = words("in on at for with by from to as through via into onto toward towards about upon since using of per")


_SCOPES, _PLACES = frozenset(_SCOPE.values()), frozenset(_PLACE.values())
NARROWING = _SCOPES | _PLACES
"""Stems that narrow or widen what is said, or place it."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Content words (stems) that only one of two sentences has, as often as it has them more; sorted."""

    left: tuple[str, ...]
    right: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.left or self.right)

    @property
    def scope(self) -> bool:
        """Whether the sentences differ in scope alone: in words such as ``all``, ``only``, ``may``, in such a clause
        that one of them adds, or in the place that each names (``between`` for ``within``)."""
        left, right = set(self.left), set(self.right)
        if left and right:
            return left | right <= _SCOPES | _PLACES
        return not _SCOPES.isdisjoint(left | right)


class Word(NamedTuple):
    """A word or comma as it stands, in lower case; its stem, empty without content; whether it begins a phrase that may
    stand elsewhere: it follows a preposition, or is of scope."""

    surface: str
    stem: str
    movable: bool


@lru_cache(maxsize=1 << 14)
def content(text: str) -> tuple[str, ...]:
    """The content words of ``text`` in order: stems, figures, names; no articles, pronouns, auxiliaries."""
    return tuple(stem for at, surface in enumerate(_surfaces(text)) if (stem := _stem(surface, at > 0)))


def difference(a: str, b: str, alike: Mapping[str, str] | None = None) -> Difference:
    """What each sentence has that the other lacks; ``alike`` maps a stem to the one it counts as."""
    left, spare = [], Counter(_stems(b, alike))
    for word in _stems(a, alike):
        if spare[word]:
            spare[word] -= 1
        else:
            left.append(word)
    return Difference(tuple(sorted(left)), tuple(sorted(spare.elements())))


def _stems(text: str, alike: Mapping[str, str] | None) -> tuple[str, ...]:
    return tuple(alike.get(stem, stem) for stem in content(text)) if alike else content(text)


@lru_cache(maxsize=1 << 14)
def read(text: str) -> tuple[Word, ...]:
    """The words and commas of ``text`` in order, phrases of one meaning folded."""
    found, led = [], False
    for at, surface in enumerate(_surfaces(text)):
        stem = _stem(surface, at > 0)
        found.append(Word(surface.lower(), stem, bool(stem) and (led or stem in NARROWING or stem.startswith("per_"))))
        led = not stem and (led or surface.lower() in _MOVABLE)
    return tuple(found)


@lru_cache(maxsize=1 << 14)
def _surfaces(text: str) -> tuple[str, ...]:
    """The words and commas of ``text`` as they are written once its phrases are folded."""
    return tuple(_TOKEN.findall(folded(plain(unicodedata.normalize("NFKC", text).replace("\u2019", "'")))))


@lru_cache(maxsize=1 << 15)
def _stem(word: str, inside: bool) -> str:
    """The stem of a word that stands inside a sentence, or begins one; empty where it carries no content."""
    low = word.lower()
    if word.isupper() and (len(word) > 1 or inside):
        return word if len(word) == 1 else FORMS.get(low, low)  # ``node A``, ``the US``: names, not function words
    if word.endswith("s") and len(word) > 2 and word[:-1].isupper():
        return low[:-1]
    low = FORMS.get(low, low)
    if kept := _SCOPE.get(low) or _PLACE.get(low):
        return kept
    if low.endswith("n't"):
        return "not"
    if low in _DROPPED:
        return ""
    low = _CONTRACTED.sub("", low)
    if low in _DROPPED:
        return ""
    if word[:1].isdigit():
        return low.replace(",", "")
    if _NAME.search(word):
        return low  # ``parse_url`` and ``parse_urls`` are two names
    low = _BRITISH.sub("or", _ISE.sub("iz", low))
    stem: str = WRITTEN.get(low) or _STEMMER.stemWord(FORMS.get(low, low))
    return stem
