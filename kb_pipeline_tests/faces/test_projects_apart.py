"""Two tokens of two projects: neither meets the other's ids, titles, words or counts, whatever it asks."""

import json
import re
from pathlib import Path

import pytest

from kb_pipeline_tests.driving import opened
from kb_pipeline_tests.mixed import MCP_HEADERS, betrayed
from kb_pipeline_tests.two_projects import SHARED, bearer, betrayals, served


def names(root: Path) -> list[str]:
    """Ids of every row and document that there is."""
    with opened(root) as base:
        rows = base.sql("select id, doc_id from rows where kind = 'item'")[1]
    return [*(row[0] for row in rows), *sorted({row[1] for row in rows}), "kb_000000000000", "red/none.md", "x/none.md"]


@pytest.mark.parametrize(("mine", "theirs"), [("red", "blue"), ("blue", "red")])
def test_no_face_betrays_the_other_project(root: Path, mine: str, theirs: str) -> None:
    """Mixed requests over API, pages and MCP: no answer holds anything that the other project alone knows."""
    token, forbidden = bearer(root, mine, mine), betrayals(root, theirs)
    with served(root, ajar=False) as client:
        assert "\n".join(betrayed(client, token, forbidden, names(root), 450)) == ""


def test_what_both_say_is_shown_with_ones_own_proof(root: Path) -> None:
    """An item that both projects prove is there for each, with its own citation and as many confirmations."""
    with served(root, ajar=False) as client:
        for project in ("red", "blue"):
            token = bearer(root, project, project)
            hits = client.get("/api/search", params={"q": "idle connection", "kind": "item"}, headers=token).json()
            (hit,) = [h for h in hits["hits"] if h["text"] == SHARED]
            item = client.get(f"/api/items/{hit['id']}", headers=token).json()["item"]
            assert {s["doc_id"].split("/")[0] for s in item["sources"]} == {project}
            assert item["confirmations"] == 1


def test_what_is_hidden_is_told_as_what_never_was(root: Path) -> None:
    """An id of the other project and one that does not exist get the same answer, their own name aside."""
    token = bearer(root, "red", "red")
    with opened(root) as base:
        hidden = base.sql("select id from rows where doc_id = 'blue/crew.md' and kind = 'item'")[1][0][0]
    pairs = [
        ("/api/items/", hidden, "kb_000000000000"),
        ("/items/", hidden, "kb_000000000000"),
        ("/api/documents/", "blue/crew.md", "blue/none.md"),
        ("/documents/", "blue/crew.md", "nowhere/none.md"),
        ("/api/sources/", "blue/documents", "nowhere/documents"),
    ]
    with served(root, ajar=False) as client:
        for path, one, other in pairs:
            told = [client.get(path + name, headers=token) for name in (one, other)]
            assert {reply.status_code for reply in told} == {404}
            first, second = (
                reply.text.replace(name, "X").replace(name.partition("/")[0], "X")
                for reply, name in zip(told, (one, other), strict=True)
            )
            assert first == second
        details = [
            client.get("/api/search", params={"q": "a", "project": name}, headers=token).json()["detail"]
            for name in ("blue", "nowhere")
        ]
        assert details[0].replace("blue", "nowhere") == details[1]


def test_counts_are_of_ones_own(root: Path) -> None:
    """Two tokens together count what both may see twice, and nothing else of each other."""
    with opened(root) as base:
        everything = base.sql("select count(*) from rows where kind = 'item' and source_id != 'open'")[1][0][0]
    with served(root, ajar=False) as client:
        counts = [
            client.get("/api/contents", headers=bearer(root, project, project)).json()["kinds"]["item"]
            for project in ("red", "blue")
        ]
        assert sum(counts) == everything + 1
        assert client.get("/metrics", headers=bearer(root, "again", "red")).status_code == 403


def test_a_page_or_answer_of_another_project_is_never_kept_for_one(root: Path) -> None:
    """The same question of two tokens gets two answers, also the second time."""
    with served(root, ajar=False) as client:
        for _ in range(2):
            for project, own in (("red", "512"), ("blue", "12 sailors")):
                asked = {"question": "How many tokens does the crimson engine hold, how many sailors the azure boat?"}
                headers = bearer(root, f"{project}{_}", project)
                found = client.post("/api/ask", json=asked, headers=headers).json()
                texts = " ".join(e["text"] for e in (*found["evidence"], *found["nearest"]))
                assert own in texts or not texts
                assert not re.search("512" if project == "blue" else "sailors", texts)


def test_a_role_is_needed_to_file_an_answer(root: Path) -> None:
    """A reader may ask, and not write into the wiki."""
    with served(root, ajar=False) as client:
        token = bearer(root, "red", "red")
        asked = {"question": "How many tokens does the crimson engine hold?", "keep": True}
        assert client.post("/api/ask", json=asked, headers=token).status_code == 403


def test_tools_of_agents_have_the_same_door(root: Path) -> None:
    """Over MCP a token sees its own sources alone, and an error names nothing else."""
    token = bearer(root, "red", "red")
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_sources", "arguments": {}}}
    with served(root, ajar=False) as client:
        reply = client.post("/mcp", json=call, headers={**MCP_HEADERS, **token}).json()
    told = json.loads(reply["result"]["content"][0]["text"])
    assert [source["status"]["id"] for source in told["sources"]] == ["red"]


def test_the_test_would_notice(root: Path) -> None:
    """The same requests of a token that sees everything do meet what is forbidden here."""
    with served(root, ajar=False) as client:
        assert len(betrayed(client, bearer(root, "all"), betrayals(root, "blue"), names(root), 60)) > 10
