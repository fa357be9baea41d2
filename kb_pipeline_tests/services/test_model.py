"""Asking a model over real sockets: what is kept, what is tried again, and what ends a run."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from kb_pipeline.errors import EndpointUnusable, ModelError, SettingsError
from kb_pipeline.services import model as module
from kb_pipeline_tests.services.asking import KEY, Desk, Echo, asks, desk


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Desk]:
    """A desk whose endpoint's form is known."""
    with desk(tmp_path) as made:
        made.warm()
        yield made


def texts(results: list[Echo | ModelError]) -> list[str]:
    """What was answered, or the code of the error."""
    return [result.code if isinstance(result, ModelError) else result.text for result in results]


def test_replies_come_in_order(at: Desk) -> None:
    """Each question gets its own reply, in the order asked, equal ones from one call."""
    wanted = [f"question {n}" for n in range(30)] + ["question 3"]
    assert texts(at.ask(*wanted)) == wanted
    assert at.endpoint.count() == 1 + 30


def test_a_kept_reply_is_never_asked_for_again(at: Desk) -> None:
    """A second client over the same folder sends nothing, whatever the document is called now."""
    at.ask("a", "b")
    before = at.endpoint.count()
    with at.client() as client:
        moved = [ask.model_copy(update={"doc_id": "elsewhere/x", "version": "v2"}) for ask in asks(["a", "b"])]
        assert texts(list(client.ask(moved, Echo))) == ["a", "b"]
    assert at.endpoint.count() == before


def test_another_model_answers_anew(at: Desk) -> None:
    """A reply is kept for its model alone; a task may have one of its own."""
    at.ask("a")
    with at.client(models={"judge": "gpt-4o"}) as client:
        assert texts(list(client.ask(asks(["a"], "judge"), Echo))) == ["a"]
        assert client.model("judge") == "gpt-4o"
    assert [call["model"] for call in at.endpoint.calls()] == ["gpt-4o-mini", "gpt-4o-mini", "gpt-4o"]


def test_a_kept_reply_that_is_torn_is_asked_for_again(at: Desk) -> None:
    """Half a file counts as no reply."""
    at.ask("a")
    for path in (at.folder / "replies").glob("*/*.json"):
        path.write_bytes(path.read_bytes()[:20])
    assert texts(at.ask("a")) == ["a"]


PASSING = [
    "429",
    "429_silent",
    "500",
    "503",
    "html",
    "error_in_200",
    "not_json",
    "reset",
    "truncated_body",
    "empty_choice",
    "empty_text",
]


@pytest.mark.parametrize("fault", PASSING)
def test_trouble_that_passes_is_tried_again(at: Desk, fault: str) -> None:
    """A fault of the moment costs a second request and nothing else, and is in the ledger."""
    at.endpoint.fault(fault, match="question")
    assert texts(at.ask("question")) == ["question"]
    assert len(at.lines) == at.endpoint.count() == 3
    assert at.outcomes()[1] in {"busy", "fault", "empty"}
    assert at.rejects == []


@pytest.mark.parametrize("fault", ["hang", "drip"])
def test_a_request_that_never_ends_is_ended(at: Desk, fault: str) -> None:
    """A server that hangs, or sends a byte now and then, is left at the time limit and asked again."""
    at.endpoint.fault(fault, match="question")
    assert texts(at.ask("question", timeout=1.0)) == ["question"]
    assert at.outcomes()[1:] == ["timeout", "ok"]


