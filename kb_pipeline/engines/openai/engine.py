"""The engine as a whole: one method a task, each in a module of its own. Decides nothing itself.

What a model says is a claim: its replies have a shape, and what they say is proven or thrown away outside.
"""

from collections.abc import Iterator, Sequence

from kb_pipeline.engines.openai import answering
from kb_pipeline.engines.openai.asking import questions
from kb_pipeline.engines.openai.extraction import extract
from kb_pipeline.engines.openai.judging import judge
from kb_pipeline.engines.openai.normalizing import normalize
from kb_pipeline.engines.openai.pages import write
from kb_pipeline.engines.openai.tagging import tag
from kb_pipeline.prompts import prompt
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
from kb_pipeline.world import ChatClient, Embedder

_MODULES = {
    "normalize": "normalizing",
    "extract": "extraction",
    "judge": "judging",
    "tag": "tagging",
    "questions": "asking",
    "write_page": "pages",
    **dict.fromkeys(("plan", "rerank", "answer", "select"), "answering"),
}


class OpenAi:
    """``world.Engine`` by questions to ``client``. Of the settings it reads ``normalize``."""

    def __init__(self, settings: Settings, client: ChatClient) -> None:
        self._which = settings.options.normalize
        self._client = client
        self.name = f"openai:{client.model('extract')}"

    def version(self, task: str) -> str:
        """The model that answers ``task`` and the version of its prompt. Raises ``KeyError`` for another task."""
        return f"openai:{self._client.model(task)} {task}.md@{prompt(task).version}"

    def modules(self, task: str) -> tuple[str, ...]:
        """Names of the modules whose code decides what ``task`` gives. Raises ``KeyError`` for another task."""
        return (f"{__package__}.{_MODULES[task]}",)

    def normalize(self, documents: Sequence[Document]) -> Iterator[tuple[Rewrite, ...] | Exception]:
        """Proposals for the pieces of prose of each document, in order."""
        return normalize(documents, self._which, self._client)

    def extract(self, chunks: Sequence[Chunk]) -> Iterator[Extraction | Exception]:
        """One extraction a chunk, in order; a ``ModelError`` in place of one that the model could not give."""
        return extract(chunks, self._client, self.name)

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """One verdict a pair, in order, each pair a question of its own."""
        return judge(pairs, self._client)

    def tag(self, items: Sequence[Item], taxonomy: Taxonomy) -> list[Tagging]:
        """One tagging an item, in order, as the model gives it."""
        return tag(items, taxonomy, self._client)

    def questions(self, items: Sequence[Item], neighbours: Sequence[Sequence[Item]]) -> Iterator[list[Question]]:
        """One question a style and a hard negative for each item, in order."""
        return questions(items, neighbours, self._client, self.name)

    def plan_query(self, question: str, briefing: Briefing) -> Plan:
        """The look-ups that the model asks for."""
        return answering.plan_query(question, briefing, self._client)

    def rerank(self, question: str, evidence: Sequence[Evidence]) -> list[float]:
        """The model's scores, all candidates in one question."""
        return answering.rerank(question, evidence, self._client)

    def answer(self, question: str, evidence: Sequence[Evidence], embedder: Embedder) -> Iterator[Claim]:
        """The model's sentences, all in one question."""
        return answering.answer(question, evidence, self._client)

    def select_pages(self, question: str, cards: Sequence[Card]) -> Picks:
        """What the model picks from the catalogue, a question a batch."""
        return answering.select_pages(question, cards, self._client)

    def write_page(self, materials: Sequence[Material]) -> Iterator[Written | Exception]:
        """Each page in the model's words, in order; a ``ModelError`` in place of one that it could not give."""
        return write(materials, self._client)
