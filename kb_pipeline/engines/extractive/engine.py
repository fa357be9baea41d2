"""The engine as a whole: one method a task, each in a module of its own. Decides nothing itself.

What rules cannot do it says: it does not paraphrase, does not infer and does not resolve a pronoun.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from importlib.metadata import version

from kb_pipeline.engines.extractive import asking
from kb_pipeline.engines.extractive.extraction import extract
from kb_pipeline.engines.extractive.judge import judge_pairs
from kb_pipeline.engines.extractive.pages import written
from kb_pipeline.engines.extractive.questions import questions
from kb_pipeline.engines.extractive.tagging import tag_items
from kb_pipeline.records import (
    Briefing,
    Card,
    Chunk,
    Claim,
    Document,
    Evidence,
    Extraction,
    Item,
    Material,
    Pair,
    Picks,
    Plan,
    Question,
    Rewrite,
    Tagging,
    Taxonomy,
    Verdict,
    Written,
)
from kb_pipeline.settings import Settings
from kb_pipeline.world import Embedder, Here, Pool

_MODULES = {
    "extract": "extraction",
    "judge": "judge",
    "tag": "tagging",
    "questions": "questions",
    **dict.fromkeys(("plan", "rerank", "answer", "select"), "asking"),
}
_UNDONE = {"normalize", "write_page"}
_LIBRARIES = {"judge": ("PyStemmer",)}


class Extractive:
    """``world.Engine`` by rules. Of the settings it reads ``category_margin`` and ``answer_threshold``; ``embedder``
    serves ``tag`` alone, ``pool`` reads chunks and tags items."""

    VERSION = "1"

    def __init__(self, settings: Settings, embedder: Embedder, pool: Pool | None = None) -> None:
        self.name = f"extractive@{self.VERSION}"
        self._margin = settings.options.category_margin
        self._threshold = settings.options.answer_threshold
        self._embedder = embedder
        self._pool = pool or Here()

    def version(self, task: str) -> str:
        """The engine's version and those of the libraries that decide what ``task`` gives; it cleans nothing, and has
        no words for a page beside those of its items."""
        if task in _UNDONE:
            return ""
        return " ".join((self.name, *(f"{name}=={version(name)}" for name in _LIBRARIES.get(task, ()))))

    def modules(self, task: str) -> tuple[str, ...]:
        """Names of the modules whose code decides what ``task`` gives. Raises ``KeyError`` for another task."""
        return () if task in _UNDONE else (f"{__package__}.{_MODULES[task]}",)

    def normalize(self, documents: Sequence[Document]) -> Iterator[tuple[Rewrite, ...]]:
        """No proposal: conversion has done what rules can do."""
        return iter([()] * len(documents))

    def extract(self, chunks: Sequence[Chunk]) -> Iterator[Extraction | Exception]:
        """One draft a sentence (several for a compound), one reject for each candidate that is no item."""
        return self._pool.map(partial(extract, engine=self.name), chunks)

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """One verdict a pair, in order."""
        return judge_pairs(pairs)

    def tag(self, items: Sequence[Item], taxonomy: Taxonomy) -> Iterator[Tagging]:
        """One tagging an item, in order; ``UNCLASSIFIED`` with a note where no category is close or two are."""
        return tag_items(items, taxonomy, self._embedder, self._margin, self._pool)

    def questions(self, items: Sequence[Item], neighbours: Sequence[Sequence[Item]]) -> Iterator[list[Question]]:
        """A keyword and a natural question, a hard negative, and the paraphrase it cannot make, with the reason."""
        return (questions(item, near, self.name) for item, near in zip(items, neighbours, strict=True))

    def plan_query(self, question: str, briefing: Briefing) -> Plan:
        """A search, and the tools that the words of the question call for."""
        return asking.plan_query(question, briefing)

    def rerank(self, question: str, evidence: Sequence[Evidence]) -> list[float]:
        """The heuristic score that each piece of evidence was found with."""
        return asking.rerank(evidence)

    def answer(self, question: str, evidence: Sequence[Evidence], embedder: Embedder) -> Iterator[Claim]:
        """The best two or three sentences, verbatim; none where the best is under ``answer_threshold``."""
        return asking.answer(question, evidence, self._threshold, embedder)

    def select_pages(self, question: str, cards: Sequence[Card]) -> Picks:
        """What has most of the question's words in its title, headings and keys, of all cards at once."""
        return Picks(refs=tuple(asking.select_pages(question, cards)))

    def write_page(self, materials: Sequence[Material]) -> Iterator[Written]:
        """Each page from its items' own statements, in order: what it is where nobody writes it."""
        return map(written, materials)
