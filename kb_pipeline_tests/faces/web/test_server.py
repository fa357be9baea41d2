"""The server as programs meet it: JSON in and out, problems with a cure, nothing that another origin could use."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from kb_pipeline.faces.web.guard import Limits
from kb_pipeline_tests.driving import opened, write
from kb_pipeline_tests.two_projects import bearer, served


@pytest.fixture
def client(root: Path) -> Iterator[TestClient]:
    with served(root) as found:
        yield found


def test_search_finds_what_the_verb_finds(client: TestClient, root: Path) -> None:
    """Over HTTP a search gives the hits of the verb, in the same shape."""
    found = client.get("/api/search", params={"q": "crimson engine", "k": 3}).json()
    with opened(root) as base:
        expected = base.search("crimson engine", k=3).model_dump(mode="json")
    assert {**found, "ms": 0} == {**expected, "ms": 0}
    only = client.get("/api/search", params={"q": "connection", "source": ["blue", "open"], "kind": "item"}).json()
    assert {hit["kind"] for hit in only["hits"]} == {"item"}
    assert all(set(hit["docs"]) & {"blue/boat.md", "blue/crew.md", "open/hostile.md"} for hit in only["hits"])


def test_items_documents_and_lists_can_be_fetched(client: TestClient) -> None:
    """What a search names can be fetched by its id, slashes written either way."""
    hit = client.get("/api/search", params={"q": "azure boat", "kind": "item"}).json()["hits"][0]
    assert client.get(f"/api/items/{hit['id']}").json()["item"]["statement"] == hit["text"]
    for path in ("blue/boat.md", "blue%2Fboat.md"):
        assert client.get(f"/api/documents/{path}").json()["meta"]["title"] == "Azure boat"
    assert client.get("/api/items", params={"size": 2}).json()["total"] >= 4
    assert [s["status"]["id"] for s in client.get("/api/sources").json()] == ["red", "blue", "open"]
    assert {p["id"] for p in client.get("/api/projects").json()} == {"red", "blue"}
    assert client.get("/api/sources/red/documents").json()[0]["doc_id"] == "red/engine.md"
    assert client.get("/api/contents").json()["kinds"]["item"] >= 4
    assert client.get("/api/evaluations").json()[0]["generation"] == "g00000001"
    assert client.get("/api/status").json()["live"] == "g00000001"
    assert client.get("/api/me").json() == {"name": "local", "role": "admin", "projects": []}


def test_a_quote_is_verified_to_the_letter(client: TestClient) -> None:
    """A quote is verbatim where it stands, with the items that rest on it; a changed number is not."""
    quote = "The azure boat carries 12 sailors"
    found = client.get("/api/verify", params={"quote": quote}).json()
    assert found["verbatim"]
    assert found["places"][0]["doc_id"] == "blue/boat.md"
    assert found["places"][0]["items"]
    wrong = client.get("/api/verify", params={"quote": quote.replace("12", "13"), "document": "blue/boat.md"}).json()
    assert (wrong["verbatim"], wrong["places"]) == (False, [])


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/search", 422),
        ("/api/search?q=", 422),
        ("/api/search?q=%20", 422),
        ("/api/search?q=a&k=0", 422),
        ("/api/search?q=a&k=x", 422),
        ("/api/search?q=a&q=b", 422),
        ("/api/search?q=a&colour=red", 422),
        ("/api/search?q=a&source=nowhere", 404),
        ("/api/search?q=a&project=nowhere", 404),
        ("/api/items/kb_000000000000", 404),
        ("/api/items/red%2Fengine.md", 404),
        ("/api/documents/red/nothing.md", 404),
        ("/api/documents/%00", 404),
        ("/api/sources/nowhere/documents", 404),
        ("/api/items?start=-1", 422),
        ("/api/items?category='%20or%201=1--", 200),
        ("/api/nothing", 404),
    ],
)
def test_what_is_wrong_is_told_with_its_cure(client: TestClient, path: str, status: int) -> None:
    """Bad input is a problem of the request, never of the server."""
    reply = client.get(path)
    assert reply.status_code == status
    if status != 200:
        assert reply.headers["content-type"] == "application/problem+json"
        told = reply.json()
        assert told["status"] == status
        assert told["detail"]
        assert told["cure"]


def test_an_unknown_method_is_refused(client: TestClient) -> None:
    """405 with what is allowed."""
    reply = client.delete("/api/search")
    assert (reply.status_code, set(reply.headers["allow"].split(", "))) == (405, {"GET", "HEAD"})


def test_no_page_of_another_origin_can_use_the_server(client: TestClient) -> None:
    """Another name, another origin or a script elsewhere is refused; a link from elsewhere opens the page."""
    assert client.get("/api/me", headers={"Host": "rebound.invalid"}).status_code == 403
    assert client.get("/api/me", headers={"Origin": "http://evil.invalid"}).status_code == 403
    script = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert client.get("/api/search?q=a", headers=script).status_code == 403
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert client.get("/", headers=link).status_code == 200
    assert client.post("/login", headers=link, data={"token": "x"}).status_code == 403


def test_every_answer_forbids_what_a_document_could_bring(client: TestClient) -> None:
    """Nothing but our own script and style may run, wherever a text is shown."""
    for path in ("/", "/documents/open/hostile.md", "/api/me", "/nothing", "/static/app.css"):
        policy = client.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy


def test_requests_have_a_size(root: Path) -> None:
    """A body beyond the limit is refused, whether or not it says how long it is."""
    with served(root, limits=Limits(body=1000)) as client:
        reply = client.post("/login", content=b"x" * 1001, headers={"Content-Type": "text/plain"})
        assert reply.status_code == 413
        chunked = client.post("/login", content=iter([b"token=" + b"x" * 600, b"x" * 600]), headers=FORM)
        assert chunked.status_code == 413


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def test_requests_have_a_time(root: Path) -> None:
    """What takes too long ends with a problem that says so."""
    with served(root, limits=Limits(seconds=0.000001)) as client:
        reply = client.get("/api/contents")
        assert (reply.status_code, reply.json()["title"]) == (503, "slow")


def test_health_and_figures(client: TestClient, root: Path) -> None:
    """Anybody may ask whether readers are served; figures count requests and rows."""
    assert client.get("/healthz").json() == {"status": "ok"}
    client.get("/api/me")
    figures = client.get("/metrics").text
    assert 'kb_requests_total{face="api",method="GET",status="200"} 1' in figures
    assert 'kb_rows{kind="item"}' in figures
    (root / "kb/index/CURRENT").unlink()
    assert client.get("/healthz").status_code == 503


def test_without_loopback_a_token_is_needed(root: Path) -> None:
    """Nothing but health, style and the form to sign in is shown to who brings none."""
    with served(root, ajar=False) as client:
        for path in ("/api/me", "/api/search?q=a", "/openapi.json", "/metrics"):
            reply = client.get(path)
            assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer")
        assert client.get("/").headers["location"] == "/login?next=%2F"
        assert client.post("/mcp", json={}).status_code == 401
        assert client.get("/healthz").status_code == 200
        assert client.get("/static/app.css").status_code == 200
        assert client.get("/api/me", headers={"Authorization": "Bearer kb_wrong"}).status_code == 401
        mine = bearer(root, "mira", "red", role="editor")
        assert client.get("/api/me", headers=mine).json() == {"name": "mira", "role": "editor", "projects": ["red"]}
        with opened(root) as base:
            base.revoke_token("mira")
        assert client.get("/api/me", headers=mine).status_code == 401


def test_a_person_signs_in_with_a_token(root: Path) -> None:
    """The token goes into a cookie that scripts cannot read; a wrong one is told; no other site is led to."""
    with served(root, ajar=False) as client:
        token = bearer(root, "mira")["Authorization"].removeprefix("Bearer ")
        assert client.post("/login", data={"token": "wrong"}).status_code == 401
        reply = client.post("/login", data={"token": token, "next": "//evil.invalid"})
        assert (reply.status_code, reply.headers["location"]) == (303, "/")
        assert "HttpOnly" in reply.headers["set-cookie"]
        assert "SameSite=strict" in reply.headers["set-cookie"]
        assert client.get("/sources").status_code == 200
        client.post("/logout")
        assert client.get("/sources").status_code == 303


def test_a_token_has_a_rate(root: Path) -> None:
    """Beyond its requests a minute a token is told when to come again; others are not held up."""
    text = (root / "sources.yaml").read_text()
    (root / "sources.yaml").write_text(f"{text}settings: {{token_rpm: 5}}\n")
    fast, slow = bearer(root, "fast"), bearer(root, "slow")
    with served(root, ajar=False) as client:
        told = [client.get("/api/me", headers=fast) for _ in range(7)]
        assert [reply.status_code for reply in told][:5] == [200] * 5
        assert told[-1].status_code == 429
        assert int(told[-1].headers["retry-after"]) >= 1
        assert client.get("/api/me", headers=slow).status_code == 200


def test_edited_settings_count_at_once(client: TestClient, root: Path) -> None:
    """A new project can be asked for without a restart; broken settings leave the last good ones in force."""
    sources = root / "sources.yaml"
    good = sources.read_text()
    sources.write_text(good + "  - {id: open, name: Open, sources: [open]}\n")
    assert {p["id"] for p in client.get("/api/projects").json()} == {"red", "blue", "open"}
    sources.write_text("version: [")
    assert {p["id"] for p in client.get("/api/projects").json()} == {"red", "blue", "open"}


def test_readers_are_served_while_the_index_is_replaced(client: TestClient, root: Path) -> None:
    """A new generation is served from the next request on, without a restart."""
    write(root, {"blue/new.md": "# New\n\nThe turquoise lantern burns for 5 nights.\n"})
    from kb_pipeline_tests.driving import compile_all

    with opened(root) as base:
        compile_all(base)
    assert "turquoise" in client.get("/api/search", params={"q": "turquoise lantern"}).text


def test_every_query_is_in_the_log(client: TestClient, root: Path) -> None:
    """Who asked what through which face, and what was found; `usage` counts it, but for what was still being typed."""
    client.get("/api/search", params={"q": "crimson"})
    client.get("/search", params={"q": "azure"})
    client.get("/search", params={"q": "az", "part": "1"})
    client.get("/search", params={"q": "nothing like this exists 4711"})
    with opened(root) as base:
        found = base.usage()
    assert found.queries == 3
    assert dict(found.users) == {"local": 3}
    assert [dict(counts) for counts in found.days.values()] == [{"automation": 1, "person": 2}]


def test_texts_of_questions_can_be_kept_out_of_the_log(root: Path) -> None:
    """With audit_questions off no line holds a question."""
    text = (root / "sources.yaml").read_text()
    (root / "sources.yaml").write_text(f"{text}settings: {{audit_questions: false}}\n")
    with served(root) as client:
        client.get("/api/search", params={"q": "crimson secret"})
    (log,) = (root / "kb/logs/queries").iterdir()
    assert '"verb":"search"' in log.read_text()
    assert "secret" not in log.read_text()
