"""Planning, choosing and answering by rules. Owns the words that call for a tool, and which sentences are quoted.

It answers by quoting: nothing is put in other words, so it cannot combine two facts, count, compare or infer. It tells
a question on another subject from one of ours; that our subject is known but this of it is not stated, it cannot tell.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from kb_pipeline.engines.extractive import sentences
from kb_pipeline.records import Briefing, Card, Claim, Evidence, Plan, Tool, ToolCall
from kb_pipeline.rules import catalogue, relevance
from kb_pipeline.rules.analyser import analyse
from kb_pipeline.rules.citations import LONGEST
from kb_pipeline.rules.ids import canonical
from kb_pipeline.rules.numbers import quantities
from kb_pipeline.rules.wording import content
from kb_pipeline.world import Embedder

MOST = 3
"""Sentences of an answer."""
CLOSE = 0.85
"""Share of the best sentence's strength that another one must have to stand beside it."""
_SAME = 0.8  # share of content words at which a sentence says what another one said
_FIGURE = 0.1  # what a figure is worth where one is asked for
_EMBEDDED = 40  # sentences of passages that are compared by meaning
_LONG = frozenset({"chunk", "page", "document"})
_WHOLE = frozenset({"page", "document"})
_OF_TOOLS = frozenset({"change", "person", "conflict"})
_STOPS = tuple(".!?。！？")
_CALLED_FOR = 0.5
"""What evidence of a tool that the question's own words call for is worth more."""

_ASKS_FIGURE = re.compile(
    r"\bhow (?:many|much|long|often|big|large|far|old|fast|high)\b|\bwhich version\b", re.IGNORECASE
)
_WORDS: Mapping[Tool, Sequence[str]] = {
    "conflicts": (r"\b(?:conflict|contradict|disagree|inconsisten)\w*",),
    "who_knows": (
        r"\bwhom? (?:knows|wrote|owns|maintains|can (?:help|explain|tell))\b",
        r"\bwhom? (?:do|should|can) (?:i|we) (?:ask|talk)\b",
        r"\bwho is (?:responsible|the (?:expert|author|owner))\b",
    ),
    "recent_changes": (
        r"\bwhat(?:'s| is| has| was)? (?:new|changed)\b",
        r"\b(?:recent|latest) changes?\b",
        r"\bchanged? (?:since|recently|lately|last|this|today|yesterday)\b",
    ),
    "catalogue": (r"\b(?:overview|summar(?:y|ise|ize)|everything about|all about|introduction to)\b",),
}
_CALLS = {tool: re.compile("|".join(patterns), re.IGNORECASE) for tool, patterns in _WORDS.items()}
_ITEM = re.compile(r"\bkb_[0-9a-f]{12}\b")
_DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_VERSION = re.compile(r"\bv?\d+\.\d+(?:\.\w+)*\b|\bversion \d", re.IGNORECASE)
_AGO = {"today": 0, "yesterday": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}
_RECENT = 7  # days that "recently" reaches back


def plan_query(question: str, briefing: Briefing) -> Plan:
    """A search for the question (the catalogue where that is not offered), and the tools that its words call for."""
    first: Tool = "search" if "search" in briefing.tools else "catalogue"
    calls = [ToolCall(tool=first, query=question)]
    calls += [ToolCall(tool="get", query=name) for name in _ITEM.findall(question)]
    for tool, words in _CALLS.items():
        if tool in briefing.tools and words.search(question) and tool != first:
            if tool != "recent_changes":
                calls.append(ToolCall(tool=tool, query=question))
            elif not _of_a_version(question):
                calls.append(ToolCall(tool=tool, query=_since(question, briefing.today)))
    return Plan(question=question, calls=tuple(calls), reason="by the words of the question")


def _of_a_version(question: str) -> bool:
    """Whether a question asks what a version of something changed, which documents tell, not when they did."""
    return bool(_VERSION.search(question)) and not _DAY.search(question)


def _since(question: str, today: str) -> str:
    """The day that a question looks back to."""
    if named := _DAY.search(question):
        return named.group()
    back = next((days for word, days in _AGO.items() if word in question.casefold()), _RECENT)
    return (date.fromisoformat(today) - timedelta(days=back)).isoformat()


def rerank(evidence: Sequence[Evidence]) -> list[float]:
    """The heuristic score of each piece of evidence, 0 to 10: what was measured when it was found."""
    return [
        relevance.rerank(e.scores.get("cosine"), e.scores.get("coverage", 0.0), e.scores.get("fused", 0.0))
        for e in evidence
    ]


def select_pages(question: str, cards: Sequence[Card]) -> list[str]:
    """The refs of the cards that hold most of the question's words."""
    return catalogue.ranked(question, cards)


