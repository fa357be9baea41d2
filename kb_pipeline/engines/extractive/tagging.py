"""Category and tags of items: cosine to what a category says of itself, keywords, and the vocabulary's own phrases.

Owns the thresholds. Reads statement, detail and entities alone; refuses to invent a category and admits when none fits.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kb_pipeline.engines.extractive.phrases import VAGUE, noun_phrases
from kb_pipeline.records import UNCLASSIFIED, Item, Tagging, Taxonomy
from kb_pipeline.rules.ids import canonical
from kb_pipeline.rules.taxonomy import MOST_TAGS, Phrasebook, name_form, phrase, tag_form, vocabulary
from kb_pipeline.world import Embedder, Here, Pool

KEYWORD_BONUS, MOST_KEYWORDS = 0.06, 3
"""A keyword is worth .06 of cosine, three at most: on AG News it raised accuracy from .804 to .820 (MiniLM)."""

FLOOR = 0.25
"""Least score of a category. Measured with MiniLM on fourteen categories of LLM serving: 8% of the sentences of the
sample score less, 95% of sentences of medical abstracts and 68% of those on another library do."""

NEAR = 0.06
"""A category this close behind the primary one is a secondary one."""

FEWEST_TAGS, ENOUGH_TAGS = 2, 4
_MOST_SECONDARY = 2
_LONGEST_TAG, _MOST_WORDS = 32, 4

Scores = npt.NDArray[np.float32]


_PART = 128  # items that travel to a worker at a time: about 10 ms of work


class _Said(NamedTuple):
    """What is read of an item."""

    statement: str
    detail: str
    entities: tuple[str, ...]


def tag_items(
    items: Sequence[Item], taxonomy: Taxonomy, embedder: Embedder, margin: float, pool: Pool | None = None
) -> Iterator[Tagging]:
    """One tagging an item, in order, as they are asked for; ``pool`` begins with them at once. ``margin`` is the least
    distance of the best category to the next."""
    if not items:
        return iter(())
    cosines = _cosines(items, taxonomy, embedder)
    said = [_Said(item.statement, item.detail, item.entities) for item in items]
    parts = [(said[at : at + _PART], cosines[at : at + _PART]) for at in range(0, len(said), _PART)]
    return _in_order((pool or Here()).map(_Librarian(taxonomy, margin).tag_all, parts, part=1))


def _in_order(parts: Iterable[list[Tagging] | Exception]) -> Iterator[Tagging]:
    for found in parts:
        if isinstance(found, Exception):
            raise found
        yield from found


def _cosines(items: Sequence[Item], taxonomy: Taxonomy, embedder: Embedder) -> Scores:
    """Shape ``(items, categories)``: how close each statement is to the mean of what a category says of itself."""
    categories = taxonomy.categories
    if not categories:
        return np.zeros((len(items), 0), np.float32)
    said = embedder.embed([text for c in categories for text in (c.name, c.description, ", ".join(c.keywords))])
    means = said.reshape(len(categories), 3, -1).mean(axis=1)
    means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9)
    cosines: Scores = embedder.embed([canonical(item.statement) for item in items]) @ means.T
    return cosines


@dataclass(frozen=True, slots=True)
class _Placing:
    """Where an item belongs: the best category, those close behind, or a note on why there is none."""

    primary: str
    secondary: tuple[str, ...]
    note: str | None
    margin: float


class _Librarian:
    """A taxonomy in the forms in which it is looked up."""

    def __init__(self, taxonomy: Taxonomy, margin: float) -> None:
        self.names = [c.name for c in taxonomy.categories]
        self.margin = margin
        self.keywords = Phrasebook({c.name: (c.name, *c.keywords) for c in taxonomy.categories})
        self.column = {name: n for n, name in enumerate(self.names)}
        self.vocabulary = vocabulary(taxonomy.tags)
        self.known = frozenset(taxonomy.tags)
        self.of_category = {
            c.name: tuple(self.vocabulary.find(phrase(" . ".join((c.name, *c.keywords))))) for c in taxonomy.categories
        }

    def tag_all(self, part: tuple[Sequence[_Said], Scores]) -> list[Tagging]:
        """The taggings of items with these cosines to the categories."""
        said, cosines = part
        texts = [phrase(" . ".join((item.statement, item.detail, *item.entities))) for item in said]
        return [self._tag(*row) for row in zip(said, texts, self._scores(cosines, texts), strict=True)]

    def _scores(self, cosines: Scores, texts: Sequence[tuple[str, ...]]) -> Scores:
        """Cosine plus keyword bonus, to three decimals since vectors differ by batch."""
        scores = cosines.copy()
        for row, text in zip(scores, texts, strict=True):
            for name, phrases in self.keywords.find(text).items():
                row[self.column[name]] += KEYWORD_BONUS * min(len(phrases), MOST_KEYWORDS)
        rounded: Scores = np.round(scores, 3)
        return rounded

    def _tag(self, item: _Said, text: tuple[str, ...], scores: Scores) -> Tagging:
        placing = self._place(scores)
        tags = self._tags(item, text, placing.primary)
        return Tagging(
            primary_category=placing.primary,
            secondary_categories=placing.secondary,
            tags=tags,
            note=placing.note,
            margin=placing.margin,
            candidates=tuple(tag for tag in tags if tag not in self.known),
        )

    def _place(self, scores: Scores) -> _Placing:
        if not self.names:
            return _Placing(UNCLASSIFIED, (), "The taxonomy has no categories.", 0.0)
        order = np.argsort(-scores, kind="stable")
        best, name = float(scores[order[0]]), self.names[order[0]]
        gap = round(best - float(scores[order[1]]), 3) if len(order) > 1 else 1.0
        if best < FLOOR:
            note = f"No category is close: the best, {name}, scores {best:.3f} of the {FLOOR} needed."
            return _Placing(UNCLASSIFIED, (), note, gap)
        if gap < self.margin:
            note = f"Between {name} and {self.names[order[1]]}: {gap:.3f} apart where {self.margin} is needed."
            return _Placing(UNCLASSIFIED, (), note, gap)
        near = [self.names[n] for n in order[1:] if best - float(scores[n]) <= NEAR and scores[n] >= FLOOR]
        return _Placing(name, tuple(near[:_MOST_SECONDARY]), None, gap)

    def _tags(self, item: _Said, text: tuple[str, ...], category: str) -> tuple[str, ...]:
        """Known tags that occur, then names of the item; at need the category's own and words of the statement."""
        tags = _distinct((), self.vocabulary.find(text), MOST_TAGS)
        if len(tags) >= ENOUGH_TAGS:
            return tags
        unknown = [name for name in item.entities if not self.vocabulary.find(phrase(name))]
        tags = _distinct(tags, _from_names(unknown), ENOUGH_TAGS)
        tags = _distinct(tags, self.of_category.get(category, ())[:1], FEWEST_TAGS)
        if len(tags) >= FEWEST_TAGS:
            return tags
        fresh = (tag for tag in _from_words(item.statement, unknown) if not self.vocabulary.find(phrase(tag)))
        return _distinct(tags, fresh, FEWEST_TAGS)


