"""What editors do through the pages: decide on what waits, add notes and files, and nobody does it for them."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from starlette.testclient import TestClient

from kb_pipeline.settings import load
from kb_pipeline_tests.driving import compile_all, opened, write
from kb_pipeline_tests.two_projects import bearer, served

NOTE = "The walrus cluster drains within 15 minutes."


@pytest.fixture
def client(root: Path) -> Iterator[TestClient]:
    with served(root) as found:
        yield found


def token(client: TestClient, page: str, headers: dict[str, str] | None = None) -> str:
    """What a form of a page carries."""
    found = re.search(r'name="token" value="(\w+)"', client.get(page, headers=headers or {}).text)
    assert found is not None
    return found[1]


def test_a_decision_is_taken_and_named(client: TestClient, root: Path) -> None:
    """A button records the decision with its reason and who took it; what was decided waits no more."""
    (name, *_) = re.findall(r'name="name" value="([^"]+)"', client.get("/review").text)
    given = {"token": token(client, "/review"), "name": name, "action": "keep", "reason": "it is fine"}
    reply = client.post("/review", data=given)
    assert reply.status_code == 303
    assert name in client.get(reply.headers["location"]).text
    with opened(root) as base:
        assert name not in {review.name for review in base.reviews()}
        assert base.undo().who == "local"


def test_a_form_of_elsewhere_is_refused(client: TestClient, root: Path) -> None:
    """Without the token of our own page nothing is decided and nothing is kept."""
    for page, given in (("/review", {"name": "x", "action": "keep"}), ("/inbox", {"note": NOTE})):
        assert client.post(page, data=given).status_code == 403
        assert client.post(page, data={**given, "token": "0" * 64}).status_code == 403
    assert not (root / "inbox").exists()


def test_a_reader_may_not(root: Path) -> None:
    """Neither the list nor the form is shown to a reader, nor named in the navigation."""
    with served(root, ajar=False) as client:
        reader = bearer(root, "reader")
        assert client.get("/review", headers=reader).status_code == 403
        assert client.get("/inbox", headers=reader).status_code == 403
        assert client.get("/inbox/events", headers=reader).status_code == 403
        assert 'href="/review"' not in client.get("/", headers=reader).text


def test_an_editor_of_one_project_sees_and_settles_its_own(root: Path) -> None:
    """What waits is shown as far as all of it may be seen; another's cannot be settled by its name."""
    with served(root, ajar=False) as client:
        red, whole = bearer(root, "red", "red", role="editor"), bearer(root, "all", role="editor")
        names = re.findall(r'name="name" value="([^"]+)"', client.get("/review", headers=whole).text)
        mine = re.findall(r'name="name" value="([^"]+)"', client.get("/review", headers=red).text)
        assert set(mine) < set(names)
        theirs = min(set(names) - set(mine))
        form = {"token": token(client, "/review", red), "name": theirs, "action": "keep", "reason": "mine now"}
        assert client.post("/review", data=form, headers=red).status_code == 404


def test_a_note_becomes_knowledge(client: TestClient, root: Path) -> None:
    """A note and a file land in the inbox, whose source is made with a message, every other line left as it was."""
    before = (root / "sources.yaml").read_text()
    files = [("files", ("../../up.md", b"# Up\n\nThe narwhal relay holds 3 keys.\n"))]
    form = {"token": token(client, "/inbox"), "note": NOTE, "title": "Walrus"}
    reply = client.post("/inbox", data=form, files=files)
    assert reply.status_code == 303
    assert "was added to sources.yaml" in client.get(reply.headers["location"]).text
    assert {p.name for p in (root / "inbox").iterdir()} == {
        "up.md",
        *(p.name for p in (root / "inbox").glob("*walrus*")),
    }
    after = (root / "sources.yaml").read_text()
    assert [line for line in after.splitlines() if line not in before.splitlines()]
    assert [line for line in before.splitlines() if line not in after.splitlines()] == []
    text = client.get("/inbox/events").text
    assert "event: end" in text
    with opened(root) as base:
        compile_all(base)
    assert NOTE in client.get("/api/search", params={"q": "walrus cluster"}).text


FLOW = "{id: a, type: local, uri: a, license: CC0-1.0}"
STYLES = (
    "version: 1\nsources: []\n",
    f"version: 1\nsources: [{FLOW}]\nprojects: [{{id: p, name: P, sources: [a]}}]\n",
    f"version: 1\nsources:\n- {FLOW}\nprojects:\n- id: p\n  name: P\n  sources:\n  - a\n",
    f"version: 1\nsources:\n    # first\n    - {FLOW}  # the only one\n",
)


@pytest.mark.parametrize("text", STYLES)
def test_a_source_is_added_in_the_style_of_the_file(tmp_path: Path, text: str) -> None:
    """Block or flow, empty or not, commented or not: the entry is added, and all that was there stays."""
    from kb_pipeline.api.inbox import _inserted

    entry = "- id: inbox\n  type: local\n  uri: inbox\n  license: internal\n"
    added = _inserted(text, ("sources",), entry, "{id: inbox, type: local, uri: inbox, license: internal}")
    if "projects" in text:
        added = _inserted(added, ("projects", 0, "sources"), "- inbox\n", "inbox")
    write(tmp_path, {"sources.yaml": added})
    found = load(tmp_path, environ={})
    assert [s.id for s in found.sources] == ["inbox", *(s["id"] for s in yaml.safe_load(text)["sources"])]
    assert all("inbox" in p.sources for p in found.projects)
    assert text.count("#") == added.count("#")


def test_an_editor_of_a_project_has_its_inbox(root: Path) -> None:
    """A note of one who sees a project lands in that project, where he can see it."""
    with served(root, ajar=False) as client:
        red = bearer(root, "red", "red", role="editor")
        form = {"token": token(client, "/inbox", red), "note": NOTE}
        assert client.post("/inbox", data=form, headers=red).status_code == 303
        sources = [s["status"]["id"] for s in client.get("/api/sources", headers=red).json()]
        assert sources == ["inbox-red", "red"]