def test_a_stuck_question_holds_nobody_up(
    at: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One question that hangs to its end fails alone, named in the log, while all others are answered."""
    monkeypatch.setattr(module, "_SLOW", 0.2)
    at.endpoint.fault("hang", match="stuck", times=9)
    with caplog.at_level(logging.WARNING):
        results = at.ask("stuck", *(f"question {n}" for n in range(20)), timeout=1.0, concurrency=2)
    assert texts(results) == ["unavailable", *(f"question {n}" for n in range(20))]
    assert "extract of notes/stuck" in caplog.text


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("length", "cut"),
        ("context", "cut"),
        ("refusal", "refused"),
        ("content_filter", "refused"),
        ("filtered", "refused"),
    ],
)
def test_what_would_fail_again_is_kept(at: Desk, fault: str, code: str) -> None:
    """A cut, refused or filtered reply is a result: it is asked for once, and on no clone again."""
    at.endpoint.fault(fault, match="question")
    assert texts(at.ask("question", "other")) == [code, "other"]
    before = at.endpoint.count()
    assert texts(at.ask("question")) == [code]
    assert at.endpoint.count() == before


def test_a_wrong_reply_has_one_turn_to_mend_it(at: Desk) -> None:
    """A reply of another shape is answered with what is wrong; the second one is taken, and kept as the reply."""
    at.endpoint.fault("wrong_schema", match="question")
    assert texts(at.ask("question")) == ["question"]
    assert at.outcomes()[1:] == ["invalid", "ok"]
    assert texts(at.ask("question")) == ["question"]
    assert at.endpoint.count() == 3


def test_what_cannot_be_mended_is_put_aside(at: Desk) -> None:
    """After one repair turn a wrong reply is an error of that question alone, its words kept for a look."""
    at.endpoint.fault("wrong_schema", match="question", times=2)
    assert texts(at.ask("question", "other")) == ["invalid", "other"]
    (reject,) = at.rejects
    assert (reject["document"], reject["outcome"]) == ("notes/question", "invalid")
    assert "of" in reject["reply"]


@pytest.mark.parametrize("fault", ["401", "404", "quota"])
def test_an_endpoint_that_answers_nobody_ends_the_run(at: Desk, fault: str) -> None:
    """A wrong key, an unknown model or a spent quota ends the run with its cure, not each question alone."""
    at.endpoint.fault(fault, times=1000)
    with pytest.raises(EndpointUnusable) as caught:
        at.ask(*(f"question {n}" for n in range(50)), concurrency=2)
    assert "KB_LLM_API_KEY" in caught.value.cure
    assert at.endpoint.count() < 10


def test_a_dead_endpoint_ends_the_run(at: Desk) -> None:
    """Where nobody listens, the first question tells."""
    with pytest.raises(EndpointUnusable, match="does not answer"):
        at.ask("question", base_url="http://127.0.0.1:9/v1")


def test_what_was_answered_before_the_end_is_kept(at: Desk) -> None:
    """When a run stops, answered questions are yielded first and never asked again."""
    at.endpoint.fault("401", match="last", times=9)
    got: list[str] = []
    with at.client(concurrency=1) as client, pytest.raises(EndpointUnusable):
        got.extend(
            result.text for result in client.ask(asks(["a", "b", "last", "c"]), Echo) if isinstance(result, Echo)
        )
    assert got == ["a", "b"]
    before = at.endpoint.count()
    assert texts(at.ask("a", "b")) == ["a", "b"]
    assert at.endpoint.count() == before


def test_leaving_early_ends_what_is_under_way(at: Desk) -> None:
    """Whoever stops reading leaves no request running, and what was answered is kept."""
    at.endpoint.fault("hang", match="stuck", times=9)
    with at.client(timeout=60) as client:
        replies = client.ask(asks(["a", "stuck"]), Echo)
        assert texts([next(replies)]) == ["a"]
        replies.close()  # type: ignore[attr-defined]  # the iterator is a generator
    assert "cancelled" in at.outcomes()
    before = at.endpoint.count()
    assert texts(at.ask("a")) == ["a"]
    assert at.endpoint.count() == before


def test_no_model_is_a_mistake_of_settings(at: Desk) -> None:
    """A task without a model names the variable to set."""
    with pytest.raises(SettingsError, match="KB_LLM_MODEL_EXTRACT"):
        at.ask("a", model="", models={"judge": "x"})


def test_the_key_is_left_nowhere(at: Desk, caplog: pytest.LogCaptureFixture) -> None:
    """Neither the ledger, nor rejects, kept replies, memory, log or errors hold the key."""
    with caplog.at_level(logging.DEBUG):
        at.endpoint.fault("wrong_schema", match="question", times=2)
        at.ask("question")
        at.endpoint.fault("401")
        with pytest.raises(EndpointUnusable) as caught:
            at.ask("other")
    kept = "".join(path.read_text() for path in at.folder.rglob("*.json"))
    assert KEY not in f"{at.lines} {at.rejects} {at.memory} {kept} {caught.value!r} {caplog.text}"