def _distinct(tags: tuple[str, ...], more: Iterable[str], most: int) -> tuple[str, ...]:
    """``tags`` and as many of ``more`` as say something new, up to ``most``."""
    kept = list(tags)
    for tag in more:
        if len(kept) >= most:
            break
        parts = set(tag.split("-"))
        if not any(parts <= (other := set(k.split("-"))) or other <= parts for k in kept):
            kept.append(tag)
    return tuple(kept)


def _from_names(names: Iterable[str]) -> Iterator[str]:
    """Names as tags, before them what looks like a name rather than code; plain words and figures are none."""
    telling = [name for name in names if not (name.isalpha() and name.islower())]
    for name in sorted(telling, key=lambda name: _CODE.search(name) is not None):
        tag = name_form(name) if _CODE.search(name) or _PERSON.fullmatch(name) else tag_form(name)
        if _is_tag(tag):
            yield tag


def _from_words(statement: str, names: Sequence[str]) -> Iterator[str]:
    """Plain names, then noun-like phrases of the statement, those of two words first."""
    yield from (tag_form(name) for name in names if name.isalpha() and name.islower())
    for found in sorted(noun_phrases(statement), key=lambda found: -len(found.split())):
        if _is_tag(tag := tag_form(found)):
            yield tag


def _is_tag(tag: str) -> bool:
    told = re.search(r"[^\W\d_]{2}", tag) is not None and tag not in VAGUE
    return told and len(tag) <= _LONGEST_TAG and tag.count("-") < _MOST_WORDS


_CODE = re.compile(r"[._/:\[@]|^--")
_PERSON = re.compile(r"[A-ZÀ-Þ][a-zà-ÿ]+(?: [A-ZÀ-Þ][a-zà-ÿ]+)+")
