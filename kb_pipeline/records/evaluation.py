"""Gold questions and how well they are answered."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from kb_pipeline.records.record import SCHEMA_VERSION, QuestionStyle, Record


class Question(Record):
    """One gold question. A hard negative has no ``expected_item_id``; a style that the engine cannot make
    honestly has ``question`` null and says why in ``note``. ``about`` is the item it was made from, ``made_from`` the
    hash of what it was made from; both are set outside the engine."""

    schema_version: int = SCHEMA_VERSION
    id: str
    style: QuestionStyle | Literal["hard_negative"]
    question: str | None
    gold_answer: str = ""
    expected_item_id: str | None = None
    about: str = ""
    made_from: str = ""
    source_id: str = ""
    engine: str = ""
    note: str = ""


class Rank(Record):
    """Where the expected item of one question stood (from 1) in one generation's hits, or None beyond ``depth``."""

    generation: str
    question: str
    rank: int | None


class Trial(Record):
    """One gold question answered.

    ``cited`` holds the ref of each thing cited, of what was read whole the documents it comes from too; ``passed`` and
    ``dropped`` count sentences before the verifier. ``expected`` is empty for a hard negative, ``about`` the item it
    was made from.
    """

    question: str
    style: str
    expected: str
    about: str
    answered: bool
    cited: tuple[tuple[str, ...], ...] = ()
    passed: int = 0
    dropped: int = 0
    calls: int = 0
    ms: float = 0.0


class EvalResult(Record):
    """One line of ``kb/eval/results.jsonl``. ``metrics`` maps a slice (``all``, ``style:nl``, ``source:notes``,
    ``human``) to measures (``recall@10``, ``mrr``, ``ndcg@10``, ``n``). ``common`` holds the measures of this
    generation (``candidate``) and of the live one (``live``) over the questions that both can answer. ``answers`` maps
    a way of answering to its measures (``rules.trials``), ``spent`` to what a question cost."""

    schema_version: int = SCHEMA_VERSION
    generation: str
    engine: str
    at: str
    counts: Mapping[str, int]
    metrics: Mapping[str, Mapping[str, float]]
    compared_with: str | None = None
    common: Mapping[str, Mapping[str, float]] = Field(default_factory=dict)
    answers: Mapping[str, Mapping[str, float]] = Field(default_factory=dict)
    spent: Mapping[str, Mapping[str, float]] = Field(default_factory=dict)
