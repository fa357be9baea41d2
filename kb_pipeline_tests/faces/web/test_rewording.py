"""The editors of pages and items through the server: words survive builds, nobody is overwritten, nothing can act."""

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from kb_pipeline_tests.driving import compile_all, opened, write
from kb_pipeline_tests.two_projects import VALVES, bearer, served

PAGE = "/edit/wiki/unclassified/crimson-guide"
SAID = "The crimson tap of the engine opens at 4 bar."


@pytest.fixture
def client(root: Path) -> Iterator[TestClient]:
    with served(root) as found:
        yield found


def form(client: TestClient, path: str, headers: dict[str, str] | None = None) -> dict[str, str]:
    """What the form of an editor carries when it is opened."""
    reply = client.get(path, headers=headers or {})
    assert reply.status_code == 200, reply.text
    return filled(reply.text)


def filled(page: str) -> dict[str, str]:
    """What a browser would send of the last form of a page."""
    page = page[page.rindex('<form class="stack"') :]
    found = dict(re.findall(r'<input[^>]*name="(\w+)" value="([^"]*)"', page))
    found |= dict(re.findall(r'<textarea[^>]*name="(\w+)"[^>]*>\n(.*?)</textarea>', page, re.DOTALL))
    for name, options in re.findall(r'<select[^>]*name="(\w+)"[^>]*>(.*?)</select>', page, re.DOTALL):
        (found[name],) = re.findall(r"<option selected>([^<]*)", options)
    if 'name="reviewed" value="yes" checked' not in page:
        found.pop("reviewed", None)
    return {name: html.unescape(value) for name, value in found.items()}


def file_of(root: Path) -> Path:
    return root / "kb/wiki/unclassified/crimson-guide.md"


def test_words_of_a_person_survive_builds(client: TestClient, root: Path) -> None:
    """What is saved stands in the file at once, is shown as a person's, and is kept when the documents change."""
    given = form(client, PAGE)
    assert "[^kb_" in given["body"]
    assert "]: “" not in given["body"]
    given["body"] = given["body"].replace("opens at 4 bar.", "opens at 4 bar, or 5 on a hot day.").replace("\n", "\r\n")
    reply = client.post(PAGE, data={**given, "tags": "valves, steam"})
    assert (reply.status_code, reply.headers["location"]) == (303, "/wiki/unclassified/crimson-guide?saved=yes")
    assert "Saved" in client.get(reply.headers["location"]).text
    write(root, {"red/guide.md": f"# Crimson guide\n\n{VALVES.replace('at 3 bar', 'at 33 bar')}"})
    with opened(root) as base:
        compile_all(base)
        assert [finding for finding in base.check() if finding.blocking and not finding.ok] == []
    text = file_of(root).read_text()
    assert "opens at 4 bar, or 5 on a hot day." in text
    assert "opens at 33 bar" in text
    assert 'tags: ["valves", "steam"]' in text
    assert "\r" not in text
    assert "A person wrote on this page" in client.get("/wiki/unclassified/crimson-guide").text
    assert "by a person" in client.get("/changes/wiki/unclassified/crimson-guide").text
    (link, *_) = re.findall(r'href="(/wiki/pg_\w+)"', client.get("/review?kind=page").text)
    assert client.get(link).status_code == 200


def test_reviewed_holds_the_machine_back(client: TestClient, root: Path) -> None:
    """The mark is set and taken away by a tick; a page saved as it was is not written."""
    given = form(client, PAGE)
    before = file_of(root).read_bytes()
    assert client.post(PAGE, data=given).headers["location"].endswith("?saved=no")
    assert file_of(root).read_bytes() == before
    client.post(PAGE, data={**given, "reviewed": "yes"})
    assert "\nreviewed: true\n" in file_of(root).read_text()
    again = form(client, PAGE)
    assert again["reviewed"] == "yes"
    del again["reviewed"]
    client.post(PAGE, data=again)
    assert file_of(root).read_bytes() == before


def test_two_editors_at_once_lose_nothing(client: TestClient, root: Path) -> None:
    """The second is told, sees both texts, keeps his own, and saves over the first only when he has seen it."""
    first, second = form(client, PAGE), form(client, PAGE)
    first["body"] = first["body"].replace("tap", "brass tap")
    second["body"] = second["body"].replace("hatch", "steel hatch")
    assert client.post(PAGE, data=first).status_code == 303
    reply = client.post(PAGE, data=second)
    assert reply.status_code == 409
    assert "brass tap" in file_of(root).read_text()
    assert "steel hatch" not in file_of(root).read_text()
    assert "brass tap" in reply.text
    kept = filled(reply.text)
    assert kept["body"] == second["body"]
    assert client.post(PAGE, data=kept).status_code == 303
    assert "steel hatch" in file_of(root).read_text()


def test_a_file_saved_meanwhile_in_an_editor_is_not_overwritten(client: TestClient, root: Path) -> None:
    """An edit of the file counts like one of the page."""
    given = form(client, PAGE)
    file_of(root).write_text(file_of(root).read_text().replace("tap", "copper tap"))
    given["body"] += "\n\n## Mine\n\nWords."
    assert client.post(PAGE, data=given).status_code == 409
    assert "## Mine" not in file_of(root).read_text()


