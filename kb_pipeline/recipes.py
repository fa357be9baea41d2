"""How a stage makes things, as one hash: its code, prompt, engine, libraries and settings. Decides nothing."""

import ast
import hashlib
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = "kb_pipeline"
_ROOT = Path(__file__).resolve().parent
# What travels through everything without changing what a stage makes.
_NEUTRAL = frozenset({"kb_pipeline.errors", "kb_pipeline.settings", "kb_pipeline.world", "kb_pipeline"})
_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"  # versions differ in how they print a tree


class Tree(NamedTuple):
    """Of one module: size and mtime (ns) of its file, the Python that parsed it, the hash of its syntax tree without
    docstrings, and the modules of the package that it imports."""

    size: int
    mtime: int
    python: str
    hash: str
    imports: Sequence[str]


_TREES: dict[str, Tree] = {}
_VERSIONS: dict[str, str] = {}


def recipe(modules: Iterable[str], libraries: Sequence[str], facts: Mapping[str, Any]) -> str:
    """The hash of ``modules`` (as syntax trees, with what they import within the package), versions and ``facts``."""
    parts = [f"{name} {_tree(name).hash}" for name in sorted(_closure(modules))]
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
            pending += _tree(name).imports
    return found


def known() -> dict[str, Tree]:
    """What this process knows of modules, by name: what spares the next one parsing a hundred files (0.3 s)."""
    return dict(_TREES)


def recall(trees: Mapping[str, Sequence[Any]]) -> None:
    """Take over what an earlier process knew, for the modules whose files have the size and mtime of then."""
    for name, values in trees.items():
        if not isinstance(values, list | tuple) or len(values) != len(Tree._fields):
            continue
        tree = Tree(*values)
        if name not in _TREES and tree.python == _PYTHON and (tree.size, tree.mtime) == _stat(name):
            _TREES[name] = tree


def outdated() -> list[str]:
    """What a new process would see otherwise than this one, which read it earlier: modules and libraries that changed.
    A server that goes on by older code would ask again and again for what its workers, by newer code, call done."""
    modules = [name for name, tree in _TREES.items() if _stat(name) != (tree.size, tree.mtime) and _differs(name, tree)]
    return modules + [name for name, seen in _VERSIONS.items() if _installed(name) != seen]


def _differs(name: str, tree: Tree) -> bool:
    path = _path(name)
    return not path.is_file() or _parse(path.read_bytes())[0] != tree.hash


def _tree(name: str) -> Tree:
    """Read once a process: its code does not change when a file does."""
    if name not in _TREES:
        _TREES[name] = Tree(*_stat(name), _PYTHON, *_parse(_path(name).read_bytes()))
    return _TREES[name]


def _stat(name: str) -> tuple[int, int]:
    try:
        status = _path(name).stat()
    except FileNotFoundError:
        return -1, -1
    return status.st_size, status.st_mtime_ns


def _parse(source: bytes) -> tuple[str, list[str]]:
    tree = ast.parse(source)
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
            imported |= {_module(f"{node.module}.{alias.name}") or str(node.module) for alias in node.names}
        elif isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names if alias.name.split(".")[0] == PACKAGE}
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            _drop_docstring(node)
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), sorted(imported)


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


def _version(distribution: str) -> str:
    """Read once a process, as code is."""
    if distribution not in _VERSIONS:
        _VERSIONS[distribution] = _installed(distribution)
    return _VERSIONS[distribution]


def _installed(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "absent"
