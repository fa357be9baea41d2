"""How a reply of a given shape is asked for, from the strictest way an endpoint may know to none at all, and how it is
read. Sends nothing, and remembers nothing.

The rungs: ``json_schema`` (the server can give nothing else), ``tool`` (a forced call of one function),
``json_object`` (JSON of any shape) and ``prompt`` (the schema is in the prompt, and the reply is what it is).
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from kb_pipeline.prompts import render
from kb_pipeline.records import Record
from kb_pipeline.services.wire import Failed

R = TypeVar("R", bound=Record)
Message = Mapping[str, str]


@dataclass(frozen=True)
class Form:
    """How one endpoint wants its requests: the rung, and names of parameters it knows otherwise or not at all."""

    rung: str = "json_schema"
    max_tokens: str = "max_tokens"
    temperature: bool = True

    @property
    def below(self) -> "Form | None":
        """The same on the next rung, or None on the last one."""
        following = RUNGS[RUNGS.index(self.rung) + 1 :]
        return Form(following[0], self.max_tokens, self.temperature) if following else None

    def without(self, parameter: str) -> "Form | None":
        """The same in other words than ``parameter``, or None where these are the other words already."""
        if parameter == "temperature" and self.temperature:
            return Form(self.rung, self.max_tokens, False)
        if parameter == "max_tokens" and self.max_tokens == "max_tokens":  # reasoning models of OpenAI
            return Form(self.rung, "max_completion_tokens", self.temperature)
        return None


Outcome = Literal["ok", "cut", "refused", "invalid"]


@dataclass(frozen=True)
class Heard:
    """What a model said, and what came of it: a record of the shape, or why there is none."""

    outcome: Outcome
    text: str
    record: Record | None = None
    detail: str = ""


class Unreadable(Exception):
    """A reply that is not of the shape; the message says why, for people and for the model."""


@dataclass(frozen=True)
class Turn:
    """One question as it is sent: messages of one conversation, and the shape that must come of it."""

    model: str
    messages: Sequence[Message]
    shape: type[Record]
    max_tokens: int

    def after(self, reply: str, complaint: str) -> "Turn":
        """The same question again, after a reply and what was wrong with it."""
        more = ({"role": "assistant", "content": reply}, {"role": "user", "content": complaint})
        return replace(self, messages=(*self.messages, *more))


def request(turn: Turn, form: Form) -> dict[str, Any]:
    """The body of a chat completion."""
    body: dict[str, Any] = {"model": turn.model, "messages": list(turn.messages), form.max_tokens: turn.max_tokens}
    if form.temperature:
        body["temperature"] = 0
    return body | _RUNGS[form.rung](turn)


def _json_schema(turn: Turn) -> dict[str, Any]:
    schema = {"name": turn.shape.__name__, "schema": strict_schema(turn.shape), "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _tool(turn: Turn) -> dict[str, Any]:
    name = turn.shape.__name__
    function = {"name": name, "parameters": strict_schema(turn.shape), "strict": True}
    return {
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": name}},
    }


def _json_object(turn: Turn) -> dict[str, Any]:
    return _prompt(turn) | {"response_format": {"type": "json_object"}}


def _prompt(turn: Turn) -> dict[str, Any]:
    """The schema at the end of the first message, which is the static one: providers cache it."""
    first, *others = turn.messages
    note = render("schema", schema=json.dumps(strict_schema(turn.shape), separators=(",", ":")))
    return {"messages": [{**first, "content": f"{first['content']}\n\n{note.system}"}, *others]}


_RUNGS: Mapping[str, Callable[[Turn], dict[str, Any]]] = {
    "json_schema": _json_schema,
    "tool": _tool,
    "json_object": _json_object,
    "prompt": _prompt,
}
RUNGS = tuple(_RUNGS)


@lru_cache(maxsize=64)
def strict_schema(shape: type[Record]) -> Mapping[str, Any]:
    """The JSON schema of ``shape`` in the subset that strict servers take: every field required, no other allowed.

    Without titles, descriptions and defaults: all that is said to a model stands in a prompt.
    """
    return dict(_strict(shape.model_json_schema()))


_UNSAID = {"title", "description", "default", "examples"}


def _strict(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    strict = {name: _strict_part(name, part) for name, part in schema.items() if name not in _UNSAID}
    if "properties" in strict:
        strict |= {"required": list(strict["properties"]), "additionalProperties": False}
    return strict


def _strict_part(name: str, part: Any) -> Any:
    if name in {"properties", "$defs"}:
        return {key: _strict(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_strict(value) if isinstance(value, dict) else value for value in part]
    return _strict(part) if isinstance(part, dict) else part


def hear(body: Mapping[str, Any], shape: type[Record]) -> Heard:
    """What came of a reply: of its tool call where it made one, else of its text.

    Raises ``Failed`` (``empty``) where it says nothing.
    """
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise Failed("empty", "the reply holds no choice")
    end, refusal = choice.get("finish_reason"), _whole(str(message.get("refusal") or ""))
    text = _whole(_called(message) or _content(message))
    if refusal or end == "content_filter":
        return Heard("refused", text, detail=refusal or "a content filter stopped the reply")
    if end == "length":
        return Heard("cut", text, detail="the reply reached the token limit")
    if not text.strip():
        raise Failed("empty", "the reply is empty")
    try:
        return Heard("ok", text, read(text, shape))
    except Unreadable as error:
        return Heard("invalid", text, detail=str(error))


def _content(message: Mapping[str, Any]) -> str:
    """The text of a message; some servers give it in parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return str(content or "")