def test_what_is_wrong_is_told_in_the_form(client: TestClient, root: Path) -> None:
    """An empty page, a category that is none: what, where and the cure, with what was typed."""
    given = form(client, PAGE)
    reply = client.post(PAGE, data={**given, "body": " \n"})
    assert reply.status_code == 422
    assert "must say something" in html.unescape(reply.text)
    name = item_of(root)
    given = form(client, f"/edit/items/{name}")
    reply = client.post(f"/edit/items/{name}", data={**given, "secondary_categories": "Nowhere", "note": "mine"})
    assert reply.status_code == 422
    told = html.unescape(reply.text)
    assert "'Nowhere' is not a category" in told
    assert "Categories: " in told
    assert filled(reply.text)["note"] == "mine"
    assert filled(reply.text)["secondary_categories"] == "Nowhere"


def item_of(root: Path) -> str:
    """The item that says ``SAID``."""
    with opened(root) as base:
        return next(
            str(name) for name, text in base.sql("select id, text from rows where kind = 'item'")[1] if text == SAID
        )


def test_an_item_is_edited_by_field(client: TestClient, root: Path) -> None:
    """What was changed is a person's in the next build, and what was not stays the machine's."""
    name = item_of(root)
    path = f"/edit/items/{name}"
    given = form(client, path)
    assert given["statement"] == SAID
    assert client.post(path, data=given).headers["location"] == f"/items/{name}?saved=no"
    changed = {**given, "statement": f"{SAID[:-1]} at most.", "tags": "steam,  brass tap ,steam", "confidence": "low"}
    assert client.post(path, data=changed).headers["location"] == f"/items/{name}?saved=yes"
    with opened(root) as base:
        compile_all(base)
        item, _ = base.item_draft(name)
    assert (item.statement, item.tags, item.confidence) == (changed["statement"], ("steam", "brass tap"), "low")
    assert set(item.edited) == {"statement", "tags", "confidence"}
    assert 'href="/edit/items/' in client.get(f"/items/{name}").text


def test_two_editors_of_an_item_lose_nothing(client: TestClient, root: Path) -> None:
    """The second sees what each field says now beside what he typed."""
    path = f"/edit/items/{item_of(root)}"
    given = form(client, path)
    assert client.post(path, data={**given, "note": "first"}).status_code == 303
    reply = client.post(path, data={**given, "note": "second"})
    assert reply.status_code == 409
    assert "Stands there now: <strong>first</strong>" in reply.text
    kept = filled(reply.text)
    assert kept["note"] == "second"
    assert client.post(path, data=kept).status_code == 303
    assert form(client, path)["note"] == "second"


def test_only_our_own_forms_are_taken(client: TestClient, root: Path) -> None:
    """Neither a page nor an item is changed by a form of elsewhere, nor one that another site sends."""
    before = file_of(root).read_bytes()
    for path in (PAGE, f"/edit/items/{item_of(root)}"):
        given = form(client, path)
        assert client.post(path, data={**given, "token": "0" * 64, "body": "x", "note": "x"}).status_code == 403
        del given["token"]
        assert client.post(path, data={**given, "body": "x", "note": "x"}).status_code == 403
        given = form(client, path)
        assert client.post(path, data=given, headers={"Origin": "http://elsewhere.invalid"}).status_code == 403
    assert file_of(root).read_bytes() == before


def test_each_edits_what_is_his(root: Path) -> None:
    """A reader sees no editor and may not send its form; an editor of a project edits its pages and items, and knows of
    no other."""
    name = item_of(root)
    with served(root, ajar=False) as client:
        reader, red = bearer(root, "reader"), bearer(root, "red", "red", role="editor")
        blue, whole = bearer(root, "blue", "blue", role="editor"), bearer(root, "all", role="editor")
        assert "/edit/" not in client.get("/wiki/unclassified/crimson-guide", headers=reader).text
        assert "/edit/" not in client.get(f"/items/{name}", headers=reader).text
        for path in (PAGE, f"/edit/items/{name}"):
            given = form(client, path, whole)
            assert client.get(path, headers=reader).status_code == 403
            assert client.post(path, data=given, headers=reader).status_code == 403
            assert client.get(path, headers=blue).status_code == 404
            assert client.post(path, data=form(client, path, red), headers=red).status_code == 303
        assert client.post(PAGE, data=form(client, PAGE, red), headers=blue).status_code == 403


def test_nothing_that_a_person_writes_can_act(client: TestClient, root: Path) -> None:
    """Markup, scripts and addresses that would run are text on the page, in its editor, and in what changed."""
    evil = (
        "<script>alert(1)</script> [run](javascript:alert(2)) ![p](http://tracker.invalid/p.png) </textarea><img src=x>"
    )
    given = form(client, PAGE)
    given["body"] += f"\n\n## Mine {evil}\n\n{evil}\n"
    assert client.post(PAGE, data={**given, "summary": f'"><{evil}', "tags": evil}).status_code == 303
    name = item_of(root)
    item = form(client, f"/edit/items/{name}")
    client.post(f"/edit/items/{name}", data={**item, "note": evil, "tags": evil})
    stale = client.post(PAGE, data={**given, "body": f"{given['body']}\n{evil}\n"})
    assert stale.status_code == 409
    shown = ["/wiki/unclassified/crimson-guide", PAGE, f"/items/{name}", f"/edit/items/{name}"]
    shown += ["/changes/wiki/unclassified/crimson-guide?since=g1", "/changes/wiki?since=g1"]
    for text in (stale.text, *(client.get(path).text for path in shown)):
        assert "<script>alert" not in text
        assert "<img" not in text
        assert 'href="javascript' not in text
        assert 'tracker.invalid/p.png"' not in text.replace("&#34;", "'")
    assert evil in form(client, PAGE)["body"]
