"""From plan to verified sentences over a small index: what is looked up, what fails, what is shown."""

import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kb_pipeline.engines.extractive import Extractive
from kb_pipeline.engines.openai import OpenAi
from kb_pipeline.errors import KbError, ModelError
from kb_pipeline.query.answering import MOST_CALLS, Inquiry, answer
from kb_pipeline.query.tools import TOOLS, Desk
from kb_pipeline.records import Ask, Briefing, Evidence, Record, Row, Scope, Tool, ToolCall, ToolResult
from kb_pipeline.services.embedder import open_embedder
from kb_pipeline.settings import Options, Settings
from kb_pipeline.store.index import LocalIndex
from kb_pipeline.world import World
from kb_pipeline_tests.fakes import ScriptedChat, honestly, reading_world

EMBEDDER = open_embedder("hashing")
BRIEFING = Briefing(today="2026-11-30")
QUESTION = "How many connections does the gateway accept?"


def item(name: str, text: str, doc: str, **fields: object) -> Row:
    """An item that is the whole of what it quotes."""
    values = {"doc_id": doc, "source_id": doc.partition("/")[0], "docs": (doc,), "origins": (doc,), "quote": text}
    return Row.model_validate({"id": name, "kind": "item", "text": text, "end": len(text), **values, **fields})


def passage(name: str, text: str, doc: str, title: str, heading: str = "") -> Row:
    """A chunk that is a whole document."""
    return item(name, text, doc, kind="chunk", title=title, heading=heading)


GATEWAY = "The gateway accepts at most 512 connections at once."
CACHE = "The block cache keeps 16 pages of 4 KB in memory."
ROWS = [
    item("kb_00000000000a", GATEWAY, "notes/limits.md"),
    passage("ck_a", f"# Limits\n\n{GATEWAY}", "notes/limits.md", "Limits of the gateway"),
    item("kb_00000000000b", CACHE, "handbook/cache.md", license="closed"),
    passage("ck_b", f"# Cache\n\n{CACHE}\n\n" + "Filler stands here. " * 900, "handbook/cache.md", "Block cache"),
]


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A world whose live generation holds ``ROWS``, answered by rules."""
    index = LocalIndex(tmp_path, embedder=EMBEDDER.name, dim=EMBEDDER.dim)
    vectored = [row.kind == "item" for row in ROWS]
    vectors = EMBEDDER.embed([row.text for row in ROWS if row.kind == "item"])
    index.promote(index.write(None, ROWS, vectors, vectored, []))
    settings = Settings(Path())
    return replace(reading_world(index, EMBEDDER), settings=settings, engine=Extractive(settings, EMBEDDER))


def thinking(world: World, script: Any, **options: object) -> World:
    """``world`` with a model in place of rules."""
    settings = replace(world.settings, options=Options.model_validate(options))
    return replace(world, settings=settings, engine=OpenAi(settings, ScriptedChat(script)))


def answering(**reply: Any) -> Any:
    """A script that is honest but for some tasks' replies."""
    return lambda ask: reply.get(ask.task, honestly(ask)) if isinstance(ask, Ask) else None


def test_an_answer_tells_of_itself_as_it_comes(world: World) -> None:
    """The plan, each look-up and each verified sentence are told in that order, and are what the answer holds."""
    told: list[tuple[str, Record]] = []
    found = answer(Inquiry(QUESTION, BRIEFING), world, lambda kind, record: told.append((kind, record)))
    assert [kind for kind, _ in told] == ["plan", "tool", "sentence"]
    assert (told[0][1], told[-1][1]) == (found.plan, found.sentences[0])
    (evidence,) = found.evidence
    assert (evidence.quote, evidence.title, evidence.id) == (GATEWAY, "Limits of the gateway", "e1")


def test_an_empty_question_is_wrong_usage(world: World) -> None:
    """There is nothing to answer without a word."""
    with pytest.raises(KbError) as caught:
        answer(Inquiry("  ", BRIEFING), world)
    assert caught.value.code == "usage"


@pytest.mark.parametrize("way", ["hybrid", "catalogue"])
def test_either_way_finds_what_is_there(world: World, way: Any) -> None:
    """Search cites the item, the catalogue the document that it read whole."""
    found = answer(Inquiry(QUESTION, BRIEFING, way=way), world)
    assert found.sentences[0].text == GATEWAY
    assert found.evidence[0].ref == {"hybrid": "kb_00000000000a", "catalogue": "notes/limits.md"}[way]


