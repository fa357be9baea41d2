"""A writer that fails, lies or never answers: its page waits alone, nothing of it is published, and the build ends."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kb_pipeline.errors import BudgetSpent, EndpointUnusable, ModelError
from kb_pipeline.records import Ask
from kb_pipeline_tests.driving import compile_all
from kb_pipeline_tests.engines.modelled import base_of, modelled
from kb_pipeline_tests.fakes import ScriptedChat, honestly

SUBJECTS = {
    "relay": ("holds 64 messages in its queue", "forwards each message once", "drops the oldest message first"),
    "gateway": ("accepts at most 512 connections", "closes idle connections quietly", "refuses unknown callers"),
    "archive": ("keeps 3 copies of each file", "stores its files on tape", "checks each file every night"),
}
DOCUMENTS = {
    f"notes/{name}.md": f"# {name.title()}\n\n"
    + "".join(
        f"The {name} {does}.\n" for does in (*told, "writes a line to its log", "speaks to its neighbours over TLS 1.3")
    )
    for name, told in SUBJECTS.items()
}
DOWN = ModelError("the endpoint does not reply", code="unavailable")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three subjects, each a page."""
    return base_of(tmp_path / "base", DOCUMENTS)


def failing(title: str, failure: ModelError | Exception) -> Callable[[Ask], Any]:
    """A model that is honest but for one page."""

    def script(ask: Ask) -> Any:
        if ask.task != "write_page" or f"The {title.lower()} writes a line" not in ask.user:
            return honestly(ask)
        if isinstance(failure, ModelError):
            return failure
        raise failure

    return script


def build(root: Path, chat: ScriptedChat) -> list[str]:
    """Build all of it, and what the wiki's report warns of; every check holds and the index is live."""
    with modelled(root, chat) as base:
        reports, _ = compile_all(base)
        assert [f for f in base.check() if f.blocking and not f.ok] == []
        assert base.status().live
        assert not base.stale().sources
    return [warning for report in reports if report.stage == "wiki" for warning in report.warnings]


def page(root: Path, name: str) -> str:
    """A page as it stands."""
    (path,) = (root / "kb/wiki").glob(f"*/{name}.md")
    return path.read_text()


def sentences(text: str) -> set[str]:
    """What a page states."""
    return set(re.findall(r"^(?:- )?([^\[\n]+?)\[\^kb_", text, re.MULTILINE))


STOPS = [DOWN, EndpointUnusable("nobody answers.", cure="Start it."), BudgetSpent("it is spent.", cure="Raise it.")]


@pytest.mark.parametrize("failure", STOPS, ids=["no-reply", "down", "budget"])
def test_who_cannot_be_asked_delays_pages_alone(root: Path, failure: Exception) -> None:
    """The build ends, each page states its items in their own words, and the next build asks about what waits."""
    (told,) = build(root, ScriptedChat(failing("Gateway", failure)))
    assert "wait" in told
    assert "The gateway accepts at most 512 connections." in sentences(page(root, "gateway"))
    chat = ScriptedChat(honestly)
    assert build(root, chat) == []
    assert any("Gateway" in ask.user for ask in chat.asked if ask.task == "write_page")
    chat.asked.clear()
    with modelled(root, chat) as base:
        assert not base.stale()


def test_the_last_good_page_stays_while_it_is_true(root: Path) -> None:
    """Nobody can be asked: a page whose items hold stands as it is, one that lost an item states what is left."""
    joined = "The gateway accepts at most 512 connections and closes idle connections quietly."
    build(root, ScriptedChat(joining(joined)))
    assert joined in sentences(page(root, "gateway"))
    down = ScriptedChat(failing("Gateway", DOWN))
    source = root / "notes/gateway.md"
    source.write_text(f"{source.read_text()}The gateway counts what it refuses.\n")
    build(root, down)
    assert joined in sentences(page(root, "gateway"))
    source.write_text(source.read_text().replace("512", "640"))
    build(root, down)
    assert "512" not in page(root, "gateway")
    assert "The gateway counts what it refuses." in sentences(page(root, "gateway"))
    assert build(root, ScriptedChat(joining(joined.replace("512", "640")))) == []
    assert joined.replace("512", "640") in sentences(page(root, "gateway"))


def test_what_is_refused_for_good_is_not_asked_again(root: Path) -> None:
    """The page stands in its items' own words, and nothing is left to do."""
    chat = ScriptedChat(failing("Gateway", ModelError("it refused", code="refused")))
    (told,) = build(root, chat)
    assert "'Gateway' stands in its items' own words" in told
    with modelled(root, chat) as base:
        assert not base.stale()


def test_nothing_of_a_lie_reaches_a_page(root: Path) -> None:
    """Foreign citations, invented numbers and names, and a list of which half is left out."""

    def lying(ask: Ask) -> Any:
        reply = honestly(ask)
        if ask.task == "write_page":
            told = reply["lead"] + reply["sections"][0]["sentences"]
            told[0]["items"] = [99]
            told[1]["text"] = told[1]["text"].replace(".", ", as Kafka does with 77 partitions.")
            reply["sections"][0]["sentences"] = told[1:3]
        return reply

    build(root, ScriptedChat(lying))
    for name in SUBJECTS:
        said = {line for line in DOCUMENTS[f"notes/{name}.md"].split("\n") if line.startswith("The")}
        assert sentences(page(root, name)) == said


def joining(joined: str) -> Callable[[Ask], Any]:
    """A model that joins two statements into ``joined``."""

    def script(ask: Ask) -> Any:
        reply = honestly(ask)
        if ask.task == "write_page" and reply["sections"]:
            told = [*reply["lead"], *reply["sections"][0]["sentences"]]
            parts = [said for said in told if said["text"].removesuffix(".").removeprefix("The gateway ") in joined]
            if len(parts) == 2:
                reply["lead"] = [{"text": joined, "items": [n for said in parts for n in said["items"]]}]
                reply["sections"][0]["sentences"] = [said for said in told if said not in parts]
        return reply

    return script
