"""An honest model: replies to our prompts by rules over what the prompt shows, so that the whole pipeline runs over it.

It reads the rendered prompt as a model would, knows nothing else, and is no measure of what a model can do.
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, cast

from kb_pipeline.engines.extractive.asking import plan_query
from kb_pipeline.engines.extractive.extraction import extract
from kb_pipeline.engines.extractive.judge import judge_pairs
from kb_pipeline.engines.extractive.questions import questions
from kb_pipeline.engines.extractive.tagging import tag_items
from kb_pipeline.prompts import names, prompt
from kb_pipeline.records import Briefing, Category, Chunk, Item, Pair, QuestionStyle, Side, Taxonomy, Tool
from kb_pipeline.rules import relevance
from kb_pipeline.services.embedder import open_embedder
from kb_pipeline_tests.endpoint import Asked

Reply = dict[str, Any]
_FENCED = re.compile(r"<<<(?P<mark>[0-9a-f]{16})\n(?P<value>.*?)\n(?P=mark)>>>", re.DOTALL)
_CATEGORY = re.compile(r"^- (?P<name>[^:\n]+): (?P<description>.*) Keywords: (?P<keywords>.*)$", re.MULTILINE)
_TAG = re.compile(r"^- (?P<tag>[^:\n]+?)(?:: (?P<aliases>.*))?$", re.MULTILINE)


def answer(system: str, user: str) -> Reply:
    """The reply to a prompt of ours."""
    return _TASKS[task_of(system)](system, shown(user))


def task_of(system: str) -> str:
    """Which prompt this is, by its first line."""
    first = system.splitlines()[0]
    return next(name for name in names() if prompt(name).system.splitlines()[0] == first)


def shown(user: str) -> list[str]:
    """What stands between the fences, in order."""
    return [m["value"] for m in _FENCED.finditer(user)]


def _extract(_: str, values: list[str]) -> Reply:
    headings, header, source = values
    kind = "table" if header else "text"
    found = extract(
        Chunk(
            id="c",
            doc_id="d",
            hash="h",
            kind=kind,
            heading=tuple(headings.split(" > ")) if headings else (),
            text=source,
            header=header,
            start=0,
            end=len(source),
        ),
        "honest",
    )
    fields = {"statement", "detail", "context", "topic", "entities", "item_type", "confidence", "source_span"}
    return {"items": [d.model_dump(mode="json", include=fields) for d in found.drafts]}


def _normalize(_: str, values: list[str]) -> Reply:
    return {"markdown": values[0]}


def _judge(_: str, values: list[str]) -> Reply:
    new, existing = (Side.model_validate_json(value[value.index("{") :]) for value in values)
    (verdict,) = judge_pairs([Pair(a=new, b=existing, cosine=0.95, ratio=0.9)])
    target = 1 if verdict.decision == "merge" else None
    return {"decision": verdict.decision, "target_id": target, "reason": verdict.reason}


def _tag(system: str, values: list[str]) -> Reply:
    item = Item(id="kb_0", **json.loads(values[0]))
    (found,) = tag_items([item], _taxonomy(system), _EMBEDDER, 0.0)
    fields = {"primary_category", "secondary_categories", "tags", "note"}
    return found.model_dump(mode="json", include=fields)


@lru_cache(maxsize=8)
def _taxonomy(system: str) -> Taxonomy:
    closed, _, rest = system.partition("\nTag vocabulary")
    rest = rest.partition("\n\nRules")[0]
    return Taxonomy(
        categories=tuple(
            Category(name=m["name"], description=m["description"], keywords=tuple(m["keywords"].split(", ")))
            for m in _CATEGORY.finditer(closed)
        ),
        tags={m["tag"]: tuple((m["aliases"] or "").split(", ")) if m["aliases"] else () for m in _TAG.finditer(rest)},
    )


def _questions(_: str, values: list[str]) -> Reply:
    item = Item(id="kb_0", **json.loads(values[0]))
    near = [Item(id=f"kb_{n}", statement=line[2:]) for n, line in enumerate(values[1].splitlines(), start=1)]
    made = {q.style: q for q in questions(item, near, "honest")}
    asked = {style: made[style].question or f"Where is it told that {item.statement}" for style in _STYLES}
    positives = [{"question": q, "gold_answer": item.statement, "style": style} for style, q in asked.items()]
    negative = made["hard_negative"].question or "What does nobody say?"
    return {"positives": positives, "hard_negative": {"question": negative, "why_not": "the item does not say it"}}


def _plan(_: str, values: list[str]) -> Reply:
    question, available = values
    tools = available.partition("Tools: ")[2].partition("\n")[0].split(", ")
    today = available.partition("Today: ")[2][:10]
    planned = plan_query(question, Briefing(today=today, tools=tuple(cast(Tool, tool) for tool in tools)))
    calls = [{"tool": call.tool, "query": call.query} for call in planned.calls]
    return {"calls": calls, "reason": "the words of the question"}


def _answer(_: str, values: list[str]) -> Reply:
    """Sentences of the two pieces that hold most of the question, quoted whole; none where they hold little of it."""
    question, evidence = values
    asked = relevance.asked(question)
    told = []
    for piece in _PIECE.finditer(evidence):
        lines = [line for line in piece["text"].splitlines() if line and not line.startswith(("(", "Quote: "))]
        for text in (sentence.strip() for line in lines for sentence in re.split(r"(?<=[.!?])\s", line)):
            told.append((relevance.coverage(asked, f"{piece['where']} {text}"), text, int(piece["number"])))
    told.sort(key=lambda found: -found[0])
    chosen = [found for found in told[:2] if found[0] >= 0.5]
    return {"sentences": [{"text": text, "cites": [number], "quotes": [text]} for _, text, number in chosen]}


def _rerank(_: str, values: list[str]) -> Reply:
    question, candidates = values
    asked = relevance.asked(question)
    return {"scores": [round(10 * relevance.coverage(asked, m["text"]), 1) for m in _PIECE.finditer(candidates)]}


def _select(_: str, values: list[str]) -> Reply:
    question, catalogue = values
    asked = relevance.asked(question)
    lines = [line.partition(". ") for line in catalogue.splitlines()]
    shares = sorted((-relevance.coverage(asked, text), int(number)) for number, _, text in lines)
    return {"picks": [number for share, number in shares[:3] if share]}


def _write_page(_: str, values: list[str]) -> Reply:
    told = [{"text": json.loads(m["item"])["statement"], "items": [int(m["n"])]} for m in _NUMBERED.finditer(values[1])]
    sections = [{"facet": "how", "heading": "", "kind": "prose", "sentences": told[1:]}]
    return {"lead": told[:1], "sections": sections if told[1:] else []}


_NUMBERED = re.compile(r"^\[(?P<n>\d+)\] (?P<item>\{.*\})$", re.MULTILINE)
_PIECE = re.compile(r"^\[(?P<number>\d+)\] (?P<where>.*)\n(?P<text>(?:(?!\n\n\[\d+\] )[\s\S])*)", re.MULTILINE)
_STYLES: tuple[QuestionStyle, ...] = ("keyword", "nl", "paraphrase")
_EMBEDDER = open_embedder("hashing")
_TASKS: Mapping[str, Callable[[str, list[str]], Reply]] = {
    "extract": _extract,
    "normalize": _normalize,
    "judge": _judge,
    "tag": _tag,
    "questions": _questions,
    "plan": _plan,
    "answer": _answer,
    "rerank": _rerank,
    "select": _select,
    "write_page": _write_page,
}


def honest(asked: Asked) -> Reply | None:
    """A rule of the fake endpoint: the honest reply to what is ours, whatever the endpoint adds to the prompt."""
    if asked.path.endswith("/chat/completions") and asked.system:
        return answer(asked.system, asked.user)
    return None
