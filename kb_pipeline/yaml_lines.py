"""YAML as plain data that remembers where each value stands, and records checked against it line by line.

Knows nothing of what a file should hold.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from kb_pipeline.records import Record

Where = tuple[str | int, ...]
R = TypeVar("R", bound=Record)

_MERGE = "tag:yaml.org,2002:merge"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's parser is ten times as fast, where it is built in
_PLAIN = {
    "a valid tuple": "a list",
    "a valid dictionary": "a mapping",
    "a valid string": "text",
    "a valid integer": "a whole number",
    "a valid number": "a number",
    "a valid boolean": "true or false",
    "at least 1 character": "text that is not empty",
}
_MAX_BYTES = 4 * 1024 * 1024
_MAX_VALUES = 200_000


@dataclass
class Located:
    """Plain data, the line (from 1) of every key and list entry, and what was wrong with the YAML itself.

    ``mistakes`` are ``(line, sentence)``. ``name`` is what messages call the file.
    """

    name: str
    data: Any = None
    lines: dict[Where, int] = field(default_factory=dict)
    mistakes: list[tuple[int, str]] = field(default_factory=list)

    def line(self, where: Where) -> int:
        """The line of ``where``, or of the nearest value around it."""
        while where and where not in self.lines:
            where = where[:-1]
        return self.lines.get(where, 1)

    def report(self, where: Where, sentence: str) -> None:
        """Note a mistake: ``sentence`` says what is wrong with the value at ``where``, then the cure."""
        self.mistakes.append((self.line(where), sentence))

    def record(self, model: type[R], value: Any, where: Where, label: str, blank: Mapping[str, Any]) -> R | None:
        """``value`` as a ``model``, nothing coerced but lists to tuples, once its mistakes are reported.

        A field that is wrong has its value of ``blank``, or else its default, so that the others can be checked
        further. ``None`` where ``value`` is no mapping at all.
        """
        if not isinstance(value, Mapping):
            what = f"must be a mapping of keys to values, not {_kind(value)}. Write it as lines of key: value"
            self.report(where, label + what)
            return None
        values = {key: _tuples(part) for key, part in value.items()}
        try:
            return model.model_validate(values, strict=True)
        except ValidationError as error:
            details = error.errors(include_url=False)
        for detail in details:
            self.report((*where, *detail["loc"]), label + explain(detail, model.model_fields))
        wrong = {detail["loc"][0] for detail in details}
        rest = {key: part for key, part in values.items() if key not in wrong}
        return cast("R", model.model_construct(**{**blank, **rest}))

    def rendered(self) -> list[str]:
        """The mistakes as ``file:line: what. cure``, in the order of the file."""
        return [f"{self.name}:{line}: {sentence}" for line, sentence in sorted(set(self.mistakes))]


def read(path: Path) -> Located:
    """The YAML file at ``path``. Raises ``OSError`` where it cannot be read; all else is in ``mistakes``."""
    located = Located(path.name)
    with path.open("rb") as file:
        data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        located.mistakes.append((1, f"the file is larger than {_MAX_BYTES >> 20} MB. Make it smaller."))
        return located
    try:
        node = yaml.compose(data.decode("utf-8-sig"), Loader=_LOADER)
        located.data = None if node is None else _Builder(located).build(node, ())
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        located.mistakes.append((line, "the file is not UTF-8. Save it as UTF-8."))
    except yaml.YAMLError as error:
        located.mistakes.append(_syntax(error))
    except _TooMuch as error:
        located.mistakes.append((error.line, str(error)))
    return located


def near(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """``Did you mean 'x'? `` for a word that is nearly one of ``known``, else nothing."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=cutoff)
    return f"Did you mean {close[0]!r}? " if close else ""


def explain(detail: ErrorDetails, fields: Iterable[str] = ()) -> str:
    """One pydantic error as a sentence and its cure; ``fields`` are the keys that would have been right."""
    key, value = _path(detail["loc"]), detail["input"]
    if detail["type"] == "extra_forbidden":
        return f"unknown key {key!r}. {near(key, fields)}Known keys: {', '.join(fields)}."
    if detail["type"] == "missing":
        return f"{key!r} is missing. Add a line {key}: …"
    if value is None:
        return f"{key!r} has no value. Give it one, or remove the line."
    if detail["type"] == "string_type" and isinstance(value, bool | int | float):
        return f"{key!r} must be text, not {_kind(value)}. Put it in quotes."
    return f"{key!r} must be {expected(detail)}, not {_kind(value)}. Correct it."


