"""Which guard keeps two statements apart, whatever a vector or a model says of them. Pure.

Owns the order in which guards are asked and what each looks at. Refuses to decide: a guard says that two statements
differ in something that a merge would destroy; ``decisions`` says what follows. A false alarm leaves a harmless double,
a miss destroys a distinction, so every guard is on the side of keeping apart.
"""

import re
from functools import lru_cache

from kb_pipeline.records import Side
from kb_pipeline.rules.ids import canonical
from kb_pipeline.rules.measures import plain
from kb_pipeline.rules.numbers import antonyms, differs, negated, quantities, versions
from kb_pipeline.rules.restating import commanded, converse
from kb_pipeline.rules.spellings import levelled
from kb_pipeline.rules.synonyms import SYNONYMS
from kb_pipeline.rules.wording import Difference, content, difference
from kb_pipeline.rules.words import words

CONTRADICTING = frozenset({"numbers", "versions", "units", "negation", "antonyms"})
"""Guards after which two statements about the same thing cannot both be the present state of it."""

_NEEDS_CONTEXT = re.compile(
    r"(?:it|its|this|that|these|those|they|their|them|he|his|she|her|here|there|both|such|the (?:former|latter|same)|"
    r"however|therefore|thus|hence|moreover|furthermore|in (?:addition|contrast|this)|otherwise|also)\b",
    re.IGNORECASE,
)
_SELF_CONTAINED = 5
_NEGATIONS = words("not no none never without need lack unabl fail")
_NAME = re.compile(r"(?<=[\w,;:] )[A-Z][\w.+#-]*|\b\w*(?:\d|_|[a-z][A-Z])[\w.+#-]*")


def fired(a: Side, b: Side) -> str:
    """The first guard that fires, or ``""``: ``numbers``, ``versions``, ``units``, ``negation``, ``antonyms``,
    ``scope``, ``entities``, ``context``."""
    if _elsewhere(a, b):
        return "context"
    x, y = levelled(a.statement, b.statement)
    if guard := differs(plain(x), plain(y)):
        return differs(x, y) or guard  # named by what stands there: ``10 minutes`` and ``10 seconds`` differ in units
    if negated(x) != negated(y):
        return "negation"
    if antonyms(x, y) and not converse(x, y, SYNONYMS):
        return "antonyms"
    rest = difference(x, y)
    if rest.scope and not commanded(x, y) and not converse(x, y, SYNONYMS):
        return "scope"
    if _names(a, rest.left) and _names(b, rest.right):
        return "entities"
    return "context" if _contexts_differ(a, b) else ""


def one_thing(a: str, b: str) -> bool:
    """Whether two statements are the same but for their figures, a negation, or one word on each side.

    What a guard found between such two is a disagreement about one thing; elsewhere it may be two things.
    """
    rest = _apart_from_figures(a, b)
    return len(rest.left) <= 1 and len(rest.right) <= 1


def same_frame(a: str, b: str) -> bool:
    """Whether two statements are the same but for their figures and a negation, or one pair of opposites."""
    rest = _apart_from_figures(a, b)
    return not rest or (antonyms(a, b) and len(rest.left) == len(rest.right) == 1)


@lru_cache(maxsize=1 << 14)
def without_figures(text: str) -> str:
    """``text`` with its figures (numbers, versions, names with digits) cut out."""
    parts, end = [], 0
    for figure in quantities(text):
        parts.append(text[end : figure.start])
        end = figure.end
    return " ".join((*parts, text[end:]))


@lru_cache(maxsize=1)  # several rules in a row ask it of one pair
def _apart_from_figures(a: str, b: str) -> Difference:
    rest = difference(without_figures(a), without_figures(b))
    left, right = (tuple(w for w in side if w not in _NEGATIONS) for side in (rest.left, rest.right))
    return Difference(left, right)


def _names(side: Side, unshared: tuple[str, ...]) -> bool:
    """Whether a word that only this side has belongs to a name: an entity, a capital inside a sentence, code."""
    if not unshared:
        return False
    named = " ".join((*side.entities, *_NAME.findall(side.statement)))
    return not set(content(f"- {named}")).isdisjoint(unshared)


def _contexts_differ(a: Side, b: Side) -> bool:
    """Whether the contexts name different versions, or differ where a statement cannot be read without its own."""
    ours, theirs = canonical(a.context or ""), canonical(b.context or "")
    if ours == theirs:
        return False
    if ours and theirs and set(versions(ours)) != set(versions(theirs)):
        return True
    nested = bool(ours and theirs) and (ours in theirs or theirs in ours)
    return not nested and not (_self_contained(a) and _self_contained(b))


def _elsewhere(a: Side, b: Side) -> bool:
    """Whether neither statement can be read without its context, and these end in different things: ``Defaults to 9.``
    of one option is at odds with no other option."""
    if not (a.context and b.context) or _self_contained(a) or _self_contained(b):
        return False
    ours, theirs = (without_figures(side.context.rpartition(" > ")[2]) for side in (a, b) if side.context)
    return bool(difference(ours, theirs))


def _self_contained(side: Side) -> bool:
    if _NEEDS_CONTEXT.match(side.statement):
        return False
    return bool(side.entities) or len(content(side.statement)) >= _SELF_CONTAINED
