"""Where documents come from: one file a source type, one row of ``KINDS`` each, and the user's plugins beside them.

Knows connectors; knows neither manifests nor what becomes of a document.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from kb_pipeline.records import Source
from kb_pipeline.settings import SOURCES, Settings
from kb_pipeline.sources import local, web
from kb_pipeline.sources.kind import Allowed, Kind
from kb_pipeline.sources.plugins import plugins
from kb_pipeline.sources.scan import listed_once
from kb_pipeline.yaml_lines import near

__all__ = ["KINDS", "Kind", "check_types", "kinds", "listed_once"]

KINDS: dict[str, Kind] = {"local": local.KIND, "web": web.KIND}


def kinds(settings: Settings) -> dict[str, Kind]:
    """Every source type by name: the built-in ones and the plugins of ``kb/plugins``."""
    return {name: kind for name, _, kind in plugins(settings)} | KINDS


def check_types(settings: Settings) -> list[str]:
    """Mistakes that only the connectors know: unknown types, options and addresses, as ``file:line: what. cure``."""
    table = kinds(settings)
    mistakes = _clashes(settings)
    for source in settings.sources:
        kind = table.get(source.type)
        for key, sentence in _mistakes(source, kind, table):
            line = settings.lines.get(f"{source.id}{key}") or settings.lines.get(source.id, 1)
            mistakes.append(f"{SOURCES}:{line}: source {source.id!r}: {sentence}")
    return mistakes


def _home(kind_type: str) -> str:
    return f"kb/plugins/{kind_type}.py"


def _clashes(settings: Settings) -> list[str]:
    taken = dict.fromkeys(KINDS, "a built-in type")
    mistakes = []
    for name, path, _ in plugins(settings):
        if name in taken:
            mistakes.append(f"kb/plugins/{path.name}: TYPE {name!r} is taken by {taken[name]}. Rename it.")
        taken.setdefault(name, f"kb/plugins/{path.name}")
    return mistakes


def _mistakes(source: Source, kind: Kind | None, table: Mapping[str, Kind]) -> Iterator[tuple[str, str]]:
    """``(key, sentence)``, the key as the end of a name in ``Settings.lines``."""
    if kind is None:
        if source.type:
            cure = f"{near(source.type, table)}Known types: {', '.join(sorted(table))}. "
            yield ".type", f"unknown type {source.type!r}. {cure}To add one, put {_home(source.type)} there."
        return
    for name, value in source.options.items():
        sentence = None if kind.options is None else _option(name, value, kind.options)
        if sentence:
            yield f".options.{name}", sentence
    for sentence in kind.check(source):
        yield ".uri", sentence


def _option(name: str, value: Any, options: Mapping[str, Allowed]) -> str | None:
    if name not in options:
        return f"unknown option {name!r}. {near(name, options)}Known options: {', '.join(options) or 'none'}."
    if not _fits(value, options[name]):
        return f"option {name!r} must be {_wanted(options[name])}, not {value!r}. Correct it."
    return None


_WANTED = {bool: "true or false", int: "a whole number of 1 or more", str: "text", list: "a list", dict: "a mapping"}


def _fits(value: Any, allowed: Allowed) -> bool:
    if isinstance(allowed, tuple):
        return value in allowed
    if allowed is int:
        return type(value) is int and value >= 1
    return isinstance(value, allowed)


def _wanted(allowed: Allowed) -> str:
    if isinstance(allowed, tuple):
        return "one of " + ", ".join(allowed)
    return _WANTED.get(allowed, allowed.__name__)
