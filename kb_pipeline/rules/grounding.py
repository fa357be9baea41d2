"""Proof by quotation: where a quote stands in a text. Owns what a quote may differ in; refuses to guess.

A model that quotes straightens quotation marks, dashes, ellipses and white space, and drops invisible characters; it
is still the same quote. Any other difference makes another one.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator

_QUOTES = dict.fromkeys(map(ord, "‘’‚‛′´`"), "'") | dict.fromkeys(map(ord, "“”„‟″«»"), '"')
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−"), "-")
_ALIKE = str.maketrans(_QUOTES | _DASHES)
_INVISIBLE = "\u00ad\u200b-\u200d\u2060\ufeff"
_UNEVEN = re.compile(rf"(?P<space>\s[\s{_INVISIBLE}]*)|(?P<dots>…)|[{_INVISIBLE}]+")


def proves(text: str, start: int, end: int, span: str) -> bool:
    """Whether ``span`` is not blank and stands verbatim at ``text[start:end]``."""
    return 0 <= start < end <= len(text) and bool(span.strip()) and text[start:end] == span


def folded(text: str) -> str:
    """The form in which quotes are compared: one kind of quotation mark, dash and space, nothing invisible."""
    return "".join(even for _, _, even in _evened(text)).strip()


def locate(span: str, text: str) -> tuple[int, int] | None:
    """Offsets of ``span`` in ``text``, white space at its ends aside; None where it does not stand there.

    A verbatim quote is found at its first occurrence. One that differs in what ``folded`` evens out must have one
    place only: of two, neither is proven.
    """
    span = span.strip()
    if not span:
        return None
    verbatim = text.find(span)
    if verbatim >= 0:
        return verbatim, verbatim + len(span)
    return _locate_folded(folded(span), text)


def _locate_folded(wanted: str, text: str) -> tuple[int, int] | None:
    pieces = list(_evened(text))
    plain = "".join(even for _, _, even in pieces)
    at = plain.find(wanted)
    if not wanted or at < 0 or plain.find(wanted, at + 1) >= 0:
        return None
    begins = [0]
    for _, _, even in pieces:
        begins.append(begins[-1] + len(even))
    first, last = (bisect_right(begins, offset) - 1 for offset in (at, at + len(wanted) - 1))
    start, end, even = pieces[last]
    whole = len(even) != end - start
    return (
        _origin(pieces[first], at - begins[first]),
        end if whole else start + at + len(wanted) - begins[last],
    )


def _origin(piece: tuple[int, int, str], ahead: int) -> int:
    start, end, even = piece
    return start + ahead if len(even) == end - start else start


def _evened(text: str) -> Iterator[tuple[int, int, str]]:
    """Consecutive pieces ``text[start:end]`` with their even form, of equal length unless it is rewritten whole."""
    done = 0
    for m in _UNEVEN.finditer(text):
        if done < m.start():
            yield done, m.start(), text[done : m.start()].translate(_ALIKE)
        yield m.start(), m.end(), " " if m["space"] else "..." if m["dots"] else ""
        done = m.end()
    if done < len(text):
        yield done, len(text), text[done:].translate(_ALIKE)
