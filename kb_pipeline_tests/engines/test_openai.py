"""The engine that asks a model: what is asked, and what becomes of each kind of reply."""

from pathlib import Path
from typing import Any

import pytest

from kb_pipeline.engines.openai import OpenAi
from kb_pipeline.engines.openai.extraction import halved
from kb_pipeline.errors import ModelError
from kb_pipeline.records import UNCLASSIFIED, Ask, Extraction, Pair, Side, Taxonomy
from kb_pipeline.rules.ids import draft_hash
from kb_pipeline.settings import Settings
from kb_pipeline_tests.engines import contract
from kb_pipeline_tests.fakes import ScriptedChat, honestly

TEXT = "The cache holds 16 pages. A page is evicted after 20 minutes without a read."


def engine(script: Any = honestly, **models: str) -> tuple[OpenAi, ScriptedChat]:
    chat = ScriptedChat(script, models)
    return OpenAi(Settings(root=Path()), chat), chat


def reply(**fields: Any) -> dict[str, Any]:
    return {
        "statement": "The cache holds 16 pages.",
        "detail": "",
        "context": None,
        "topic": "",
        "entities": [],
        "item_type": "fact",
        "confidence": "high",
        "source_span": "The cache holds 16 pages.",
        **fields,
    }


def extracted(text: str, script: Any) -> Extraction:
    (found,) = engine(script)[0].extract([contract.chunk(text, "Cache")])
    assert isinstance(found, Extraction)
    return found


@pytest.mark.parametrize(
    "check",
    [
        contract.check_names,
        contract.check_spans,
        contract.check_rejects,
        contract.check_tagging,
        contract.check_questions,
        contract.check_answers,
        contract.check_choices,
        contract.check_determinism,
    ],
)
def test_keeps_the_contract_over_an_honest_model(check: Any) -> None:
    """With a model that answers by rules, the engine passes what every engine must."""
    check(engine()[0])


def test_a_recipe_names_model_and_prompt_of_its_task() -> None:
    """Another model for one task, or another prompt, changes the version of that task alone."""
    plain, other = engine()[0], engine(tag="big")[0]
    assert plain.version("tag") != other.version("tag")
    assert plain.version("extract") == other.version("extract")
    assert "tag.md@" in plain.version("tag")


def test_a_question_holds_content_alone() -> None:
    """No id, path, offset or hash stands in what is sent: a moved or renamed document asks the same."""
    here = contract.chunk(TEXT, "Cache")
    moved = here.model_copy(update={"id": "z9", "doc_id": "other/b.md", "start": 500, "end": 500 + len(TEXT)})
    for one in (here, moved):
        model, chat = engine()
        list(model.extract([one]))
        (asked,) = chat.asked
        assert (asked.source_id, asked.doc_id) == (one.doc_id.partition("/")[0], one.doc_id)
        for secret in (one.id, one.doc_id, one.hash, "500"):
            assert secret not in asked.system.split() + asked.user.split()
    first, second = engine()[1], engine()[1]
    for chat, one in ((first, here), (second, moved)):
        list(OpenAi(Settings(root=Path()), chat).extract([one]))
    assert (first.asked[0].system, first.asked[0].user) == (second.asked[0].system, second.asked[0].user)


def test_a_quote_in_other_typography_is_moved_to_the_text() -> None:
    """Straight quotes, other white space and dashes in a quote are the same quote; the span is the text's own."""
    text = "The “cache”\nholds 16–20 pages. More follows here."
    found = extracted(text, lambda _: {"items": [reply(source_span='The "cache" holds 16-20 pages.')]})
    assert [(d.source_span, d.start) for d in found.drafts] == [("The “cache”\nholds 16–20 pages.", 0)]


@pytest.mark.parametrize(
    ("text", "span"),
    [
        (TEXT, "The cache holds 17 pages."),
        (TEXT, ""),
        (TEXT, "The cache holds … a read."),
        ("It’s on. It’s on.", "It's on."),
    ],
)
def test_a_quote_that_stands_nowhere_or_twice_is_rejected(text: str, span: str) -> None:
    """What cannot be located for certain proves nothing."""
    found = extracted(text, lambda _: {"items": [reply(source_span=span)]})
    assert found.drafts == ()
    assert [(r.reason, r.quarantined) for r in found.rejects] == [("span-not-verbatim", True)]


def test_a_bare_list_is_read_as_the_items() -> None:
    """A model that leaves the object out is understood."""
    assert [d.statement for d in extracted(TEXT, lambda _: [reply()]).drafts] == ["The cache holds 16 pages."]


def test_white_space_in_statements_makes_no_other_item() -> None:
    """Line breaks inside a statement or a context are spaces."""
    odd = reply(statement=" The cache\nholds 16 pages. ", context="  ")
    (draft,) = extracted(TEXT, lambda _: {"items": [odd]}).drafts
    assert (draft.statement, draft.context) == ("The cache holds 16 pages.", None)
    assert draft.hash == draft_hash(draft.statement, None)


