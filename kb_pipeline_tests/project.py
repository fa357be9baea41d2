"""The project as files: what is tracked, what is declared. Imports nothing of the package."""

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BINARY = {".pdf", ".docx", ".png", ".onnx", ".bin"}


def tracked(*patterns: str) -> list[Path]:
    """The tracked files that match a git pathspec."""
    command = ["git", "ls-files", "--deduplicate", "--", *patterns]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def name(path: Path) -> str:
    """A path as the reader of a failure wants it."""
    return path.relative_to(ROOT).as_posix()


def lines_holding(pattern: re.Pattern[str], paths: list[Path]) -> list[str]:
    """``path:line: text`` of every match in the text files among ``paths``."""
    return [
        f"{name(path)}:{number}: {line.strip()[:100]}"
        for path in paths
        if path.suffix not in BINARY
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line)
    ]


def pyproject() -> dict[str, Any]:
    """``pyproject.toml``, parsed."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def distribution(requirement: str) -> str:
    """A requirement's name as indexes compare it: ``PyYAML>=6`` is ``pyyaml``."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\[<>=!~; ]", requirement)[0]).lower()


def dependencies(*extras: str) -> set[str]:
    """Names of the dependencies, and of those that ``extras`` add."""
    project = pyproject()["project"]
    added = [requirement for extra in extras for requirement in project["optional-dependencies"][extra]]
    return {distribution(requirement) for requirement in [*project["dependencies"], *added]}
