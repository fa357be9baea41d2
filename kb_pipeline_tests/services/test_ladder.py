"""How a reply is asked for and read: down the ladder over real sockets, and through what models wrap around JSON."""

import json
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import model_validator

from kb_pipeline.errors import ModelError
from kb_pipeline.records import Record
from kb_pipeline.services.ladder import Unreadable, hear, read, strict_schema
from kb_pipeline.services.wire import Failed
from kb_pipeline_tests.services.asking import Echo, asks, desk

RUNGS = ["json_schema", "tool", "json_object", "prompt"]


class Fact(Record):
    """A shape with everything a shape may have."""

    statement: str
    kind: Literal["fact", "metric"] = "fact"
    context: str | None = None


class Facts(Record):
    """Facts, also without the object around them."""

    facts: tuple[Fact, ...]

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, found: Any) -> Any:
        return {"facts": found} if isinstance(found, list) else found


# --- asking ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rung", RUNGS)
def test_the_strictest_form_that_is_understood_is_remembered(tmp_path: Path, rung: str) -> None:
    """A server that refuses the stricter forms is asked in each once, whatever is asked and by whom after that."""
    at = RUNGS.index(rung)
    with desk(tmp_path, supports=RUNGS[at:]) as made:
        assert len(made.ask(*(f"question {n}" for n in range(9)))) == 9
        made.ask("later")
        assert [call["rung"] for call in made.endpoint.calls()] == [*RUNGS[:at], *[rung] * 10]
        assert made.outcomes() == ["unsupported"] * at + ["ok"] * 10


def test_a_form_that_is_ignored_is_left(tmp_path: Path) -> None:
    """A server that takes a form and answers in prose is asked in the next one, without a repair turn."""
    with desk(tmp_path) as made:
        made.endpoint.fault("prose", match="json_schema", times=9)
        assert made.ask("a", "b") == [Echo(text="a", length=1), Echo(text="b", length=1)]
        assert [call["rung"] for call in made.endpoint.calls()] == ["json_schema", "tool", "tool"]


def test_a_model_that_knows_no_shape_is_asked_in_the_last_form(tmp_path: Path) -> None:
    """Who answers in prose on every rung is put aside, and after three questions nobody climbs down any more; a new
    process tries from the top.
    """
    with desk(tmp_path) as made:
        made.endpoint.fault("prose", times=99)
        results = made.ask(*"abcd", concurrency=1)
        assert [isinstance(r, ModelError) and r.code for r in results] == ["invalid"] * 4
        assert [call["rung"] for call in made.endpoint.calls()] == [*RUNGS, "prompt"] * 3 + ["prompt", "prompt"]
        assert made.memory.values == {}


def test_one_shape_that_is_not_understood_has_a_form_of_its_own(tmp_path: Path) -> None:
    """A schema that the server refuses takes another form; other shapes keep theirs."""
    with desk(tmp_path) as made:
        made.warm()
        with made.client() as client:
            made.endpoint.set(supports=["tool"])
            assert not isinstance(next(client.ask(asks(["a"]), Facts)), Echo)
            made.endpoint.set(supports=RUNGS)
            list(client.ask(asks(["b"]), Echo))
        rungs = [call["rung"] for call in made.endpoint.calls()]
        assert rungs[:3] == ["json_schema", "json_schema", "tool"]
        assert rungs[-1] == "json_schema"


@pytest.mark.parametrize(("refused", "then"), [("max_tokens", "max_completion_tokens"), ("temperature", None)])
def test_a_parameter_that_is_refused_is_said_otherwise(tmp_path: Path, refused: str, then: str | None) -> None:
    """Reasoning models refuse some parameters: they are renamed or left out, once and for all, on the same rung."""
    with desk(tmp_path, refuses=[refused]) as made:
        assert made.ask("a", "b") == [Echo(text="a", length=1), Echo(text="b", length=1)]
        made.ask("c")
        assert [call["status"] for call in made.endpoint.calls()] == [400, 200, 200, 200]
        assert {call["rung"] for call in made.endpoint.calls()} == {"json_schema"}
        assert then is None or then in str(made.memory.values)


def test_a_server_that_crashes_on_a_form_is_asked_in_another(tmp_path: Path) -> None:
    """Some servers answer 500 to a form they do not know; where no form is proven yet, the next one is tried."""
    with desk(tmp_path) as made:
        made.endpoint.fault("500", match="json_schema", times=99)
        assert made.ask("a") == [Echo(text="a", length=1)]
        assert made.endpoint.calls()[-1]["rung"] == "tool"


def test_memory_of_another_release_is_no_obstacle(tmp_path: Path) -> None:
    """What cannot be read of what was remembered is found out anew."""
    with desk(tmp_path) as made:
        made.memory.values["endpoint"] = {f"{made.endpoint.url} gpt-4o-mini": {"rung": "telepathy"}, "x": 1}
        assert made.ask("a") == [Echo(text="a", length=1)]


