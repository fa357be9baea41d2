"""How well one text answers one question, by rules: what of the question it holds, and how near it is. Pure.

Owns which words of a question ask for something, the heuristic score that reranks and abstains, and the decay of age.
Refuses to know where a text comes from; a model that judges relevance takes the place of ``score`` elsewhere.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from functools import lru_cache

from kb_pipeline.rules.analyser import analyse, exact_forms, query_tokens
from kb_pipeline.rules.words import FUNCTION_WORDS, words

NAME = "heuristic"
"""Who reranks where no model does: shown wherever its score is."""

_ASKING = FUNCTION_WORDS | words(
    "tell explain describe list give show please know known many long kind sort happen happens mean means meaning "
    "exactly"
)
_EVEN = 0.95
"""``cosine + coverage`` at which a text is as likely to answer as not. On the sample and a library's documents 95 % of
questions about other things stay under 0.66 and the worst reaches 0.87, those that people ask begin at 1.05."""
_STEEP = 8.0
_UNKNOWN_COSINE = 0.3
"""What a text without a vector is taken for: what the nearest stranger reaches."""
_BARE = re.compile(r"^\W+|\W+$")
_NAME = re.compile(r"(?=.*[^\W\d_])(?=.*\d)[\w.-]+|--?[\w-]+|[^\W_]+(?:_[^\W_]+)+|\d+(?:\.\d+){2,}")
_VERSION = re.compile(r"\b(?:versions?|releases?) v?(\d+(?:\.\d+)+)", re.IGNORECASE)
_LEAD = re.compile(r"^(?:v(?=\d)|\W+)")
_MEASURE = re.compile(r"\d[\d.,]*(?:[kmgt]i?b|[nmµ]?s|min|[hdxk%])")
_SEVERAL = re.compile(r"\b(?:and|or|vs|versus|than|between|compared?)\b|,|\?.*\?", re.IGNORECASE)


def asked(question: str) -> dict[str, float]:
    """The tokens of what ``question`` asks for, to their weights: without the words that only make it a question, or
    these where there are no others."""
    return specific(question) or query_tokens(question)


def specific(question: str) -> dict[str, float]:
    """The same, empty where ``question`` has only words that make it one: it asks for nothing that can be found."""
    telling = [word for word in question.split() if _BARE.sub("", word).casefold() not in _ASKING]
    return query_tokens(" ".join(telling))


def by_rarity(tokens: Mapping[str, float], texts: Sequence[Collection[str]]) -> dict[str, float]:
    """``tokens`` weighed by how few of ``texts``, as their tokens, hold them: inverse document frequency as in BM25."""
    held = Counter(token for text in texts for token in tokens if token in text)
    return {
        token: weight * math.log1p((len(texts) - held[token] + 0.5) / (held[token] + 0.5))
        for token, weight in tokens.items()
    }


def names(question: str) -> list[tuple[str, ...]]:
    """What ``question`` names to the letter: versions, models, flags, codes, each in the forms that stand for it.

    Bare numbers and measures are none: who asks whether it is 64 may be told that it is 32.
    """
    found = [forms[0] for forms in exact_forms(question) if _NAME.fullmatch(forms[0])]
    named = [(name, _LEAD.sub("", name), name.removesuffix("s")) for name in found if not _MEASURE.fullmatch(name)]
    return named + [(version,) for version in _VERSION.findall(question)]


def about(question: str, held: Collection[str]) -> bool:
    """Whether a text with the tokens ``held`` may be about what ``question`` names: it must hold each name, or one
    where the question is about several things."""
    wanted = [any(form in held for form in forms) for forms in names(question)]
    return any(wanted) if len(wanted) > 1 and _SEVERAL.search(question) else all(wanted)


def coverage(tokens: Mapping[str, float], text: str) -> float:
    """The share, 0 to 1, of the tokens' weights that ``text`` holds; weigh them by their rarity."""
    return covered(tokens, frozenset(analyse(text)))


def covered(tokens: Mapping[str, float], held: Collection[str]) -> float:
    """The share of the tokens' weights among those that are ``held``."""
    total = sum(tokens.values())
    return sum(weight for token, weight in tokens.items() if token in held) / total if total else 0.0


def rerank(cosine: float | None, share: float, fused: float) -> float:
    """From 0 to 10 a text's cosine to the question, its coverage of it and its fused score as a share of the best's,
    a third each: more of the first two alone finds an item at once that shares the question's words, and loses one that
    only its passage explains (``docs/search.md``)."""
    return round(10 * (strength(cosine, share) + fused) / 3, 3)


def strength(cosine: float | None, share: float) -> float:
    """A text's cosine to the question and its coverage of it, together 0 to 2."""
    return max(_UNKNOWN_COSINE if cosine is None else cosine, 0.0) + share


def logistic(strength: float) -> float:
    """From 0 to 10 how likely a text of that ``strength`` answers at all; 5 is even odds.

    Cosine and coverage weigh the same: on the sample no other weight told strangers apart better
    (``docs/answers.md``)."""
    return round(10 / (1 + math.exp(-_STEEP * (strength - _EVEN))), 3)


@lru_cache(maxsize=1 << 12)  # rows of a build share their days
def decay(day: str, today: str, half_life: float) -> float:
    """The factor of age: 1 today, 0.5 after ``half_life`` days; 1 where no day is known or it lies ahead."""
    try:
        age = (date.fromisoformat(today[:10]) - date.fromisoformat(day[:10])).days
    except ValueError:
        return 1.0
    return round(math.pow(0.5, max(age, 0) / half_life), 4)
