"""Numbers, units, versions and polarity as they stand in text, and whether two texts differ in them. Pure.

Owns reading surface forms and comparing them conservatively: where two figures might be the same but are not written so
(``60-80%`` and ``70%``, ``1.0`` and ``1``), they differ. Refuses to know what a figure means: nothing is converted.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from kb_pipeline.rules.polarity import antonyms, negated
from kb_pipeline.rules.words import FUNCTION_WORDS, singular, words

__all__ = [
    "SYMBOLS",
    "WRITTEN",
    "Quantity",
    "antonyms",
    "differs",
    "negated",
    "quantities",
    "stands",
    "supported",
    "version_key",
    "versions",
]

Kind = Literal["number", "percent", "version", "range", "size", "identifier", "date"]

# Letters that join digits into one name. CJK letters do not: figures stand inside their runs.
_L = "A-Za-z\u00aa-\u00b5\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff"
_NUM = r"(?>\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][-+]?\d+(?![A-Za-z]))?|\.\d+)"
_PRE = r"(?:[-.+]?(?:rc|alpha|beta|dev|post|a|b)[-.]?\d*)?"
_LOW = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety"
WRITTEN = {word: str(n) for n, word in enumerate(_LOW.split()) if n > 1}
WRITTEN |= {word: f"{n}0" for n, word in enumerate(_TENS.split()) if n > 1}
_TIMES = {"twice": "2", "thrice": "3"}

_TOKEN = re.compile(
    rf"""
    (?<![{_L}\d_.])(?=[{_L}_.−-]*+\d|[VvRrBb]e|[tfsenTFSEN][whioelnWHIOELN])(?:  # nearly no word can begin a figure
      (?P<date>\d{{4}}-\d{{2}}-\d{{2}}(?!\d))
    | (?:[Vv]ersions?\s+|[Rr]eleases?\s+(?=\d+\.\d))v?(?P<named>\d+(?:\.\d+)*{_PRE}(?![{_L}\d%]))
    | (?P<address>\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?![.]?\d))
    | v?(?P<version>(?<=v)\d+(?:\.\d+)*{_PRE}(?![{_L}\d])
        |\d+(?:\.\d+){{2,}}{_PRE}(?![{_L}\d])|\d+\.\d+(?:rc|alpha|beta|dev|post|a|b)\d+(?![{_L}\d]))
    | (?P<identifier>(?=[{_L}\d_-]*\d)[{_L}_][{_L}\d_]*(?:-[{_L}\d_]+)*|\d+[{_L}]+\d[{_L}\d_]*)
    | (?P<between>[Bb]etween\s+)?(?P<low>[-−]?{_NUM})(?P<unit>\s?%|[{_L}]{{1,3}}(?![{_L}]))?
        (?:\s?[-–—~]\s?|\s+to\s+|(?(between)\s+and\s+|(?!)))(?P<high>{_NUM})
    | (?P<number>[-−]?{_NUM})
    | (?:(?P<word>(?i:{"|".join(WRITTEN)})\b)|(?P<times>(?i:{"|".join(_TIMES)})\b))
    )""",
    re.VERBOSE,
)
_UNIT = re.compile(
    rf"\s?(?P<percent>%|percent\b|per\s?cent\b)|(?P<attached>[{_L}°×‰]+(?:/[{_L}]+)?)"
    rf"|(?P<apart>[ -][{_L}°]+(?:/[{_L}]+)?(?![{_L}\d]))"
)
_CASED = re.compile(r"[a-z]{1,2}[A-Z]|[A-Z]{1,2}[a-z]?")  # ``mW`` and ``MW``, ``Pa``: the case tells units apart
_ONE = re.compile(r"\bone\b", re.IGNORECASE)
_JOINED = re.compile(rf"[{_L}\d]")
_UNIT_SYMBOL = re.compile(rf"\s?%|[{_L}°×‰]|\s?[-–—±~]")
_TWO_PARTS = re.compile(r"\d+\.\d+")
_NOT_SOFTWARE = words("Figure Fig Table Section Chapter Equation Eq Step Appendix Part Page Box Panel")
_LABELS = words(
    "port status code level page line layer version release stage phase type group rule error option class number step "
    "chapter section figure table equation appendix part channel slot shard node migration schema grade exit"
)
SYMBOLS = words(
    "ns us µs ms s min h kB KB MB GB TB PB KiB MiB GiB TiB Kb Mb Gb bp kb nm µm mm cm m km ng µg mg g kg nM µM mM M "
    "µl ml mL l L Hz kHz MHz GHz W kW V mV kDa Da K °C °F x × fold U IU rpm px FLOP FLOPS GFLOPS TFLOPS Gbit Mbit"
)
_SPELLINGS = {
    "sec": "s",
    "second": "s",
    "millisecond": "ms",
    "microsecond": "µs",
    "us": "µs",
    "minute": "min",
    "hour": "h",
    "hr": "h",
    "kilobyte": "KB",
    "megabyte": "MB",
    "gigabyte": "GB",
    "terabyte": "TB",
    "×": "x",
}
_NOT_UNITS = FUNCTION_WORDS | words("respectively")


@dataclass(frozen=True, slots=True)
class Quantity:
    """One figure of a text: ``surface == text[start:end]``, with a unit that is a part of it (``13B``, ``4 %``).

    ``values`` holds one canonical string (thousands separators dropped, a leading zero added), two for a range;
    ``unit`` a symbol in its own case or a lower-case singular word, empty where none follows.
    """

    surface: str
    values: tuple[str, ...]
    unit: str
    kind: Kind
    start: int
    end: int


@lru_cache(maxsize=1 << 15)
def quantities(text: str) -> tuple[Quantity, ...]:
    """All figures of ``text`` in order: numbers, ranges, percentages, sizes, versions, names that carry digits.

    Written numbers from two to ninety count, ``one`` does not (it is a pronoun as often).
    """
    return tuple(_read(text, m) for m in _TOKEN.finditer(text))


def versions(text: str) -> tuple[str, ...]:
    """Version numbers of ``text`` in order, without ``v``; ``1.2`` alone is one only after a name or ``version``."""
    return tuple(q.values[0] for q in quantities(text) if q.kind == "version")


def version_key(version: str) -> tuple[tuple[int, ...], int, int]:
    """Orders versions: ``1.2`` = ``1.2.0`` < ``1.10rc1`` < ``1.10``."""
    release, suffix = re.match(r"v?([\d.]*)(.*)", version, re.DOTALL).groups()  # type: ignore[union-attr]
    parts = [int(p) for p in release.split(".") if p]
    while parts and parts[-1] == 0:
        parts.pop()
    number = re.search(r"\d+", suffix)
    stage = 0 if re.search(r"rc|a|b|dev", suffix) else 1
    return tuple(parts), stage, int(number.group()) if number else 0


def differs(a: str, b: str) -> str:
    """The first guard that fires on a pair, ``numbers``, ``versions`` or ``units``, or ``""``.

    A figure that only one text shows to be a version (``Python 3.11``, ``3.11 of it``) is the same figure.
    Figures must be the same as often and, among those of one unit, in the same order. A missing word unit is no
    difference (``16`` and ``16 tokens``); a missing symbol is (``4`` and ``4%``).
    """
    ours, theirs = quantities(a), quantities(b)
    if not ours and not theirs:
        return ""
    if Counter(q.values for q in ours) != Counter(q.values for q in theirs):
        return "numbers" if _counts(ours) != _counts(theirs) else "versions"
    if _units_conflict(ours, theirs):
        return "units"
    return "numbers" if _order(ours) != _order(theirs) and _shuffled(ours, theirs) else ""


def supported(statement: str, text: str) -> tuple[str, ...]:
    """Figures of ``statement``, as written there, that do not occur in ``text``; empty when all do.

    The ends of ``60 to 80%`` occur one by one, those of ``60-80%`` only together. A name with digits may be a part of a
    longer one, between hyphens.
    """
    figures = quantities(statement)
    found = _found(text) if figures else frozenset()
    return tuple(dict.fromkeys(q.surface for q in figures if not _occurs(q, found, text)))


@lru_cache(maxsize=64)  # a chunk is asked about by one draft after the other
def _found(text: str) -> frozenset[tuple[tuple[str, ...], str]]:
    """The values that occur in ``text``; ``one`` is one."""
    one = {(("1",), "")} if _ONE.search(text) else set()
    return frozenset(_occurrences(quantities(text))) | one


def _read(text: str, m: re.Match[str]) -> Quantity:
    group = m.lastgroup or ""
    if group in ("date", "address", "identifier"):
        return _plain(m, group, "date" if group == "date" else "identifier")
    if group in ("named", "version") or _follows_a_name(text, m):
        return _plain(m, group, "version")
    values, first = _values(m, group)
    unit, kind, end = _unit_at(text, m.end())
    start = m.start(first)
    if group == "number" and end == m.end() and _labels(text, start):
        unit = ""
    if group == "high":
        unit, kind = unit or (m["unit"] or "").strip(), "range"
    return Quantity(text[start:end], values, "time" if group == "times" else unit, kind, start, end)


def _plain(m: re.Match[str], group: str, kind: Kind) -> Quantity:
    surface = re.sub(r"(?:-[a-z]+)+$", "", m[group]) if group == "identifier" else m[group]
    start = m.start(group)
    return Quantity(surface, (surface,), "", kind, start, start + len(surface))


def _values(m: re.Match[str], group: str) -> tuple[tuple[str, ...], str]:
    """The canonical values of a figure and the group that it begins with."""
    if group in ("word", "times"):
        return ((WRITTEN if group == "word" else _TIMES)[m[group].lower()],), group
    if group == "high":
        return (_value(m["low"]), _value(m["high"])), "low"
    return (_value(m["number"]),), group


def _value(surface: str) -> str:
    value = surface.replace(",", "").replace("−", "-")
    return re.sub(r"^(-?)\.", r"\g<1>0.", value)


def _unit_at(text: str, end: int) -> tuple[str, Kind, int]:
    """The unit that stands at ``end``, the kind of figure it makes and where that figure ends."""
    m = _UNIT.match(text, end)
    if not m:
        return "", "number", end
    if m["percent"]:
        return "%", "percent", m.end()
    if m["attached"]:
        return _SPELLINGS.get(m["attached"], m["attached"]), "size", m.end()
    word = m["apart"][1:]
    if word in SYMBOLS or "/" in word:
        return _SPELLINGS.get(word, word), "size" if word.endswith("B") else "number", m.end()
    low = singular(word.lower())
    if low in _NOT_UNITS:
        return "", "number", end
    return word if _CASED.fullmatch(word) else _SPELLINGS.get(low, low), "number", end


def _follows_a_name(text: str, m: re.Match[str]) -> bool:
    """Whether ``X.Y`` stands after the name of a thing that has versions: ``in Python 3.11``, ``vLLM 0.5``."""
    start = m.start("number")
    if (
        not _TWO_PARTS.fullmatch(m["number"] or "")
        or text[start - 1 : start] != " "
        or _UNIT_SYMBOL.match(text, m.end())
    ):
        return False
    before, _, name = text[max(0, start - 40) : start - 1].rpartition(" ")
    name = name.lstrip("([\"'")
    if not name.isalpha() or name.isupper() or name in _NOT_SOFTWARE:
        return False
    within = before[-1:].isalnum() or before[-1:] in tuple(",;)")
    return not name[1:].islower() or (name[0].isupper() and len(name) > 2 and within)


def _labels(text: str, start: int) -> bool:
    """Whether the figure at ``start`` belongs to the name before it, so that the word behind it is no unit: ``TLS 1.3
    completes``, ``port 8080 accepts``, ``HR 0.84 in``."""
    before, _, name = text[max(0, start - 40) : start - 1].rpartition(" ")
    name = name.strip("([\"'")
    if text[start - 1 : start] != " " or not name.isalpha():
        return False
    within = bool(before.strip()) and before.rstrip()[-1] not in ".!?:"
    return (name.isupper() and len(name) > 1) or name.lower() in _LABELS or (name[0].isupper() and within)


def _counts(figures: Iterable[Quantity]) -> Counter[tuple[str, ...]]:
    return Counter(q.values for q in figures if q.kind != "version")


def _units_conflict(ours: Iterable[Quantity], theirs: Iterable[Quantity]) -> bool:
    left, right = _units(ours), _units(theirs)
    for value in left.keys() & right.keys():
        one, other = left[value], right[value]
        if one != other and (_has_symbol(one ^ other) or (one - {""} and other - {""} and one - {""} != other - {""})):
            return True
    return False


def _units(figures: Iterable[Quantity]) -> dict[tuple[str, ...], set[str]]:
    units: dict[tuple[str, ...], set[str]] = {}
    for q in figures:
        units.setdefault(q.values, set()).add(q.unit)
    return units


def _has_symbol(units: Iterable[str]) -> bool:
    return any(u == "%" or u in SYMBOLS or any(c.isupper() for c in u) for u in units)


def _order(figures: Iterable[Quantity]) -> list[tuple[str, ...]]:
    return [q.values for q in figures]


def _shuffled(ours: Iterable[Quantity], theirs: Iterable[Quantity]) -> bool:
    """Whether figures of one unit stand in another order, as in ``A 3, B 5`` and ``A 5, B 3``; a name with digits has
    its place among names, not figures."""

    def by_unit(figures: Iterable[Quantity]) -> dict[tuple[bool, str], list[tuple[str, ...]]]:
        lists: dict[tuple[bool, str], list[tuple[str, ...]]] = {}
        for q in figures:
            lists.setdefault((q.kind == "identifier", q.unit), []).append(q.values)
        return lists

    return by_unit(ours) != by_unit(theirs)


def _occurrences(figures: Iterable[Quantity]) -> Iterable[tuple[tuple[str, ...], str]]:
    for q in figures:
        percent = "%" if q.unit == "%" else ""
        yield q.values, percent
        if q.kind == "range" and not re.search(r"\d\S*\s?[-–—~]", q.surface):
            yield from (((value,), percent) for value in q.values)


def stands(name: str, text: str) -> bool:
    """Whether ``name`` stands in ``text`` to the letter, no letter or digit beside it."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not _JOINED.match(text[at - 1 : at]) and not _JOINED.match(text[end : end + 1]):
            return True
        at = text.find(name, at + 1)
    return False


def _occurs(q: Quantity, found: frozenset[tuple[tuple[str, ...], str]], text: str) -> bool:
    if q.kind == "identifier":
        if stands(q.surface, text):  # most do, and a pattern of its own costs a name 0.1 ms
            return True
        return re.search(rf"(?<![{_L}\d]){re.escape(q.surface)}(?![{_L}\d])", text, re.IGNORECASE) is not None
    percent = "%" if q.unit == "%" else ""
    if (q.values, percent) in found:
        return True
    if q.kind == "range":
        return all(((value,), percent) in found for value in q.values)
    written = rf"(?<![{_L}\d.,]){re.escape(q.surface)}(?![{_L}\d])"
    return q.kind == "size" and re.search(written, text) is not None
