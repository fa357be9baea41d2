"""A fake OpenAI-compatible endpoint: its own process, real sockets, replies by rule, faults on demand.

``with serve(rules=["package.module:rule"]) as endpoint`` starts one. A rule is given each request as ``Asked`` and
returns what the model says (a mapping is said as JSON), or None to leave it to the next rule. With ``cassettes`` a
recorded reply wins over rules, and with ``upstream`` too what nobody answers is sent there and recorded. What nobody
answers is a 404 that carries the request's key: never a silent call elsewhere.
"""

import argparse
import asyncio
import hashlib
import importlib
import json
import subprocess
import sys
import urllib.request
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from kb_pipeline_tests.endpoint_faults import FAULTS, HOLDING, REFUSING, SPOILING, Answer, error

RUNGS = ("json_schema", "tool", "json_object")
_HASHED = ("model", "messages", "response_format", "tools", "temperature", "seed", "max_tokens",
           "max_completion_tokens", "input", "dimensions")  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """One request: ``rung`` says how its shape is asked for (``prompt`` where it is not)."""

    path: str
    body: Mapping[str, Any]

    @cached_property
    def key(self) -> str:
        """The hash of all that decides a reply."""
        said = [self.path, {name: self.body[name] for name in _HASHED if name in self.body}]
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:32]

    @property
    def messages(self) -> Sequence[Mapping[str, str]]:
        """The conversation so far."""
        return cast(Sequence[Mapping[str, str]], self.body.get("messages", ()))

    @property
    def system(self) -> str:
        """The first message."""
        return self.messages[0]["content"] if self.messages else ""

    @property
    def user(self) -> str:
        """The first message of the user, whatever came after."""
        return next((m["content"] for m in self.messages if m["role"] == "user"), "")

    @property
    def rung(self) -> str:
        """How the shape is asked for."""
        if self.body.get("tools"):
            return "tool"
        return str((self.body.get("response_format") or {}).get("type", "prompt"))


Rule = Callable[[Asked], Mapping[str, Any] | str | None]


def echo(asked: Asked) -> Mapping[str, Any]:
    """A rule that says what it was asked, and how many code points that is."""
    return {"text": asked.user, "length": len(asked.user)}


def hashed_vectors(texts: Sequence[str], dim: int) -> list[list[float]]:
    """A vector a text that depends on all of it, the same on every machine."""
    rows = []
    for text in texts:
        data = hashlib.shake_256(text.encode()).digest(dim)
        rows.append([byte / 127.5 - 1 for byte in data])
    return rows


# --- the server --------------------------------------------------------------------------------------------------


@dataclass
class Fault:
    """The next ``times`` requests whose text holds ``match`` fail by ``name``; ``seconds`` is its wait, where it has
    one. With ``every`` it is each n-th request for ever, but no question twice."""

    name: str
    match: str = ""
    times: int = 1
    seconds: float = 0.0
    every: int = 0