def test_a_scope_holds_for_every_tool(world: World) -> None:
    """What is outside of the scope is found by no tool, not even by its id."""
    scope = Scope(sources=("handbook",))
    for way in ("hybrid", "catalogue"):
        found = answer(Inquiry(QUESTION, BRIEFING, scope=scope, way=way), world)
        assert all(e.doc_id.startswith("handbook/") for e in (*found.evidence, *found.nearest))
    found = answer(Inquiry("What does kb_00000000000a say?", BRIEFING, scope=scope), world)
    assert any("get: " in failure for failure in found.failed)


def test_what_is_read_whole_is_cut_and_says_so(world: World) -> None:
    """A document beyond 12,000 characters is cut, and its evidence tells."""
    told: list[Record] = []
    answer(Inquiry("Block cache", BRIEFING, way="catalogue"), world, lambda _, record: told.append(record))
    (result,) = [record for record in told if isinstance(record, ToolResult)]
    cache = next(e for e in result.evidence if e.ref == "handbook/cache.md")
    assert len(cache.text) == 12_000
    assert any(hint.startswith("cut after 12,000 of") for hint in cache.hints)


def test_a_catalogue_without_a_pick_is_still_read(world: World) -> None:
    """Where a model picks nothing, or numbers that are none, what the cards say decides: never a silent nothing."""
    for picks in ([], [99]):
        model = thinking(world, answering(select={"picks": picks}))
        found = answer(Inquiry("What are the limits of the gateway?", BRIEFING, way="catalogue"), model)
        assert "notes/limits.md" in {e.ref for e in (*found.evidence, *found.nearest)}


def test_an_answer_says_how_the_catalogue_was_read(world: World) -> None:
    """In how many parts, and how much of it was opened; a search says nothing of it."""
    question = "What are the limits of the gateway?"
    assert answer(Inquiry(question, BRIEFING, way="hybrid"), world).notes == ()
    (read,) = answer(Inquiry(question, BRIEFING, way="catalogue"), world).notes
    assert re.fullmatch(r"The catalogue, \d+ entries, was read whole; \d documents? opened\.", read)


# --- what fails -------------------------------------------------------------------------------------------------------


def test_a_tool_that_fails_or_hangs_is_stated(world: World) -> None:
    """The others answer; the answer says which look-up could not be made, and why."""
    hung = threading.Event()

    def broken(call: ToolCall, desk: Desk) -> Sequence[Evidence]:
        raise ValueError("out of order")

    def hanging(call: ToolCall, desk: Desk) -> Sequence[Evidence]:
        hung.wait(30)
        return ()

    tools: dict[Tool, Any] = {"conflicts": broken, "who_knows": hanging}
    plan = {"calls": [{"tool": t, "query": QUESTION} for t in ("search", "conflicts", "who_knows")], "reason": ""}
    model = thinking(world, answering(plan=plan), ask_seconds=0.5)
    found = answer(Inquiry(QUESTION, BRIEFING, tools=tools), model)
    hung.set()
    assert found.sentences[0].text == GATEWAY
    assert sorted(found.failed) == ["conflicts: ValueError: out of order", "who_knows: took longer than 0.5 s"]


def test_what_a_tool_did_not_find_is_said_once(world: World) -> None:
    """The answer names the tool and what is missing, neither twice."""
    (failed,) = answer(Inquiry("What is kb_0123456789ab?", BRIEFING), world).failed
    assert failed == "get: there is no item 'kb_0123456789ab'. Find one with search."


def test_a_plan_is_held_to_what_is_offered(world: World) -> None:
    """Tools that are not there are not called, calls beyond the most are left and said to be, no plan is a search."""
    calls = [{"tool": "search", "query": f"gateway {n}"} for n in range(MOST_CALLS + 2)]
    model = thinking(world, answering(plan={"calls": [{"tool": "who_knows", "query": "x"}, *calls], "reason": ""}))
    found = answer(Inquiry(QUESTION, BRIEFING), model)
    assert found.plan is not None
    assert [call.tool for call in found.plan.calls] == ["search"] * MOST_CALLS
    assert found.notes == ("2 look-ups of the plan were not made.",)
    silent = answer(Inquiry(QUESTION, BRIEFING), thinking(world, answering(plan={"calls": [], "reason": ""})))
    assert silent.plan is not None
    assert silent.plan.calls == (ToolCall(tool="search", query=QUESTION),)


def test_an_answer_that_a_model_cannot_give_is_an_error(world: World) -> None:
    """A refusal is not the same as knowing nothing."""
    model = thinking(world, answering(answer=ModelError("no", code="refused")))
    with pytest.raises(ModelError):
        answer(Inquiry(QUESTION, BRIEFING), model)


# --- what is shown ----------------------------------------------------------------------------------------------------


def test_what_is_known_of_evidence_goes_with_the_sentence(world: World) -> None:
    """That an item is in conflict stands beside every sentence that cites it."""
    hints = {"kb_00000000000a": ("in conflict with kb_b: 512 or 640",)}
    found = answer(Inquiry(QUESTION, BRIEFING, hints=lambda found, desk: hints), world)
    assert found.sentences[0].notes == hints["kb_00000000000a"]


