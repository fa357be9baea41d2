"""Gold questions by a model: one item a question. Owns their ids; whether they may be asked is checked outside."""

import json
from collections.abc import Iterator, Sequence

from kb_pipeline.engines.openai.failing import words_of
from kb_pipeline.engines.openai.replies import QuestionsReply
from kb_pipeline.errors import ModelError
from kb_pipeline.prompts import render
from kb_pipeline.records import Ask, Item, Question, QuestionStyle
from kb_pipeline.rules.ids import digest
from kb_pipeline.world import ChatClient

STYLES: tuple[QuestionStyle, ...] = ("keyword", "nl", "paraphrase")
_NONE = "the model gave no question of this style"


def questions(
    items: Sequence[Item], neighbours: Sequence[Sequence[Item]], client: ChatClient, engine: str
) -> Iterator[list[Question]]:
    """One question a style and a hard negative for each item, in order; null with the reason where there is none.

    Raises ``ModelError`` where the endpoint cannot be reached.
    """
    asks = [ask(item, near) for item, near in zip(items, neighbours, strict=True)]
    for item, reply in zip(items, client.ask(asks, QuestionsReply), strict=True):
        yield _questions(item, reply, engine)


def ask(item: Item, neighbours: Sequence[Item]) -> Ask:
    """The question about one item: what it and its neighbours say."""
    near = "\n".join(f"- {n.statement}" for n in neighbours) or "(there are none)"
    shown = render("questions", item=_shown(item), neighbours=near)
    doc_id = item.sources[0].doc_id if item.sources else ""
    return Ask(
        task="questions",
        version=shown.version,
        system=shown.system,
        user=shown.user,
        max_tokens=1024,
        source_id=doc_id.partition("/")[0],
        doc_id=doc_id,
    )


def _shown(item: Item) -> str:
    fields = item.model_dump(include={"statement", "detail", "context", "entities"})
    return json.dumps({**fields, "entities": sorted(item.entities)}, ensure_ascii=False, sort_keys=True)


def _questions(item: Item, reply: QuestionsReply | ModelError, engine: str) -> list[Question]:
    if isinstance(reply, ModelError):
        why = words_of(reply)
        return [_absent(item, style, why, engine) for style in (*STYLES, "hard_negative")]
    made: list[Question] = []
    for style in STYLES:
        found = next((p for p in reply.positives if p.style == style and p.question.strip()), None)
        if found is None:
            made.append(_absent(item, style, _NONE, engine))
        else:
            made.append(
                Question(
                    id=_id(item, style, found.question),
                    style=style,
                    question=" ".join(found.question.split()),
                    gold_answer=found.gold_answer.strip(),
                    expected_item_id=item.id,
                    engine=engine,
                )
            )
    negative = " ".join(reply.hard_negative.question.split())
    if not negative:
        return [*made, _absent(item, "hard_negative", _NONE, engine)]
    why = " ".join(reply.hard_negative.why_not.split())
    asked = _id(item, "hard_negative", negative)
    return [*made, Question(id=asked, style="hard_negative", question=negative, engine=engine, note=why)]


def _absent(item: Item, style: str, why: str, engine: str) -> Question:
    fields = {"id": _id(item, style), "style": style, "question": None, "engine": engine, "note": why}
    return Question.model_validate(fields)


def _id(item: Item, style: str, text: str = "") -> str:
    return f"q_{digest(item.id, style, text)[:12]}"