def test_a_reply_that_is_cut_is_asked_for_in_halves() -> None:
    """Both halves are asked about, and their quotes stand at the offsets of the whole."""
    text = "\n\n".join(f"The queue number {n} holds {n} messages in its memory at any time." for n in range(12))

    def script(ask: Ask) -> Any:
        return (
            ModelError("too long", code="cut") if "number 0 " in ask.user and "number 11" in ask.user else honestly(ask)
        )

    found = extracted(text, script)
    assert len(found.drafts) == 12
    assert all(text[d.start : d.end] == d.source_span for d in found.drafts)


def test_a_half_that_fails_costs_only_itself() -> None:
    """What the other half gave is kept, and the failed half is quarantined with its reason."""
    text = "\n\n".join(f"The queue number {n} holds {n} messages in its memory at any time." for n in range(12))

    def script(ask: Ask) -> Any:
        return ModelError("too long", code="cut") if "number 0 " in ask.user else honestly(ask)

    found = extracted(text, script)
    assert 0 < len(found.drafts) < 12
    assert {r.reason for r in found.rejects if r.quarantined} == {"model-cut"}


def test_a_short_chunk_is_not_halved() -> None:
    """Below a certain size the length of a chunk is not why a reply was cut."""
    assert halved(contract.chunk(TEXT)) == ()


@pytest.mark.parametrize("code", ["refused", "invalid", "unavailable"])
def test_a_chunk_without_a_reply_gives_its_error(code: str) -> None:
    """The engine hides no failure: who asked learns which chunk failed and why, and the rest is answered."""
    chunks = [contract.chunk(TEXT), contract.chunk("The gateway opens 64 connections.")]
    found = list(
        engine(lambda a: ModelError("no", code=code) if "evicted" in a.user else honestly(a))[0].extract(chunks)
    )
    assert isinstance(found[0], ModelError)
    assert isinstance(found[1], Extraction)


PAIR = Pair(a=Side(statement="A page lives long."), b=Side(statement="A page has a long life."), cosine=0.9, ratio=0.8)


@pytest.mark.parametrize(
    ("said", "decision", "review"),
    [
        ({"decision": "merge", "target_id": 1}, "merge", False),
        ({"decision": "keep_both", "target_id": None}, "keep_both", False),
        ({"decision": "supersede", "target_id": 1}, "supersede", False),
        ({"decision": "merge", "target_id": 7}, "keep_both", True),
        ({"decision": "merge", "target_id": None}, "keep_both", True),
        ({"decision": "supersede", "target_id": -1}, "keep_both", True),
    ],
)
def test_a_verdict_is_about_the_candidate_that_was_shown(said: dict[str, Any], decision: str, review: bool) -> None:
    """A foreign target merges nothing."""
    (verdict,) = engine(lambda _: {**said, "reason": "so\nit is"})[0].judge([PAIR])
    assert (verdict.decision, verdict.needs_review, verdict.newer) == (decision, review, None)


def test_the_newer_side_is_shown_as_new() -> None:
    """Of two dated versions the later one is the new item; dates and lineage are not told."""
    old = PAIR.a.model_copy(update={"effective_date": "2026-01-01", "lineage": "l"})
    new = PAIR.b.model_copy(update={"effective_date": "2026-02-01", "lineage": "l"})
    model, chat = engine(lambda _: {"decision": "keep_both", "target_id": None, "reason": "r"})
    model.judge([Pair(a=old, b=new, cosine=0.9, ratio=0.8), Pair(a=new, b=old, cosine=0.9, ratio=0.8)])
    assert len(chat.asked) == 1
    assert chat.asked[0].user.index(new.statement) < chat.asked[0].user.index(old.statement)
    assert "2026" not in chat.asked[0].user


def test_what_cannot_be_judged_is_kept_for_review() -> None:
    """A refusal decides nothing: both stay."""
    (verdict,) = engine(lambda _: ModelError("no", code="refused"))[0].judge([PAIR])
    assert (verdict.decision, verdict.needs_review) == ("keep_both", True)
    assert "refused" in verdict.reason


def test_what_cannot_be_filed_says_why() -> None:
    """An item that the model would not tag is unclassified with the reason; it is not lost."""
    (tagging,) = engine(lambda _: ModelError("no", code="cut"))[0].tag([contract.item("A fact.")], contract.TAXONOMY)
    assert tagging.primary_category == UNCLASSIFIED
    assert "cut off" in str(tagging.note)


def test_an_endpoint_that_is_down_decides_nothing() -> None:
    """Where asking later may help, no verdict, tagging or question is made up."""
    model = engine(lambda _: ModelError("down", code="unavailable"))[0]
    with pytest.raises(ModelError):
        model.judge([PAIR])
    with pytest.raises(ModelError):
        model.tag([contract.item("A fact.")], Taxonomy())
    with pytest.raises(ModelError):
        list(model.questions([contract.item("A fact.")], [[]]))