@dataclass
class Server:
    """What one process answers, and what it was asked."""

    rules: Sequence[Rule]
    supports: Sequence[str] = RUNGS
    refuses: Sequence[str] = ()
    delay: float = 0.0
    dim: int = 16
    cassettes: Path | None = None
    upstream: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    faults: deque[Fault] = field(default_factory=deque)
    failed: set[str] = field(default_factory=set)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until it ends."""
        with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                _, path, _ = head[0].split(" ", 2)
                headers = dict(line.lower().split(": ", 1) for line in head[1:] if ": " in line)
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                await self._serve(path, json.loads(body or b"{}"), writer)
        writer.close()

    async def _serve(self, path: str, body: Mapping[str, Any], writer: asyncio.StreamWriter) -> None:
        if path.startswith("/control/"):
            return await _send(writer, self._control(path.removeprefix("/control/"), body))
        asked = Asked(path, body)
        call = {"key": asked.key, "path": path, "model": body.get("model"), "rung": asked.rung}
        call |= {"user": asked.user[:200], "fault": "", "status": 0}
        self.calls.append(call)
        fault = self._fault(asked)
        call["fault"] = fault.name if fault else ""
        if self.delay:
            await asyncio.sleep(self.delay)
        if fault and fault.name in REFUSING:
            answer = REFUSING[fault.name](fault.seconds)
        else:
            answer = await self._answer(asked)
        if fault and fault.name in HOLDING:
            return await HOLDING[fault.name](writer, answer, fault.seconds)
        if fault and fault.name in SPOILING and answer.status == 200:
            answer = SPOILING[fault.name](answer)
        await _send(writer, answer)
        call["status"] = answer.status
        return None

    def _fault(self, asked: Asked) -> Fault | None:
        text = json.dumps(asked.body, ensure_ascii=False)
        for fault in self.faults:
            if fault.match not in text:
                continue
            if fault.every:
                if len(self.calls) % fault.every == 0 and asked.user not in self.failed:
                    self.failed.add(asked.user)
                    self.faults.rotate(-1)  # the next time another of them
                    return fault
            elif fault.times:
                fault.times -= 1
                return fault
        return None

    async def _answer(self, asked: Asked) -> Answer:
        if asked.rung != "prompt" and asked.rung not in self.supports:
            return error(400, f"This model does not support {asked.rung}", code="unsupported_value")
        for parameter in self.refuses:
            if parameter in asked.body:
                told = f"Unsupported parameter: '{parameter}' is not supported with this model."
                return error(400, told, code="unsupported_parameter", param=parameter)
        if (kept := self._cassette(asked)) and kept.is_file():
            return Answer(200, kept.read_bytes(), {})
        if asked.path.endswith("/embeddings"):
            return _json(200, self._embedded(asked))
        for rule in self.rules:
            said = rule(asked)
            if said is not None:
                return _json(200, _completion(asked, said))
        if self.upstream:
            return await asyncio.to_thread(self._forward, asked)
        return error(404, f"no reply is recorded under {asked.key}", code="replay_miss")

    def _cassette(self, asked: Asked) -> Path | None:
        return self.cassettes / f"{asked.key}.json" if self.cassettes else None

    def _forward(self, asked: Asked) -> Answer:
        address = self.upstream + asked.path.removeprefix("/v1")
        data = json.dumps(asked.body).encode()
        request = urllib.request.Request(address, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as response:
            body = response.read()
        if path := self._cassette(asked):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(body)
        return Answer(200, body, {})

    def _embedded(self, asked: Asked) -> dict[str, Any]:
        texts = cast(list[str], asked.body["input"])
        rows = hashed_vectors(texts, self.dim)
        data = [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows)]
        count = sum(len(text) // 4 for text in texts)
        usage = {"prompt_tokens": count, "total_tokens": count}
        return {"object": "list", "model": asked.body["model"], "data": data, "usage": usage}

    def _control(self, verb: str, body: Mapping[str, Any]) -> Answer:
        if verb == "fault":
            self.faults.append(Fault(**body))
        elif verb == "set":
            vars(self).update(body)
        return _json(200, self.calls if verb == "calls" else {})


def _completion(asked: Asked, said: Mapping[str, Any] | str) -> dict[str, Any]:
    text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    message: dict[str, Any] = {"role": "assistant", "content": text}
    end = "stop"
    if asked.rung == "tool":
        call = {"name": asked.body["tools"][0]["function"]["name"], "arguments": text}
        message = {"role": "assistant", "content": None,
                   "tool_calls": [{"id": "call_1", "type": "function", "function": call}]}  # fmt: skip
        end = "tool_calls"
    sent, received = len(json.dumps(asked.body)) // 4, len(text) // 4
    return {
        "id": f"chatcmpl-{asked.key[:8]}",
        "object": "chat.completion",
        "created": 0,
        "model": asked.body.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": end}],
        "usage": {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received},
    }


def _json(status: int, body: Any) -> Answer:
    return Answer(status, json.dumps(body, ensure_ascii=False).encode(), {})


async def _send(writer: asyncio.StreamWriter, answer: Answer) -> None:
    """Head and body in one write: apart, each answer waits for an acknowledgement."""
    headers = {"Content-Type": "application/json", "Content-Length": str(len(answer.body)), **answer.headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(
        f"HTTP/1.1 {answer.status} {'OK' if answer.status == 200 else 'No'}\r\n{lines}\r\n".encode() + answer.body
    )
    await writer.drain()


async def _run(server: Server) -> None:
    listening = await asyncio.start_server(server.handle, "127.0.0.1", 0, limit=1 << 24)
    print(listening.sockets[0].getsockname()[1], flush=True)
    async with listening:
        await asyncio.to_thread(sys.stdin.read)  # until whoever started it goes, however that happens


def main() -> None:
    """Serve until standard input ends; the first line of output is the port."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("settings", type=json.loads)
    settings = parser.parse_args().settings
    rules = [_named(rule) for rule in settings.pop("rules")]
    cassettes = settings.pop("cassettes", None)
    with suppress(KeyboardInterrupt):
        asyncio.run(_run(Server(rules, cassettes=Path(cassettes) if cassettes else None, **settings)))


def _named(rule: str) -> Rule:
    module, _, name = rule.partition(":")
    return cast(Rule, getattr(importlib.import_module(module), name))


# --- whoever starts it -------------------------------------------------------------------------------------------


@dataclass
class FakeEndpoint:
    """A running endpoint, from outside."""

    port: int

    @property
    def url(self) -> str:
        """What ``KB_LLM_BASE_URL`` is set to."""
        return f"http://127.0.0.1:{self.port}/v1"

    def fault(self, name: str, **how: Any) -> None:
        """Queue a fault: see ``Fault``."""
        assert name in FAULTS, name
        self._control("fault", {"name": name, **how})

    def set(self, **settings: Any) -> None:
        """Change what the server does from now on: ``supports``, ``refuses``, ``delay``, ``dim``."""
        self._control("set", settings)

    def calls(self) -> list[dict[str, Any]]:
        """Every request so far, in order of arrival."""
        return cast(list[dict[str, Any]], self._control("calls"))

    def count(self) -> int:
        """How many requests there were."""
        return len(self.calls())

    def answered(self) -> Counter[str]:
        """How often each request was answered in full and without a fault."""
        return Counter(call["key"] for call in self.calls() if call["status"] == 200 and not call["fault"])

    def _control(self, verb: str, body: Mapping[str, Any] | None = None) -> Any:
        data = json.dumps(body or {}).encode()
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/control/{verb}", data) as response:
            return json.load(response)


@contextmanager
def serve(rules: Sequence[str] = ("kb_pipeline_tests.endpoint:echo",), **settings: Any) -> Iterator[FakeEndpoint]:
    """A running endpoint; ``settings`` are the fields of ``Server``."""
    told = json.dumps({"rules": list(rules), **settings}, default=str)
    command = [sys.executable, "-m", "kb_pipeline_tests.endpoint", told]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        try:
            yield FakeEndpoint(int(process.stdout.readline()))
        finally:
            process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(2)
            process.kill()


if __name__ == "__main__":
    main()
