"""The MCP server as agents meet it, through the SDK's own client, over standard streams and over HTTP."""

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from kb_pipeline_tests.driving import Cli, opened
from kb_pipeline_tests.two_projects import HASHED, serving

TOOLS = ["ask", "search", "get_item", "get_document", "list_pages", "get_page", "verify_quote"]
TOOLS += ["list_sources", "list_projects", "recent_changes", "who_knows", "conflicts"]
Connect = Callable[[], Any]


def over_stdio(root: Path, **environ: str) -> Any:
    """A transport to ``kb mcp`` as an agent starts it."""
    command, *args = Cli(root).command("mcp")
    path = str(Path(__file__).parents[2])
    return stdio_client(
        StdioServerParameters(command=command, args=args, env={**HASHED, "PYTHONPATH": path, **environ})
    )


def run(transport: Any, talk: Callable[[Client], Awaitable[None]]) -> None:
    """Let a client talk over a transport."""

    async def main() -> None:
        async with Client(transport) as client:
            await talk(client)

    anyio.run(main)


async def everything(client: Client) -> None:
    """What both transports must do alike."""
    tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == TOOLS
    assert all(tool.output_schema and tool.description for tool in tools)
    assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools if tool.name != "ask")

    async def call(name: str, **given: Any) -> Any:
        reply = await client.call_tool(name, given)
        assert not reply.is_error, reply.content
        return reply.structured_content

    hit = (await call("search", query="azure boat", k=3, kind="item"))["hits"][0]
    assert "12 sailors" in hit["text"]
    assert (await call("search", query="boat", paths=["red"]))["hits"] != [hit]
    item = await call("get_item", id=hit["id"])
    assert item["passages"][0]["proven"]
    part = await call("get_document", id="blue/boat.md", start=2, limit=10)
    assert (part["text"], part["end"]) == ("Azure boat", 12)
    about = next(p for p in (await call("list_pages"))["pages"] if "blue/boat.md" in p["docs"])
    assert "12 sailors" in (await call("get_page", id=about["id"]))["text"]
    assert (await call("verify_quote", quote="carries 12 sailors"))["verbatim"]
    assert not (await call("verify_quote", quote="carries 13 sailors"))["verbatim"]
    assert len((await call("list_sources"))["sources"]) == 3
    assert len((await call("list_projects"))["projects"]) == 2
    answer = await call("ask", query="How many sailors does the azure boat carry?")
    assert not answer["answered"] or "12" in answer["sentences"][0]["text"]
    assert (await call("conflicts"))["evidence"] == []
    assert (await call("who_knows", topic="sourdough bread"))["evidence"] == []
    assert (await call("recent_changes", since="2020-01-01"))["evidence"]
    await call("who_knows", topic="boats")
    await refused(client)
    found = await client.read_resource(f"kb://items/{hit['id']}")
    assert json.loads(found.contents[0].text)["item"]["id"] == hit["id"]  # type: ignore[union-attr]
    found = await client.read_resource("kb://documents/blue/boat.md")
    assert found.contents[0].text.startswith("# Azure boat")  # type: ignore[union-attr]


async def refused(client: Client) -> None:
    """Errors name what is wrong and what to do."""
    for name, given, told in (
        ("get_item", {"id": "kb_000000000000"}, "Find one with"),
        ("get_item", {"id": "blue/boat.md"}, "pattern"),
        ("search", {"query": ""}, "at least 1 character"),
        ("search", {"query": "a", "project": "none"}, "Known projects: "),
        ("search", {"query": "a", "paths": ["blue/none.md"]}, "no document 'blue/none.md'"),
        ("search", {"query": "a", "paths": ["red", "blue/boat.md"]}, "Ask once for each"),
        ("ask", {"query": "a", "model": "gpt-9"}, "does not answer here"),
        ("recent_changes", {"since": "2026-13-99"}, "is no date"),
    ):
        reply = await client.call_tool(name, given)
        assert reply.is_error, name
        assert told in reply.content[0].text  # type: ignore[union-attr]
    for address in ("kb://items/kb_000000000000", "kb://documents/../../etc/passwd"):
        with pytest.raises(MCPError):
            await client.read_resource(address)


def test_an_agent_over_standard_streams(compiled: Path) -> None:
    """Every tool and resource works, every mistake is told with its cure."""
    run(over_stdio(compiled), everything)


def test_an_agent_over_http(compiled: Path) -> None:
    """The same over the server, which ends in peace when it is told to."""
    with serving(compiled) as url:
        run(streamable_http_client(f"{url}/mcp"), everything)


def test_an_agent_with_a_token_sees_its_project(root: Path) -> None:
    """A token in the environment narrows every tool; one that is not known opens nothing."""
    with opened(root) as base:
        token = base.add_token("agent", "reader", ("red",))

    async def narrowed(client: Client) -> None:
        reply = await client.call_tool("search", {"query": "azure boat sailors"})
        assert "azure" not in str(reply.structured_content["hits"]).lower()

    async def shut_out(client: Client) -> None:
        reply = await client.call_tool("list_sources", {})
        assert reply.is_error
        assert "not known" in reply.content[0].text  # type: ignore[union-attr]

    run(over_stdio(root, KB_TOKEN=token), narrowed)
    run(over_stdio(root, KB_TOKEN="kb_wrong"), shut_out)


def test_nothing_but_the_protocol_is_on_standard_output(compiled: Path) -> None:
    """Every line that the server writes is JSON of the protocol, also when it is asked nonsense."""
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    search = {"jsonrpc": "2.0", "id": 2, "method": "tools/call"}
    search["params"] = {"name": "search", "arguments": {"query": "boat"}}
    lines = [json.dumps(hello), json.dumps(ready), "nonsense", json.dumps(search)]
    environ = {**os.environ, **HASHED, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, *Cli(compiled).command("mcp")[1:]]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environ, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n".join(lines) + "\n")
        process.stdin.flush()
        replies = [json.loads(process.stdout.readline())]
        while replies[-1].get("id") != 2:
            replies.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        rest = process.stdout.read()
        process.wait(timeout=20)
    assert rest == ""
    assert all(reply["jsonrpc"] == "2.0" for reply in replies)
    assert "12 sailors" in json.dumps(replies[-1])
