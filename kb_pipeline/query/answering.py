"""One question from plan to verified sentences: Planner, Executor, Synthesizer, Verifier. Keeps nothing, files nothing.

The engine plans and writes; what it says is a claim. What is looked up, what counts as evidence and what may be said of
it is decided here, so every engine is held to the same.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kb_pipeline.errors import KbError
from kb_pipeline.query import evidence as evidence_
from kb_pipeline.query.executor import carried_out
from kb_pipeline.query.tools import TOOLS, Desk, Lookup
from kb_pipeline.records import (
    Answer,
    Briefing,
    Dropped,
    Evidence,
    Plan,
    Record,
    Scope,
    Sentence,
    Tool,
    ToolCall,
    ToolResult,
    Way,
)
from kb_pipeline.rules.citations import verified
from kb_pipeline.tally import tallied
from kb_pipeline.world import World

Tell = Callable[[str, Record], None]
Hints = Callable[[Sequence[Evidence], Desk], Mapping[str, tuple[str, ...]]]

MOST_CALLS = 6
"""Look-ups of one plan: what is beyond is not made, and said not to be."""
NEAREST = 3

OFFERED: Mapping[Way, Callable[[Tool], bool]] = {
    "hybrid": lambda tool: tool != "catalogue",
    "catalogue": lambda tool: tool != "search",
    "auto": lambda tool: True,
}
"""Which tools each way may use."""
_FIRST: Mapping[Way, Tool] = {"hybrid": "search", "catalogue": "catalogue", "auto": "search"}


@dataclass(frozen=True)
class Inquiry:
    """A question with all that decides its answer. ``tools`` are the look-ups beyond those of the index, ``hints`` says
    what else is known of evidence, by its ref, ``briefing`` is what the planner sees."""

    question: str
    briefing: Briefing
    scope: Scope = field(default_factory=Scope)
    way: Way = "auto"
    generation: str | None = None
    tools: Mapping[Tool, Lookup] = field(default_factory=dict)
    hints: Hints = lambda found, desk: {}

    def offered(self) -> Mapping[Tool, Lookup]:
        """The tools that this way may use."""
        everything = {**TOOLS, **self.tools}
        return {tool: lookup for tool, lookup in everything.items() if OFFERED[self.way](tool)}


def answer(inquiry: Inquiry, world: World, tell: Tell = lambda kind, record: None) -> Answer:
    """The answer to one question, or why there is none. ``tell`` hears of the plan, each look-up and each sentence as
    soon as it is verified.

    Raises ``KbError`` (code ``usage``) for an empty question, ``NotFound`` where there is no generation, and what the
    engine raises where it cannot think: a failure is never an answer.
    """
    if not inquiry.question.strip():
        raise KbError("the question is empty.", where="ask", cure="Ask with at least one word.", code="usage")
    started = time.perf_counter()
    with tallied() as tally, world.index.snapshot(inquiry.generation) as snapshot:
        offered = inquiry.offered()
        plan, notes = _planned(inquiry, offered, world)
        tell("plan", plan)
        desk = Desk(inquiry.question, world, snapshot, inquiry.scope)
        results = list(_told(carried_out(plan.calls, offered, desk, world.settings.options.ask_seconds), tell))
        told = [r.note for r in results if r.note and not r.failed]
        failed = tuple(f"{r.call.tool}: {r.failed}" for r in results if r.failed)
        found, left = evidence_.fitting(_evidence(plan, results, inquiry.hints, desk))
        claims = world.engine.answer(inquiry.question, found, world.embedder) if found else ()
        sentences, dropped = _verified(verified(claims, found), tell)
        cited = {name for sentence in sentences for name in sentence.cites}
        return Answer(
            question=inquiry.question,
            generation=snapshot.generation,
            engine=world.engine.name,
            way=inquiry.way,
            project=inquiry.briefing.project,
            answered=bool(sentences),
            sentences=sentences,
            evidence=tuple(evidence_.shown(e) for e in found if e.id in cited),
            dropped=dropped,
            nearest=() if sentences else tuple(map(evidence_.shown, found[:NEAREST])),
            plan=plan,
            failed=failed,
            notes=(*notes, *told, *([f"Found, but not read for want of room: {left} more."] if left else [])),
            calls=tally.calls,
            ms=round((time.perf_counter() - started) * 1000, 3),
            at=world.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ"),
        )


def _planned(inquiry: Inquiry, offered: Mapping[Tool, Lookup], world: World) -> tuple[Plan, tuple[str, ...]]:
    """The engine's plan, less what is not offered or more than may be; one look-up where nothing is left of it."""
    briefing = inquiry.briefing.model_copy(update={"tools": tuple(offered)})
    plan = world.engine.plan_query(inquiry.question, briefing)
    wanted = list(dict.fromkeys(call for call in plan.calls if call.tool in offered))
    notes = (f"{len(wanted) - MOST_CALLS} look-ups of the plan were not made.",) if len(wanted) > MOST_CALLS else ()
    calls = wanted[:MOST_CALLS] or [ToolCall(tool=_FIRST[inquiry.way], query=inquiry.question)]
    return plan.model_copy(update={"calls": tuple(calls), "engine": world.engine.name}), notes


def _told(results: Iterator[ToolResult], tell: Tell) -> Iterator[ToolResult]:
    for result in results:
        tell("tool", result)
        yield result


def _evidence(plan: Plan, results: Sequence[ToolResult], hints: Hints, desk: Desk) -> tuple[Evidence, ...]:
    """What was found, each thing once, one by one from each look-up in the order of the plan, so that none is crowded
    out by another."""
    by_call = {result.call: result.evidence for result in results}
    lists = [by_call.get(call, ()) for call in plan.calls]
    rounds = range(max((len(found) for found in lists), default=0))
    found = [found[n] for n in rounds for found in lists if n < len(found)]
    known = evidence_.hinted(found, hints(found, desk))
    return evidence_.numbered(evidence_.titled(known, desk.snapshot))


def _verified(judged: Iterator[Sentence | Dropped], tell: Tell) -> tuple[tuple[Sentence, ...], tuple[Dropped, ...]]:
    sentences: list[Sentence] = []
    dropped: list[Dropped] = []
    for found in judged:
        if isinstance(found, Sentence):
            sentences.append(found)
            tell("sentence", found)
        else:
            dropped.append(found)
    return tuple(sentences), tuple(dropped)