@pytest.mark.parametrize("fault", ["fenced", "thinking", "broken_json", "no_usage"])
def test_what_stands_around_a_reply_is_taken_off(tmp_path: Path, fault: str) -> None:
    """Fences, thoughts, small faults of syntax and a missing count of tokens cost no second request."""
    with desk(tmp_path) as made:
        made.warm()
        made.endpoint.fault(fault, match="question")
        assert made.ask("question") == [Echo(text="question", length=8)]
        assert made.endpoint.count() == 2
        assert made.lines[-1]["tokens_out"] > 0


def test_a_reply_that_breaks_off_is_asked_for_again(tmp_path: Path) -> None:
    """What breaks off is never completed by guess: the missing part might be a number's last digits."""
    with desk(tmp_path) as made:
        made.warm()
        made.endpoint.fault("truncated_json", match="question")
        assert made.ask("question") == [Echo(text="question", length=8)]
        assert made.outcomes()[1:] == ["invalid", "ok"]


# --- reading -----------------------------------------------------------------------------------------------------

FACT = '{"statement": "Port 8080 {is} \\"open\\"", "kind": "fact", "context": null}'


@pytest.mark.parametrize(
    "text",
    [
        FACT,
        f"```json\n{FACT}\n```",
        f"```\n{FACT}\n```",
        f"Here you are:\n\n{FACT}\n\nI hope that [this] helps {{a lot}}.",
        f"<think>Maybe {{}} or [].\n</think>\n{FACT}",
        f"<think>It breaks off</think>\n\n```JSON\n{FACT}\n```",
        FACT.replace("null}", "null,}"),
        FACT.replace('"kind"', "'kind'"),
    ],
)
def test_a_reply_is_read_through_its_wrapping(text: str) -> None:
    """The record is the same whatever is wrapped around it."""
    assert read(text, Fact) == Fact(statement='Port 8080 {is} "open"')


def test_a_shape_may_take_a_bare_list() -> None:
    """A list is handed to the shape as it is, also from within a fence."""
    for text in (f"[{FACT}]", f"```json\n[{FACT}]\n```", "[]"):
        assert isinstance(read(text, Facts), Facts)


def message(**fields: Any) -> dict[str, Any]:
    """The body of a reply whose message has these fields."""
    return {"choices": [{"message": {"role": "assistant", **fields}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    "body",
    [
        message(content=FACT),
        message(content=[{"type": "text", "text": FACT[:20]}, {"type": "text", "text": FACT[20:]}]),
        message(content=None, tool_calls=[{"function": {"name": "Fact", "arguments": FACT}}]),
        message(content="Calling.", tool_calls=[{"function": {"name": "Fact", "arguments": json.loads(FACT)}}]),
    ],
)
def test_a_reply_is_found_wherever_it_stands(body: dict[str, Any]) -> None:
    """Text, text in parts, and a call's arguments, as a string or as an object, are the same reply."""
    assert hear(body, Fact).record == Fact(statement='Port 8080 {is} "open"')


@pytest.mark.parametrize(
    "body", [{}, {"choices": []}, {"choices": [None]}, {"choices": "?"}, message(), message(content="")]
)
def test_a_reply_of_nothing_is_told_apart(body: dict[str, Any]) -> None:
    """A reply without a choice, a message or a word is a failure of the endpoint, not of the model."""
    with pytest.raises(Failed, match="empty"):
        hear(body, Fact)


def test_half_a_character_harms_nobody() -> None:
    """Half a surrogate pair, which JSON can carry, makes a reply that can be kept or refused like any other."""
    for body in (message(content='{"statement": "\ud800"}'), message(refusal="\ud800", content="\ud800")):
        heard = hear(body, Fact)
        assert f"{heard.text}{heard.detail}".encode()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("I cannot.", "holds no JSON object"),
        (FACT[:-20], "breaks off"),
        ('{"statement": "at most 15', "breaks off"),
        ("```json\n" + FACT[:30] + "\n```", "breaks off"),
        ('{"statement": 1}', "statement: Input should be a valid string"),
        ('{"statement": "a", "other": 1}', "other: Extra inputs are not permitted"),
        ('{"statement": "a", "kind": "joke"}', "kind: Input should be 'fact' or 'metric'"),
    ],
)
def test_what_is_wrong_is_told(text: str, why: str) -> None:
    """A reply that is not of the shape says where and why, in words fit for a repair turn."""
    with pytest.raises(Unreadable, match=why):
        read(text, Fact)


def test_schemas_are_strict_and_say_nothing_else() -> None:
    """Every object closes itself and requires all its fields, and no docstring of ours goes over the wire."""
    schema = strict_schema(Facts)
    fact = schema["$defs"]["Fact"]
    assert fact["required"] == ["statement", "kind", "context"]
    assert (schema["additionalProperties"], fact["additionalProperties"]) == (False, False)
    assert "everything" not in str(schema)
    assert "default" not in str(schema)
