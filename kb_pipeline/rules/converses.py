"""A relation told from its other end: ``A is faster than B`` and ``B is slower than A``. Pure.

Owns the pairs of words that are each other's converse and where the two sides of such a sentence are. Refuses to
compare: what it gives is a text like any other, and equals the other one or does not.
"""

import re
from collections.abc import Iterator

_OPPOSITES = """
faster slower / larger smaller / bigger smaller / greater smaller / higher lower / older newer / older younger /
longer shorter / taller shorter / stronger weaker / better worse / heavier lighter / wider narrower / deeper shallower /
earlier later / warmer colder / hotter cooler / more less / easier harder / thicker thinner / richer poorer
"""
_PAIRS = [row.split() for row in _OPPOSITES.split("/")]
_COMPARED = re.compile(
    r"(?P<one>[^,;]+?) (?P<be>is|are|was|were) (?P<by>[^,;\d]*?)(?P<word>[a-z]+)(?P<what>(?: \w+)?)"
    r" than (?P<other>[^,;]+)",
    re.IGNORECASE,
)
_ORDERED = re.compile(r"(?P<one>[^,;]+?),? (?P<word>before|after) (?P<other>[^,;]+)", re.IGNORECASE)
_FRONTED = re.compile(r"(?P<word>before|after) (?P<other>[^,;]+), (?P<one>[^,;]+)", re.IGNORECASE)
_CONVERSE = {"before": "after", "after": "before"}


def converses(text: str) -> Iterator[str]:
    """The text with its one relation told from the other end; nothing where it has none, or more than one."""
    bare = text.strip().removesuffix(".")
    ordered = _FRONTED.fullmatch(bare) or _ORDERED.fullmatch(bare)
    if ordered and len(re.findall(r"\b(?:before|after)\b", bare, re.IGNORECASE)) == 1:
        yield f"{ordered['other']} {_CONVERSE[ordered['word'].lower()]} {ordered['one']}."
    compared = _COMPARED.fullmatch(bare)
    if compared:
        for word in _other_ends(compared["word"].lower()):
            relation = f"{compared['be']} {compared['by']}{word}{compared['what']}"
            yield f"{compared['other']} {relation} than {compared['one']}."


def _other_ends(word: str) -> list[str]:
    """The words that say the same of two things in the other order."""
    return [b if word == a else a for a, b in _PAIRS if word in (a, b)]
