"""Which documents or pages to read whole for a question, chosen by the words of their cards. Pure.

BM25F: a word of the title counts three times as much as one of a summary, one of the headings and of keys that are
names or figures twice, an everyday word among the keys once.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

from kb_pipeline.records import Card
from kb_pipeline.rules import relevance
from kb_pipeline.rules.analyser import analyse

Kind = Literal["name", "figure", "word"]
_TITLE, _HEADING, _REST = 3.0, 2.0, 1.0
_K1, _B = 1.2, 0.5  # cards are short and of one kind: their length says little


def kind_of(key: str) -> Kind:
    """What a key is: an everyday word, a figure with or without a unit, or else a name or a flag."""
    if key.isalpha() and key == key.lower():
        return "word"
    return "figure" if key[:1].isdigit() else "name"


def telling(keys: Sequence[str], held: Mapping[str, int], most: Mapping[Kind, int]) -> list[str]:
    """Of each kind of ``keys`` the ``most`` that fewest cards hold, in the order of ``most``; of equal ones those that
    come first."""
    by_kind: dict[Kind, list[str]] = {kind: [] for kind in most}
    for key in keys:
        by_kind.setdefault(kind_of(key), []).append(key)
    return [key for kind, n in most.items() for key in sorted(by_kind[kind], key=lambda key: held.get(key, 0))[:n]]


def ranked(question: str, cards: Sequence[Card]) -> list[str]:
    """The refs of the cards that hold anything of ``question``, best first; equal ones in the order of their refs."""
    asked = relevance.asked(question)
    weights = [_weights(card) for card in cards]
    lengths = [sum(found.values()) for found in weights]
    usual = sum(lengths) / len(lengths) if lengths else 1.0
    holding = Counter(token for found in weights for token in asked if token in found)
    idf = {t: math.log(1 + (len(cards) - holding[t] + 0.5) / (holding[t] + 0.5)) for t in asked}
    scores = {}
    for card, found, length in zip(cards, weights, lengths, strict=True):
        norm = _K1 * (1 - _B + _B * length / usual)
        total = sum(asked[t] * idf[t] * found[t] * (_K1 + 1) / (found[t] + norm) for t in asked if t in found)
        if total:
            scores[card.ref] = total
    return sorted(scores, key=lambda ref: (-scores[ref], ref))


@lru_cache(maxsize=1 << 14)
def _weights(card: Card) -> Mapping[str, float]:
    found: Counter[str] = Counter()
    path = card.ref.rpartition(".")[0] if card.kind == "document" else ""
    for weight, text in (
        (_TITLE, card.title),
        (_HEADING, " ".join((*card.headings, *(key for key in card.keys if kind_of(key) != "word")))),
        (_REST, " ".join((path, card.summary, *(key for key in card.keys if kind_of(key) == "word")))),
    ):
        for token in analyse(text):
            found[token] += weight  # type: ignore[assignment]  # weights are whole enough
    return found
