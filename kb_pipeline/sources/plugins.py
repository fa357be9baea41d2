"""Source types of the user's own: every ``kb/plugins/*.py`` with a ``TYPE`` and a ``fetch``.

A plugin that is broken breaks the sources of its type alone. Plugins are code and run with the user's rights.
"""

import functools
import importlib.machinery
import importlib.util
import re
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType

from kb_pipeline.errors import KbError, SourceUnavailable
from kb_pipeline.records import Fetched, RawEntry, Source
from kb_pipeline.settings import Settings
from kb_pipeline.sources.kind import Kind
from kb_pipeline.sources.paths import unsafe
from kb_pipeline.world import World

_TYPE = re.compile(r"""^TYPE\s*(?::[^=\n]+)?=\s*["']([^"'\n]+)["']""", re.MULTILINE)
_CURE = "Correct the plugin; other sources are not affected."


def plugins(settings: Settings) -> list[tuple[str, Path, Kind]]:
    """``(type, file, kind)`` of each plugin, by file name. A broken one has a kind that raises why."""
    found = []
    for path in sorted((settings.kb / "plugins").glob("*.py")):
        if path.name.startswith("_"):
            continue
        name = f"kb/plugins/{path.name}"
        try:
            state = path.stat()
            kind_type, kind = _load(path, name, (state.st_mtime_ns, state.st_size))
        except SourceUnavailable as error:
            kind_type, kind = _declared(path), _broken(error)
        except OSError as error:
            problem = SourceUnavailable(f"cannot be read: {error.strerror}.", where=name, cure=_CURE)
            kind_type, kind = path.stem, _broken(problem)
        found.append((kind_type, path, kind))
    return found


@functools.lru_cache(maxsize=64)
def _load(path: Path, name: str, stamp: tuple[int, int]) -> tuple[str, Kind]:
    """The plugin at ``path``, imported anew whenever its ``stamp`` (time of change, size) moved."""
    module = _imported(path, name)
    kind_type, fetch = getattr(module, "TYPE", None), getattr(module, "fetch", None)
    if not isinstance(kind_type, str) or not kind_type:
        raise SourceUnavailable("has no TYPE.", where=name, cure='Add a line TYPE = "name" to it.')
    if not callable(fetch):
        raise SourceUnavailable("has no fetch.", where=name, cure="Add a function fetch(source, known, world) to it.")
    fingerprint = getattr(module, "fingerprint", None)
    options = getattr(module, "OPTIONS", None)
    if options is not None and not isinstance(options, Mapping):
        options = dict.fromkeys(options, object)

    def guarded(source: Source, known: Mapping[str, RawEntry], world: World) -> Iterator[Fetched]:
        try:
            yield from _checked(fetch(source, known, world), name)
        except KbError:
            raise
        except Exception as error:
            raise _failure(error, path, name) from error

    def guarded_fingerprint(source: Source, settings: Settings) -> str | None:
        if fingerprint is None:
            return None
        try:
            state = fingerprint(source, settings)
        except KbError:
            raise
        except Exception as error:
            raise _failure(error, path, name) from error
        return None if state is None else str(state)

    return kind_type, Kind(guarded, guarded_fingerprint, remote=fingerprint is None, options=options)


def _checked(listing: Iterable[object], name: str) -> Iterator[Fetched]:
    """The lines of a listing that can be trusted: whole, each under a safe path of its own."""
    seen: set[str] = set()
    for line in listing:
        if not isinstance(line, Fetched):
            raise SourceUnavailable(f"gave {line!r}, which is no Fetched.", where=name, cure=_CURE)
        problem = unsafe(line.path) or ("came before" if line.path in seen else None)
        if line.state == "changed" and line.content is None:
            problem = "is changed but has no content"
        if problem:
            raise SourceUnavailable(f"gave the path {line.path!r}, which {problem}.", where=name, cure=_CURE)
        seen.add(line.path)
        yield line


class _Loader(importlib.machinery.SourceFileLoader):
    """Writes no bytecode: a build that changes nothing leaves no new file under ``kb/``."""

    def set_data(self, path: str, data: object, **_: object) -> None:
        """Keep nothing."""


def _imported(path: Path, name: str) -> ModuleType:
    module_name = f"kb_plugins_{path.stem}"
    spec = importlib.util.spec_from_loader(module_name, _Loader(module_name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # dataclasses look themselves up there
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[module_name]
        raise _failure(error, path, name) from error
    return module


def _failure(error: BaseException, path: Path, name: str) -> SourceUnavailable:
    """``error`` with the plugin's file and the line in it that failed."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    line = error.lineno if isinstance(error, SyntaxError) and error.filename == str(path) else None
    number = line or (lines[-1] if lines else None)
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    where = f"{name}:{number}" if number else name
    return SourceUnavailable(f"{type(error).__name__}: {said}".rstrip(": ") + ".", where=where, cure=_CURE)


def _declared(path: Path) -> str:
    """The type that a plugin which cannot be imported says it has, or else its file's name."""
    declared = _TYPE.search(path.read_text(encoding="utf-8", errors="replace"))
    return declared[1] if declared else path.stem


def _broken(error: SourceUnavailable) -> Kind:
    def fetch(source: Source, known: Mapping[str, RawEntry], world: World) -> Iterator[Fetched]:
        raise error

    def fingerprint(source: Source, settings: Settings) -> str:
        raise error

    return Kind(fetch, fingerprint, remote=False, options=None)