def answer(question: str, evidence: Sequence[Evidence], threshold: float, embedder: Embedder) -> Iterator[Claim]:
    """The best two or three sentences of the evidence, verbatim; none where the best is under ``threshold`` of 10, or
    where none is about the version, model or code that the question names.

    What was replaced is left out where what replaced it may be quoted: a note of that tells of it.
    """
    quotable = [found for found in evidence if found.quotable and _may_answer(question, found)]
    told = [*_items(question, quotable), *_passages(question, evidence, quotable, embedder)]
    told = [former for former in told if not any(_replaces(other, former) for other in told)]
    told.sort(key=lambda candidate: -candidate.strength)
    said: list[str] = []
    for candidate in told:
        weak = candidate.strength < CLOSE * told[0].strength or relevance.logistic(candidate.strength) < threshold
        if weak or len(said) == MOST:
            return
        if not any(_alike(candidate.text, other) for other in said):
            said.append(candidate.text)
            quotes = (candidate.text,) if candidate.text in candidate.found.quote else ()
            yield Claim(text=candidate.text, cites=(candidate.found.id,), quotes=quotes)


@dataclass(frozen=True)
class _Candidate:
    """A sentence of a piece of evidence; ``strength`` is its nearness to the question and its coverage, 0 to 2."""

    text: str
    strength: float
    found: Evidence


def _may_answer(question: str, found: Evidence) -> bool:
    """Whether a piece of evidence may be quoted: a tool's, which was called for, or one about what is named."""
    if found.kind in _OF_TOOLS:
        return True
    return bool(relevance.specific(question)) and relevance.about(question, _held(found))


def _held(found: Evidence) -> frozenset[str]:
    """The tokens of a piece of evidence and of what stands above it."""
    above = (found.title, found.heading, found.doc_id, *found.docs)
    return frozenset(analyse("\n".join((found.text, found.quote, *above))))


def _items(question: str, evidence: Sequence[Evidence]) -> Iterator[_Candidate]:
    """What stands for itself, as it stands, with what was measured when it was found."""
    for found in evidence:
        text = " ".join(found.text.split())
        if found.kind not in _LONG and 0 < len(text) <= LONGEST:
            strength = relevance.strength(found.scores.get("cosine"), found.scores.get("coverage", 1.0))
            called = _CALLED_FOR if found.kind in _OF_TOOLS else 0.0
            yield _Candidate(text, strength + called + _figure(question, text), found)


def _passages(
    question: str, evidence: Sequence[Evidence], quotable: Sequence[Evidence], embedder: Embedder
) -> Iterator[_Candidate]:
    """Sentences of passages, pages and documents; only those that hold most of the question's words are embedded.

    Words count by their rarity in what a search found, where the subject is common and what is asked of it is not. Of
    a few whole documents it tells nothing: by it 83 % of the sample's questions would be answered, without it 88 %.
    """
    asked, hits = relevance.asked(question), [_held(found) for found in evidence if found.kind not in _WHOLE]
    asked = relevance.by_rarity(asked, hits) if hits else asked
    told = [
        (relevance.coverage(asked, f"{text}\n{found.title}\n{found.heading}"), text, found)
        for found in quotable
        if found.kind in _LONG
        for text in _sentences(found.text)
    ]
    told.sort(key=lambda entry: -entry[0])
    told = told[:_EMBEDDED]
    if told:
        near = embedder.embed([question, *(canonical(text) for _, text, _ in told)])
        for (share, text, found), cosine in zip(told, near[1:] @ near[0], strict=True):
            yield _Candidate(text, relevance.strength(float(cosine), share) + _figure(question, text), found)


def _sentences(text: str) -> Iterator[str]:
    """The sentences of Markdown that can stand alone: no headings, no rows, nothing that a line break cuts."""
    for line in text.split("\n\n"):
        for start, end in sentences.split(" ".join(line.split())):
            sentence = " ".join(line.split())[start:end].lstrip("-*> ")
            if sentence[-1:] in _STOPS and not sentence.startswith(("#", "|")) and len(sentence) <= LONGEST:
                yield sentence


def _figure(question: str, text: str) -> float:
    return _FIGURE if _ASKS_FIGURE.search(question) and quantities(text) else 0.0


def _replaces(candidate: _Candidate, other: _Candidate) -> bool:
    """Whether a candidate is of the item by which, as its evidence says, the other one is superseded: all of an item,
    of a passage the sentence that is named."""
    by = f"superseded by {candidate.found.ref}"
    return any(hint == by or (hint.endswith(by) and other.text in hint) for hint in other.found.hints)


def _alike(text: str, other: str) -> bool:
    ours, theirs = set(content(text)), set(content(other))
    if canonical(text) == canonical(other) or not ours or not theirs:
        return True
    same_figures = [q.values for q in quantities(text)] == [q.values for q in quantities(other)]
    return same_figures and len(ours & theirs) >= _SAME * min(len(ours), len(theirs))
