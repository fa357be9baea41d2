"""Mixed requests of a token over every face, and whether any answer betrays what it may not see."""

import itertools
import random
import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote, quote_plus

from starlette.testclient import TestClient

QUERIES = (
    "crimson engine",
    "azure boat",
    "scarlet limiter",
    "cobalt crew",
    "gateway idle connection 75 seconds",
    "512 tokens a block",
    "12 sailors and 3 anchors",
    "what rests for 8 hours",
    "who wrote this",
    "nothing of the kind",
)
PATHS = ("/", "/browse", "/sources", "/evaluation", "/api/contents", "/api/sources", "/api/projects", "/api/items")
LISTS = ("/api/evaluations", "/api/status", "/metrics", "/api/me", "/sources/red", "/sources/blue", "/openapi.json")
TOOLS = ("ask", "search", "who_knows", "conflicts", "verify_quote")
MCP_HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}

Request = tuple[str, str, dict[str, Any]]


def requests(names: Sequence[str], seed: int = 7) -> Iterator[Request]:
    """Requests without end: lists, searches and answers, and every one of ``names`` (ids) by every way to fetch it."""
    chance = random.Random(seed)
    for n in itertools.count():
        query, name = QUERIES[n % len(QUERIES)], names[n % len(names)]
        kind = "items" if name.startswith("kb_") else "documents"
        yield from (
            ("GET", chance.choice((*PATHS, *LISTS)), {}),
            ("GET", "/api/search", {"params": {"q": query, "k": 50}}),
            ("GET", "/search", {"params": {"q": query, "part": "1"}}),
            ("GET", "/api/search", {"params": {"q": query, "source": chance.choice(("red", "blue"))}}),
            ("GET", "/api/search", {"params": {"q": query, "project": chance.choice(("red", "blue"))}}),
            ("GET", f"/{kind}/{name}", {}),
            ("GET", f"/api/{kind}/{name}", {}),
            ("GET", chance.choice(("/api/conflicts", "/api/who-knows")), {"params": {"query": query}}),
            ("GET", "/api/changes", {"params": {"since": "2020-01-01"}}),
            ("GET", "/api/verify", {"params": {"quote": query, "document": chance.choice(("", name))}}),
            ("POST", "/api/ask", {"json": {"question": query}}),
            ("GET", "/answer", {"params": {"q": query}}),
            _call(chance.choice(TOOLS), query),
            _call("get_item" if kind == "items" else chance.choice(("get_document", "get_page")), name),
            _call(chance.choice(("list_sources", "list_projects", "list_pages")), ""),
        )


def _call(tool: str, value: str) -> Request:
    names = {
        "who_knows": "topic",
        "conflicts": "topic",
        "verify_quote": "quote",
        "get_item": "id",
        "get_document": "id",
        "get_page": "id",
    }
    given = {} if tool.startswith("list") else {names.get(tool, "query"): value}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": given}}
    return "POST", "/mcp", {"json": call, "headers": MCP_HEADERS}


def betrayed(
    client: TestClient, headers: dict[str, str], forbidden: re.Pattern[str], names: Sequence[str], count: int
) -> list[str]:
    """Answers to ``count`` requests that hold what is ``forbidden``, or that the server failed at. What a request says
    itself is no betrayal where it comes back."""
    found = []
    for method, path, given in itertools.islice(requests(names), count):
        reply = client.request(method, path, **{**given, "headers": {**headers, **given.get("headers", {})}})
        text = reply.text
        for own in sorted(_said(path, given), key=len, reverse=True):
            text = text.replace(own, "")
        if reply.status_code >= 500 and path != "/metrics":
            found.append(f"{method} {path} {given}: {reply.status_code}")
        elif hit := forbidden.search(text):
            found.append(f"{method} {path} {given}: {hit[0]} in {text[max(0, hit.start() - 60) : hit.end() + 60]}")
    return found


def _said(path: str, given: dict[str, Any]) -> set[str]:
    """What a request itself says, in every form in which it may come back."""
    body = given.get("json", {})
    arguments = body.get("params", {}).get("arguments", {})
    said = [*given.get("params", {}).values(), *arguments.values(), body.get("question", ""), path, path.split("/")[-1]]
    said += [path.partition("documents/")[2], path.removeprefix("/sources/")]
    plain = {str(word) for word in said if word}
    return {form for word in plain for form in (word, quote(word), quote_plus(word), quote(word, safe=""))}
