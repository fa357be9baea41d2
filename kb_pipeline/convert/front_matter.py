"""YAML or TOML front matter → plain data, within bounds. Knows no other part of a document."""

import re
import tomllib
from collections.abc import Mapping
from datetime import date, datetime
from math import isfinite
from typing import Any, NamedTuple

import yaml

_BLOCK = re.compile(r"\A(---|\+\+\+)[ \t]*\n(.*?)(?:^|\n)(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^([A-Za-z][\w -]*):(?:[ \t]+(.*))?$")
_CONTINUED = re.compile(r"^(?:[ \t]+\S|- |#|$)")
MAX_CHARACTERS = 64 * 1024
MAX_EVENTS = 5_000
MAX_DEPTH = 12
_MAX_STRING = 2_000


class FrontMatter(NamedTuple):
    """Fields by name as JSON-ready values, the text below them, and what could not be read."""

    fields: Mapping[str, Any]
    body: str
    warnings: tuple[str, ...] = ()


def split(text: str) -> FrontMatter:
    """Cut front matter off ``text`` (LF line ends) and read it.

    A block that is no mapping is not front matter and stays. One that breaks a bound (64 KiB, 5,000 YAML events, 12
    levels, any YAML alias: nested aliases inflate a few hundred bytes to gigabytes) is cut and not read.
    """
    found = _BLOCK.match(text)
    if not found:
        return FrontMatter({}, text)
    marker, block = found.group(1), found.group(2)
    body = text[found.end() :]
    refusal = _refusal(block) if marker == "---" else ""
    if refusal or len(block) > MAX_CHARACTERS:
        return FrontMatter({}, body, (f"front matter not read: {refusal or 'over 64 KiB'}",))
    try:
        fields = yaml.safe_load(block) if marker == "---" else tomllib.loads(block)
    except (yaml.YAMLError, ValueError, RecursionError):
        return _leniently(block, text, body)
    if fields is None and not block.strip():
        return FrontMatter({}, body)
    if not isinstance(fields, dict):
        return FrontMatter({}, text)
    return FrontMatter({str(k): _plain(v) for k, v in fields.items() if v is not None}, body)


def _refusal(block: str) -> str:
    if len(block) > MAX_CHARACTERS:
        return "over 64 KiB"
    depth = 0
    try:
        for count, event in enumerate(yaml.parse(block, Loader=yaml.SafeLoader)):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent):
                return "it uses YAML aliases"
            if count > MAX_EVENTS or depth > MAX_DEPTH:
                return "it is too large or too deep"
    except (yaml.YAMLError, ValueError):
        return ""
    return ""


def _leniently(block: str, text: str, body: str) -> FrontMatter:
    """Fields of a block with a slip such as an unquoted colon (``title: Part 1: start``), line by line."""
    fields: dict[str, Any] = {}
    for line in block.split("\n"):
        found = _FIELD.match(line)
        if found:
            fields[found.group(1)] = (found.group(2) or "").strip().strip("\"'")
        elif not _CONTINUED.match(line):
            return FrontMatter({}, text)
    kept = {k: v for k, v in fields.items() if v}
    return FrontMatter(kept, body, ("front matter is not valid YAML and was read line by line",))


def _plain(value: Any) -> Any:
    """``value`` as JSON can hold it: dates in ISO form, long strings cut, anything else as text."""
    match value:
        case dict():
            return {str(k): _plain(v) for k, v in value.items()}
        case list() | tuple() | set():
            return [_plain(v) for v in value]
        case bool() | int() | None:
            return value
        case float() if isfinite(value):
            return value
        case datetime() | date():
            return value.isoformat()
        case _:
            return str(value)[:_MAX_STRING]


def names(value: Any) -> tuple[str, ...]:
    """People in a front matter value: a string, a list, or mappings with a ``name``."""
    if isinstance(value, Mapping):
        value = value.get("name", "")
    if isinstance(value, str):
        return tuple(n for n in (part.strip() for part in re.split(r",|;| and ", value)) if n)
    return tuple(n for v in value for n in names(v)) if isinstance(value, list) else ()


def iso_date(value: Any) -> str | None:
    """``YYYY-MM-DD`` of a value that begins with a valid date in that form (``/`` and ``.`` allowed), else ``None``."""
    found = re.match(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)", str(value or "").strip())
    try:
        return date(*map(int, found.groups())).isoformat() if found else None
    except ValueError:
        return None
