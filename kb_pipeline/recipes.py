"""How a stage makes things, as one hash: its code, prompt, engine, libraries and settings. Decides nothing."""

import ast
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGE = "kb_pipeline"
_ROOT = Path(__file__).resolve().parent
# What travels through everything without changing what a stage makes.
_NEUTRAL = frozenset({"kb_pipeline.errors", "kb_pipeline.settings", "kb_pipeline.world", "kb_pipeline"})


def recipe(modules: Iterable[str], libraries: Sequence[str], facts: Mapping[str, Any]) -> str:
    """The hash of ``modules`` (as syntax trees, with what they import within the package), versions and ``facts``."""
    parts = [f"{name} {_tree(name)[0]}" for name in sorted(_closure(modules))]
    parts += [f"{name}=={_version(name)}" for name in sorted(libraries)]
    parts.append(json.dumps(dict(facts), sort_keys=True, default=str))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def _closure(modules: Iterable[str]) -> set[str]:
    found: set[str] = set()
    pending = list(modules)
    while pending:
        name = pending.pop()
        if name not in found and name not in _NEUTRAL:
            found.add(name)
            pending += _tree(name)[1]
    return found


@cache
def _tree(name: str) -> tuple[str, tuple[str, ...]]:
    """The hash of one module's syntax tree without docstrings, and the modules of the package that it imports."""
    tree = ast.parse(_path(name).read_bytes())
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
            imported |= {_module(f"{node.module}.{alias.name}") or str(node.module) for alias in node.names}
        elif isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names if alias.name.split(".")[0] == PACKAGE}
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            _drop_docstring(node)
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), tuple(sorted(imported))


def _drop_docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        node.body = node.body[1:] or [ast.Pass()]


def _path(name: str) -> Path:
    relative = Path(*name.split(".")[1:])
    package = _ROOT / relative / "__init__.py"
    return package if package.is_file() else (_ROOT / relative).with_suffix(".py")


def _module(name: str) -> str | None:
    return name if _path(name).is_file() else None


@cache
def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "absent"
