"""The shapes that a model's replies must have. Every field is asked for; what it says is judged elsewhere."""

from typing import Any, Literal

from pydantic import model_validator

from kb_pipeline.records import Confidence, Decision, Facet, ItemType, QuestionStyle, Record, Tool


class ItemReply(Record):
    """One atomic item, in the model's words and with its quote."""

    statement: str
    detail: str
    context: str | None
    topic: str
    entities: tuple[str, ...]
    item_type: ItemType
    confidence: Confidence
    source_span: str


class ItemsReply(Record):
    """What a chunk holds."""

    items: tuple[ItemReply, ...]

    @model_validator(mode="before")
    @classmethod
    def _bare_list(cls, found: Any) -> Any:
        """A list without its object is what many models give where nothing constrains them."""
        return {"items": found} if isinstance(found, list) else found


class MarkdownReply(Record):
    """A piece of a document, cleaned."""

    markdown: str


class DecisionReply(Record):
    """What becomes of a pair; ``target_id`` is the number of a candidate."""

    decision: Decision
    target_id: int | None
    reason: str


class TaggingReply(Record):
    """Where an item is filed."""

    primary_category: str
    secondary_categories: tuple[str, ...]
    tags: tuple[str, ...]
    note: str | None


class PositiveReply(Record):
    """A question that the item answers."""

    question: str
    gold_answer: str
    style: QuestionStyle


class NegativeReply(Record):
    """A question that it does not answer."""

    question: str
    why_not: str


class QuestionsReply(Record):
    """The questions of one item."""

    positives: tuple[PositiveReply, ...]
    hard_negative: NegativeReply


class CallReply(Record):
    """One look-up."""

    tool: Tool
    query: str


class PlanReply(Record):
    """How a question is looked up."""

    calls: tuple[CallReply, ...]
    reason: str


class SentenceReply(Record):
    """One sentence of an answer; ``cites`` are numbers of evidence."""

    text: str
    cites: tuple[int, ...]
    quotes: tuple[str, ...]


class AnswerReply(Record):
    """An answer, empty where the evidence does not give one."""

    sentences: tuple[SentenceReply, ...]


class ScoresReply(Record):
    """How well each candidate answers."""

    scores: tuple[float, ...]


class SelectReply(Record):
    """Numbers of the catalogue."""

    picks: tuple[int, ...]


class SaidReply(Record):
    """A sentence of a page, and the numbers of the items that it states."""

    text: str
    items: tuple[int, ...]


class SectionReply(Record):
    """A paragraph or a list of a page."""

    facet: Facet
    heading: str
    kind: Literal["prose", "list", "steps"]
    sentences: tuple[SaidReply, ...]


class PageReply(Record):
    """A page of the wiki."""

    lead: tuple[SaidReply, ...]
    sections: tuple[SectionReply, ...]


Role = Literal[
    "extract",
    "normalize",
    "judge",
    "tag",
    "questions",
    "plan",
    "answer",
    "rerank",
    "select",
    "write_page",
]
SHAPES: dict[Role, type[Record]] = {
    "extract": ItemsReply,
    "normalize": MarkdownReply,
    "judge": DecisionReply,
    "tag": TaggingReply,
    "questions": QuestionsReply,
    "plan": PlanReply,
    "answer": AnswerReply,
    "rerank": ScoresReply,
    "select": SelectReply,
    "write_page": PageReply,
}
"""The shape of the reply to each task."""
