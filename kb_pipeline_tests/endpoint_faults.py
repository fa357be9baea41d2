"""What can go wrong at an endpoint, by name. Each fault writes its own answer, or spoils the one that was due."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

Head = tuple[int, Mapping[str, str]]


@dataclass(frozen=True)
class Answer:
    """An answer as it would be sent: status, body and headers."""

    status: int
    body: bytes
    headers: Mapping[str, str]


def error(status: int, message: str, *, code: str = "", param: str = "", headers: Any = None) -> Answer:
    """An error as OpenAI words it."""
    told = {"error": {"message": message, "type": "error", "code": code or None, "param": param or None}}
    return Answer(status, json.dumps(told).encode(), dict(headers or {}))


def _choice(answer: Answer, change: Callable[[dict[str, Any]], None]) -> Answer:
    body = json.loads(answer.body)
    change(body["choices"][0])
    return Answer(answer.status, json.dumps(body).encode(), answer.headers)


def _text(answer: Answer, change: Callable[[str], str]) -> Answer:
    """The answer with the model's words changed, wherever they stand."""

    def spoil(choice: dict[str, Any]) -> None:
        message = choice["message"]
        if message.get("tool_calls"):
            function = message["tool_calls"][0]["function"]
            function["arguments"] = change(function["arguments"])
        else:
            message["content"] = change(message["content"])

    return _choice(answer, spoil)


def _said_nothing(choice: dict[str, Any], **message: Any) -> None:
    choice["message"] = {"role": "assistant", "content": None, **message}


def _refused(choice: dict[str, Any]) -> None:
    _said_nothing(choice, refusal="I cannot help with that.")


def _filtered(choice: dict[str, Any]) -> None:
    _said_nothing(choice)
    choice["finish_reason"] = "content_filter"


def _cut(choice: dict[str, Any]) -> None:
    choice["finish_reason"] = "length"


def _without(name: str) -> Callable[[Answer], Answer]:
    def spoil(answer: Answer) -> Answer:
        body = json.loads(answer.body)
        body[name] = [] if name == "choices" else None
        return Answer(answer.status, json.dumps(body).encode(), answer.headers)

    return spoil


SPOILING: Mapping[str, Callable[[Answer], Answer]] = {
    "truncated_body": lambda a: Answer(a.status, a.body[: len(a.body) // 2], a.headers),
    "truncated_json": lambda a: _text(a, lambda text: text[: max(1, len(text) - 3)]),
    "broken_json": lambda a: _text(a, lambda text: text.replace('":', '" :', 1)[:-1] + ",}"),
    "wrong_schema": lambda a: _text(a, lambda _: '{"nothing": ["of", "the", "kind"]}'),
    "prose": lambda a: _text(a, lambda _: "I would rather talk about something else."),
    "fenced": lambda a: _text(a, lambda text: f"Sure! Here it is:\n\n```json\n{text}\n```\nAnything else?"),
    "thinking": lambda a: _text(a, lambda text: f'<think>Is it {{"this"}}?</think>\n{text}'),
    "empty_choice": _without("choices"),
    "empty_text": lambda a: _text(a, lambda _: ""),
    "no_usage": _without("usage"),
    "no_data": _without("data"),
    "refusal": lambda a: _choice(a, _refused),
    "content_filter": lambda a: _choice(a, _filtered),
    "length": lambda a: _choice(a, _cut),
}

REFUSING: Mapping[str, Callable[[float], Answer]] = {
    "401": lambda _: error(401, "Incorrect API key provided: sk-not-to-be-seen", code="invalid_api_key"),
    "404": lambda _: error(404, "The model does not exist", code="model_not_found"),
    "quota": lambda _: error(429, "You exceeded your current quota", code="insufficient_quota"),
    "429": lambda wait: error(429, "Rate limit reached", headers={"Retry-After": f"{wait:g}"}),
    "429_silent": lambda _: error(429, "Rate limit reached"),
    "500": lambda _: error(500, "The server had an error"),
    "503": lambda _: error(503, "Loading model"),
    "html": lambda _: Answer(502, b"<html><body>Bad gateway</body></html>", {"Content-Type": "text/html"}),
    "error_in_200": lambda _: Answer(200, b'{"error": {"code": 502, "message": "Upstream"}}', {}),
    "not_json": lambda _: Answer(200, b"<html>Welcome to this hotspot</html>", {"Content-Type": "text/html"}),
    "context": lambda _: error(400, "maximum context length is 100 tokens", code="context_length_exceeded"),
    "filtered": lambda _: error(400, "The response was filtered", code="content_filter"),
}


async def _reset(writer: asyncio.StreamWriter, _: Answer, __: float) -> None:
    writer.transport.abort()


async def _hang(_: asyncio.StreamWriter, __: Answer, seconds: float) -> None:
    await asyncio.sleep(seconds or 3600)


async def _drip(writer: asyncio.StreamWriter, answer: Answer, seconds: float) -> None:
    """One byte at a time: no single read ever waits long."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n")
    for n in range(1_000_000):
        writer.write(answer.body[n : n + 1] or b" ")
        await writer.drain()
        await asyncio.sleep(seconds or 0.05)


HOLDING: Mapping[str, Callable[[asyncio.StreamWriter, Answer, float], Awaitable[None]]] = {
    "reset": _reset,
    "hang": _hang,
    "drip": _drip,
}
FAULTS = frozenset({*SPOILING, *REFUSING, *HOLDING})
