"""Do two sentences say the same in the same words, only arranged otherwise? Pure.

Owns content words (stemmed), what is left over on either side, and whether the words play the same parts: ``A calls B``
is not ``B calls A`` but is ``B is called by A``. Refuses to know synonyms beyond function words, and statistics: a
vector tells that two sentences are about the same, not that they say the same. Made for English; elsewhere only equal
order counts as the same.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import Stemmer

from kb_pipeline.rules.words import FUNCTION_WORDS, words


def _rows(table: str) -> dict[str, str]:
    """Every word of a row mapped to the row's first."""
    return {word: row.split()[0] for row in table.strip().splitlines() for word in row.split()}


# Function words that narrow or widen what is said; those of one row count as the same.
_SCOPE = _rows("""
all each every any both entire whole
some several many few various
most
only solely exclusively just
can may might could
must shall
should
when if once whenever
unless except
during while
until till
always
usually often typically generally
sometimes occasionally rarely seldom
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
_IRREGULAR = _rows("""
build built
catch caught
choose chose chosen
find found
get got gotten
give gave given
go goes went gone
grow grew grown
hold held
keep kept
know knew known
lead led
leave left
lose lost
make made
mean meant
pay paid
rise rose risen
run ran
say said
see saw seen
send sent
show showed shown
spend spent
take took taken
tell told
think thought
throw threw thrown
write wrote written
""")
_TOKEN = re.compile(r"(?<!\w)--?[A-Za-z][\w-]*|\d+(?:[.,:]\d+)+|\w+(?:[.+#/_']\w+)*(?:\+\+|#)?|%")
_PHRASES = re.compile(r"\b(at) (least|most)\b|\b(up) (to)\b", re.IGNORECASE)
_STEMMER = Stemmer.Stemmer("english")
_DROPPED = FUNCTION_WORDS | words("even get gets got getting become becomes one s t thus namely")
_PASSIVE = words("is are was were be been being get gets got")
_MOVABLE = words("in on at for with by from to as through via into onto toward towards about upon since because")


_SCOPES, _PLACES = frozenset(_SCOPE.values()), frozenset(_PLACE.values())


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


@dataclass(frozen=True, slots=True)
class _Word:
    surface: str
    stem: str
    movable: bool


@dataclass(frozen=True, slots=True)
class _Sentence:
    words: tuple[_Word, ...]
    stems: tuple[str, ...]


def content(text: str) -> tuple[str, ...]:
    """The content words of ``text`` in order: stems, figures, names; no articles, pronouns, auxiliaries."""
    return _read(text).stems


def difference(a: str, b: str, alike: Mapping[str, str] | None = None) -> Difference:
    """What each sentence has that the other lacks; ``alike`` maps a stem to the one it counts as."""
    surplus = Counter(_stems(a, alike))
    surplus.subtract(_stems(b, alike))
    unshared = sorted((word, count) for word, count in surplus.items() if count)
    left = tuple(word for word, count in unshared for _ in range(count))
    return Difference(left, tuple(word for word, count in unshared for _ in range(-count)))


def same_roles(a: str, b: str, alike: Mapping[str, str] | None = None) -> bool:
    """Whether two sentences with the same content words use them in the same parts.

    True for equal order, for a phrase moved to the other end (``Within a partition, K orders``) and for a passive
    turned active when agent and patient change places. Any other order counts as different: it may be another fact.
    """
    if _turned(a, b):
        return False
    ours, theirs = _passives(a), _passives(b)
    if bool(ours) == bool(theirs):
        return _stems(a, alike) == _stems(b, alike) or _moved(a, b, alike)
    passives, active = (ours, content(b)) if ours else (theirs, content(a))
    return all(_acts(active, verb, agent, patient) for verb, agent, patient in passives)


def same_words(a: str, b: str, alike: Mapping[str, str] | None = None) -> bool:
    """Whether two sentences say the same in the same words: no content word left over, and the same roles."""
    return bool(content(a)) and not difference(a, b, alike) and same_roles(a, b, alike)


def _stems(text: str, alike: Mapping[str, str] | None) -> tuple[str, ...]:
    return tuple(alike.get(stem, stem) for stem in content(text)) if alike else content(text)


@lru_cache(maxsize=1 << 14)
def _read(text: str) -> _Sentence:
    """The words of ``text``; a stem is empty where a word carries no content.

    ``movable`` marks a content word that begins a phrase which may stand elsewhere: after a preposition, or of scope.
    """
    plain = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    joined = _PHRASES.sub(lambda m: "_".join(g for g in m.groups() if g), plain)
    read, led = [], False
    for at, surface in enumerate(_TOKEN.findall(joined)):
        stem = _stem(surface, at)
        read.append(_Word(surface.lower(), stem, bool(stem) and (led or stem in _SCOPES | _PLACES)))
        led = not stem and (led or surface.lower() in _MOVABLE)
    return _Sentence(tuple(read), tuple(w.stem for w in read if w.stem))


def _stem(word: str, position: int) -> str:
    low = word.lower()
    if word.isupper() and (len(word) > 1 or position):
        return word if len(word) == 1 else low  # ``node A``, ``the US``: names, not function words
    if word.endswith("s") and len(word) > 2 and word[:-1].isupper():
        return low[:-1]
    if kept := _SCOPE.get(low) or _PLACE.get(low):
        return kept
    if low.endswith("n't") or low == "cannot":
        return "not"
    if low in _DROPPED:
        return ""
    low = low.removesuffix("'s").removesuffix("'")
    stem: str = _STEMMER.stemWord(_IRREGULAR.get(low, low))
    return stem


def _moved(a: str, b: str, alike: Mapping[str, str] | None) -> bool:
    """Whether ``b`` is ``a`` with one movable phrase carried from one end to the other."""
    ours, theirs = _stems(a, alike), _stems(b, alike)
    free_a, free_b = ([w.movable for w in _read(text).words if w.stem] for text in (a, b))
    if len(ours) != len(theirs):
        return False
    return any(
        ours[at:] + ours[:at] == theirs and ((free_a[0] and free_b[-at]) or (free_a[at] and free_b[0]))
        for at in range(1, len(ours))
    )


def _passives(text: str) -> tuple[tuple[str, str, str], ...]:
    """Verb, agent and patient (stems) of every ``patient is verbed … by agent``."""
    read, found = _read(text).words, []
    for at in (i for i, w in enumerate(read) if w.surface == "by"):
        be = next((i for i in range(at - 1, -1, -1) if read[i].surface in _PASSIVE), at)
        verb = next((w.stem for w in read[be + 1 : at] if w.stem), "")
        agent = next((w.stem for w in read[at + 1 :] if w.stem), "")
        patient = next((w.stem for w in reversed(read[:be]) if w.stem), "")
        if verb and agent and patient:
            found.append((verb, agent, patient))
    return tuple(found)


def _acts(active: tuple[str, ...], verb: str, agent: str, patient: str) -> bool:
    if verb not in active or agent not in active:
        return False
    at = active.index(verb)
    return active.index(agent) < at and patient in active[at:]


def _turned(a: str, b: str) -> bool:
    """Whether a direction is turned round: what one sentence has after ``from`` or ``to``, the other has not."""
    (from_a, to_a), (from_b, to_b) = _directions(a), _directions(b)
    return bool(from_a & to_b or to_a & from_b) or any(x and y and x != y for x, y in ((from_a, from_b), (to_a, to_b)))


def _directions(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The content words right after ``from`` and right after ``to``."""
    read = _read(text).words
    after: dict[str, set[str]] = {"from": set(), "to": set()}
    for at, word in enumerate(read):
        if word.surface in after:
            after[word.surface].update([w.stem for w in read[at + 1 :] if w.stem][:1])
    return frozenset(after["from"]), frozenset(after["to"])