def expected(detail: ErrorDetails) -> str:
    """What a pydantic error says would have been right: ``a whole number``."""
    wanted = detail["msg"].removeprefix("Input should be ").removeprefix("String should have ").split(", ")[0]
    return _PLAIN.get(wanted, wanted)


def _path(loc: tuple[str | int, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).removeprefix(".")


def _kind(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "nothing"
    return repr(value)


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


class _TooMuch(Exception):
    def __init__(self, line: int, what: str) -> None:
        self.line = line
        super().__init__(what)


def _syntax(error: yaml.YAMLError) -> tuple[int, str]:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    context = getattr(error, "context", None)
    cure = "Correct the YAML there; see that lists and keys are indented alike."
    if context and "alias" in context:
        cure = 'Put a value that begins with * or & in quotes, as in "0 3 * * *".'
    elif "mapping values" in problem:
        cure = "Put a value that holds a colon in quotes."
    elif "cannot start any token" in problem:
        cure = "Indent with spaces, not tabs, and put a value that begins with @, % or ` in quotes."
    elif "control characters" in problem:
        cure = "Remove the control characters."
    return (mark.line + 1 if mark else 1), f"not valid YAML: {problem}. {cure}"


class _Builder:
    """Nodes to data. Aliases are followed, but neither into themselves nor without bound."""

    def __init__(self, located: Located) -> None:
        self._located = located
        self._scalars = yaml.constructor.SafeConstructor()
        self._open: set[int] = set()
        self._values = 0

    def build(self, node: yaml.Node, where: Where) -> Any:
        line = node.start_mark.line + 1
        self._values += 1
        if self._values > _MAX_VALUES:
            raise _TooMuch(line, f"aliases expand to more than {_MAX_VALUES:,} values. Write them out, or fewer.")
        self._located.lines.setdefault(where, line)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, line)
        if id(node) in self._open:
            raise _TooMuch(line, "an alias stands inside the value that it names. Write the value out.")
        self._open.add(id(node))
        try:
            if isinstance(node, yaml.MappingNode):
                return self._mapping(node, where)
            return [self.build(child, (*where, i)) for i, child in enumerate(node.value)]
        finally:
            self._open.discard(id(node))

    def _scalar(self, node: yaml.ScalarNode, line: int) -> Any:
        try:
            return self._scalars.construct_object(node)
        except (yaml.YAMLError, ValueError) as error:
            problem = getattr(error, "problem", None) or str(error)
            self._located.mistakes.append((line, f"{node.value!r} cannot be read: {problem}. Put it in quotes."))
            return None

    def _mapping(self, node: yaml.MappingNode, where: Where) -> dict[str, Any]:
        built: dict[str, Any] = {}
        first: dict[str, int] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
            if key_node.tag == _MERGE:
                continue
            if key is None:
                self._located.mistakes.append((line, "a key must be a plain word. Put it in quotes."))
            elif key in first:
                sentence = f"the key {key!r} stands twice, first in line {first[key]}. Keep one of them."
                self._located.mistakes.append((line, sentence))
            else:
                first[key] = self._located.lines[(*where, key)] = line
                built[key] = self.build(value_node, (*where, key))
        for merged in self._merged(node, where):
            built = merged | built
        return built

    def _merged(self, node: yaml.MappingNode, where: Where) -> Iterator[dict[str, Any]]:
        """What ``<<: *anchor`` adds; keys written out win."""
        for key_node, value_node in node.value:
            if key_node.tag != _MERGE:
                continue
            for part in value_node.value if isinstance(value_node, yaml.SequenceNode) else [value_node]:
                if isinstance(part, yaml.MappingNode):
                    yield self.build(part, where)
                else:
                    line = key_node.start_mark.line + 1
                    self._located.mistakes.append((line, "<< must name a mapping. Point it at one, as <<: *anchor."))