def test_what_may_not_be_quoted_is_named_alone(world: World) -> None:
    """Rules, which can only quote, are silent; what is nearest shows its place without its words."""
    settings = replace(world.settings, options=Options(unquotable_licenses=("Closed",)))
    quiet = replace(world, settings=settings, engine=Extractive(settings, EMBEDDER))
    found = answer(Inquiry("How many pages does the block cache keep?", BRIEFING, way="hybrid"), quiet)
    shown = {e.ref: (e.text, e.quote) for e in found.nearest}
    assert not found.answered
    assert shown["kb_00000000000b"] == ("", "")


def test_a_page_may_be_quoted_as_its_documents_may(tmp_path: Path, world: World) -> None:
    """What a page takes from a text that may not be quoted is not quoted from the page either."""
    page = item("pg_a", f"Cache\n\n{CACHE}", "handbook/cache.md", kind="page", title="Cache", license="")
    index = LocalIndex(tmp_path / "paged", embedder=EMBEDDER.name, dim=EMBEDDER.dim)
    rows = [*(row.model_copy(update={"license": "closed"}) for row in ROWS if row.id == "ck_b"), page]
    index.promote(index.write(None, rows, EMBEDDER.embed([]), [False] * len(rows), []))
    for closed, told in ((("closed",), False), ((), True)):
        settings = replace(world.settings, options=Options(unquotable_licenses=closed))
        asked = replace(world, index=index, settings=settings, engine=Extractive(settings, EMBEDDER))
        for call in (ToolCall(tool="get", query="pg_a"), ToolCall(tool="catalogue", query="cache")):
            with index.snapshot() as snapshot:
                found = TOOLS[call.tool](call, Desk("cache", asked, snapshot, Scope()))
                assert {e.quotable for e in found if e.ref == "pg_a"} == {told}


def test_a_model_reads_numbers_and_never_ids(world: World) -> None:
    """Neither an id nor a path of an item stands in a prompt; numbers are put back, unknown ones verified away."""
    asked: list[Ask] = []

    def script(ask: Ask) -> Any:
        asked.append(ask)
        if ask.task == "answer":
            good = {"text": GATEWAY, "cites": [1], "quotes": []}
            return {"sentences": [good, {**good, "text": "512 connections are accepted.", "cites": [0, 44]}]}
        return honestly(ask)

    found = answer(Inquiry(QUESTION, BRIEFING), thinking(world, script))
    assert [ask.task for ask in asked] == ["plan", "answer"]
    assert not any(word in asked[1].user for word in ("kb_", "notes/limits.md", "ck_"))
    assert [s.cites for s in found.sentences] == [("e1",)]
    assert [d.fault for d in found.dropped] == ["unknown-citation"]


def test_a_large_catalogue_is_put_in_batches(world: World) -> None:
    """Every card is shown to the model once, and the picks of all batches meet in a last question."""
    from kb_pipeline.records import Card, Picks

    cards = [Card(ref=f"d/{n}", kind="document", title=f"Title {n}", headings=("words " * 40,)) for n in range(300)]
    asked: list[str] = []

    def script(ask: Ask) -> Any:
        asked.append(ask.user)
        return {"picks": [1, 1, 77777]}

    chosen = thinking(world, script).engine.select_pages("x", cards)
    batches, last = asked[:-1], asked[-1]
    assert len(batches) > 1
    assert all(sum(f"Title {n}:" in text for text in batches) == 1 for n in range(300))
    assert last.count("Title ") == len(batches)
    assert chosen == Picks(refs=("d/0",), parts=len(batches))


def test_a_model_that_reranks_gives_one_score_a_candidate(world: World) -> None:
    """Scores are held between 0 and 10; where there are too few, nothing is put in another order."""
    evidence = [Evidence(kind="item", ref=str(n), text=f"text {n}") for n in range(2)]
    for scores, kept in (([11, -1], [10.0, 0.0]), ([5], [])):
        assert list(thinking(world, answering(rerank={"scores": scores})).engine.rerank("q", evidence)) == kept


def claims(world: World) -> Iterator[str]:
    """What rules would say of one long text."""
    text = f"# Heading\n\nA row | of a table\n\n{GATEWAY} It never waits."
    found = Evidence(id="e1", kind="document", ref="notes/limits.md", text=text, title="Limits")
    return (claim.text for claim in world.engine.answer(QUESTION, [found], EMBEDDER))


def test_rules_quote_whole_sentences(world: World) -> None:
    """Of a longer text sentences are quoted, neither headings nor rows."""
    assert list(claims(world)) == [GATEWAY]