def _whole(text: str) -> str:
    """``text`` without halves of characters, which JSON can carry and no file can."""
    return text.encode("utf-8", "replace").decode()


def _called(message: Mapping[str, Any]) -> str:
    calls = message.get("tool_calls")
    call = calls[0] if isinstance(calls, list) and calls and isinstance(calls[0], dict) else {}
    function = call.get("function")
    arguments = function.get("arguments") if isinstance(function, dict) else None
    return json.dumps(arguments) if isinstance(arguments, dict) else str(arguments or "")


# --- reading -----------------------------------------------------------------------------------------------------

_THINKING = re.compile(r"\A\s*<think(ing)?>.*?</think(ing)?>", re.DOTALL)
_FENCE = re.compile(r"```[a-zA-Z]*\n(.*?)\n?```", re.DOTALL)
_BEGINNING = re.compile(r"\[\s*[{\]]|\{")  # a bare list too: a shape may take it
_FAULTS = 5


def read(text: str, shape: type[R]) -> R:
    """The record that ``text`` states. Raises ``Unreadable``.

    Thoughts, fences and prose around the JSON are taken off and small faults of syntax mended; a text that breaks off
    is not mended: what is missing might be a number's last digits.
    """
    try:
        return shape.model_validate_json(text)
    except ValidationError as error:
        if error.errors(include_url=False)[0]["type"] != "json_invalid":
            raise Unreadable(_faults(error)) from error
    try:
        return shape.model_validate_json(json.dumps(_mended(text)))
    except ValidationError as error:
        raise Unreadable(_faults(error)) from error


def _mended(text: str) -> Any:
    bare = _THINKING.sub("", text).strip()
    fences = _FENCE.findall(bare)
    if fences:
        bare = max(fences, key=len)
    begun = _BEGINNING.search(bare)
    if begun is None:
        raise Unreadable("the reply holds no JSON object")
    start = begun.start()
    end = _end(bare, start)
    if end is None:
        raise Unreadable("the JSON breaks off before its end")
    whole = bare[start:end]
    try:
        return json.loads(whole)
    except ValueError:
        import json_repair  # few replies need it

        return json_repair.loads(whole)


def _end(text: str, start: int) -> int | None:
    """Where the object that begins at ``start`` ends, or None where it never does."""
    depth, quoted, escaped = 0, False, False
    for at in range(start, len(text)):
        letter = text[at]
        if escaped:
            escaped = False
        elif quoted:
            escaped, quoted = letter == "\\", letter != '"'
        elif letter == '"':
            quoted = True
        elif letter in "{[":
            depth += 1
        elif letter in "}]":
            depth -= 1
            if depth == 0:
                return at + 1
    return None


def _faults(error: ValidationError) -> str:
    """The first faults, each with its place, without the values: they are in the reply."""
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    lines = [f"{'.'.join(map(str, fault['loc'])) or 'the reply'}: {fault['msg']}" for fault in faults[:_FAULTS]]
    return "; ".join(lines)
