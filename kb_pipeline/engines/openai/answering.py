"""Planning, choosing and answering by a model. Owns what it is shown: numbers in place of ids, as much as fits.

What it says is a claim: that the tools exist, that numbers name evidence and that this carries the sentence is checked
outside. Questions about many documents are put in batches; nothing is left out without a word.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from kb_pipeline.engines.openai.failing import words_of
from kb_pipeline.engines.openai.replies import AnswerReply, PlanReply, ScoresReply, SelectReply
from kb_pipeline.errors import ModelError
from kb_pipeline.prompts import render
from kb_pipeline.records import Ask, Briefing, Card, Claim, Evidence, Picks, Plan, ToolCall
from kb_pipeline.rules.catalogue import Kind, telling
from kb_pipeline.world import ChatClient

CATALOGUE = 24_000
"""Code points of a catalogue that one question shows; a larger one is put in batches, then their picks against each
other."""
CANDIDATE = 600
"""Code points that a candidate is judged by."""

_HEADINGS = 8
_KEYS: Mapping[Kind, int] = {"name": 8, "figure": 4, "word": 8}
"""How many keys of each kind a line of the catalogue shows."""
_ID = re.compile(r"kb_[0-9a-f]{12}")


def plan_query(question: str, briefing: Briefing, client: ChatClient) -> Plan:
    """The model's look-ups; none where it cannot answer, which leaves the plan to who asked.

    Raises ``ModelError`` where the endpoint cannot be reached.
    """
    sources = "\n".join(f"- {s.id} ({s.type}, {s.documents} documents): {s.about}" for s in briefing.sources)
    available = f"Today: {briefing.today}\nTools: {', '.join(briefing.tools)}\nSources:\n{sources or '(none)'}"
    shown = render("plan", question=question, available=available)
    (reply,) = client.ask(
        [Ask(task="plan", version=shown.version, system=shown.system, user=shown.user, max_tokens=512)], PlanReply
    )
    if isinstance(reply, ModelError):
        return Plan(question=question, calls=(), reason=words_of(reply))
    calls = tuple(ToolCall(tool=call.tool, query=call.query.strip()) for call in reply.calls)
    return Plan(question=question, calls=calls, reason=" ".join(reply.reason.split())[:300])


def answer(question: str, evidence: Sequence[Evidence], client: ChatClient) -> Iterator[Claim]:
    """The model's sentences, numbers put back into ids; a number that names nothing stays one, for the verifier.

    Raises ``ModelError`` where there is no usable reply: silence would look like an answer that is not there.
    """
    pieces = "\n\n".join(_piece(number, found) for number, found in enumerate(evidence, start=1))
    shown = render("answer", question=question, evidence=pieces)
    ask = Ask(task="answer", version=shown.version, system=shown.system, user=shown.user, max_tokens=2048)
    (reply,) = client.ask([ask], AnswerReply)
    if isinstance(reply, ModelError):
        raise reply
    for sentence in reply.sentences:
        cites = tuple(evidence[n - 1].id if 0 < n <= len(evidence) else f"[{n}]" for n in sentence.cites)
        yield Claim(text=sentence.text, cites=cites, quotes=sentence.quotes)


def rerank(question: str, evidence: Sequence[Evidence], client: ChatClient) -> list[float]:
    """The model's scores, between 0 and 10; none where it gives none, or not one a candidate.

    Raises ``ModelError`` where the endpoint cannot be reached.
    """
    if not evidence:
        return []
    candidates = "\n\n".join(f"[{n}] {_where(e)}\n{e.text[:CANDIDATE]}" for n, e in enumerate(evidence, start=1))
    shown = render("rerank", question=question, candidates=candidates)
    ask = Ask(task="rerank", version=shown.version, system=shown.system, user=shown.user, max_tokens=512)
    (reply,) = client.ask([ask], ScoresReply)
    if isinstance(reply, ModelError):
        words_of(reply)
        return []
    if len(reply.scores) != len(evidence):
        return []
    return [min(max(float(score), 0.0), 10.0) for score in reply.scores]


def select_pages(question: str, cards: Sequence[Card], client: ChatClient) -> Picks:
    """What the model picks, batch by batch, then among the picks of all batches.

    Raises ``ModelError`` where the endpoint cannot be reached.
    """
    held = Counter(chain.from_iterable(card.keys for card in cards))
    lines = {card.ref: _card(card, held) for card in cards}
    batches = list(_batches(cards, lines))
    picked = [card for batch in batches for card in _picked(question, batch, lines, client)]
    final = _picked(question, picked, lines, client) if len(batches) > 1 and picked else picked
    return Picks(refs=tuple(card.ref for card in final or picked), parts=len(batches))


def _picked(question: str, cards: Sequence[Card], lines: Mapping[str, str], client: ChatClient) -> list[Card]:
    catalogue = "\n".join(f"{n}. {lines[card.ref]}" for n, card in enumerate(cards, start=1))
    shown = render("select", question=question, catalogue=catalogue)
    ask = Ask(task="select", version=shown.version, system=shown.system, user=shown.user, max_tokens=256)
    (reply,) = client.ask([ask], SelectReply)
    if isinstance(reply, ModelError):
        words_of(reply)
        return []
    return [cards[n - 1] for n in dict.fromkeys(reply.picks) if 0 < n <= len(cards)]


def _batches(cards: Sequence[Card], lines: Mapping[str, str]) -> Iterator[list[Card]]:
    batch: list[Card] = []
    size = 0
    for card in cards:
        length = len(lines[card.ref]) + 8
        if batch and size + length > CATALOGUE:
            yield batch
            batch, size = [], 0
        batch.append(card)
        size += length
    if batch:
        yield batch


def _card(card: Card, held: Mapping[str, int]) -> str:
    """A card in one line, with those of its keys that fewest cards have."""
    about = card.summary or "; ".join(card.headings[:_HEADINGS])
    shown = ", ".join(telling(card.keys, held, _KEYS))
    keys = f" [{shown}]" if shown else ""
    return " ".join(f"{card.title}: {about}{keys}".split())


def _piece(number: int, found: Evidence) -> str:
    marks = [*(_ID.sub("another item", hint) for hint in found.hints), *([] if found.quotable else ["do not quote"])]
    lines = [f"[{number}] {_where(found)}", *(f"({mark})" for mark in marks), found.text]
    if found.quote and found.quote != found.text and found.quotable:
        lines.append(f"Quote: {found.quote}")
    return "\n".join(lines)


def _where(found: Evidence) -> str:
    return " › ".join(filter(None, (found.title, found.heading, found.date)))
