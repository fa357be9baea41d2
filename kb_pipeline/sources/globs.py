"""``include`` and ``exclude``: which paths of a source are taken. Pure; knows no disk."""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

_SKIPPED_NAMES = frozenset(("node_modules", "__pycache__", "Thumbs.db", "desktop.ini"))
_SKIPPED_ENDS = (".pyc", ".pyo", "~")
_SKIPPED_STARTS = (".", "~$")
_ONLY_BY_NAME = frozenset((".git", ".hg", ".svn", ".venv", ".tox", ".dagster"))


class Selection:
    """The paths that ``include`` and ``exclude`` leave, both lists of patterns as in ``.gitignore``.

    A pattern without a slash matches a name at any depth, one with a slash a path from the source's folder; ``*``
    and ``?`` stop at slashes, ``**`` does not, ``{a,b}`` is either; what matches a folder matches all below it.
    Without ``include`` everything is taken. Hidden names, ``node_modules``, ``__pycache__``, ``*.pyc`` and editors'
    leftovers are skipped unless a part of an ``include`` pattern names them, as ``.github/**`` does.
    """

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self._include_patterns = tuple(include)
        self._include = _union(include) if include else None
        self._exclude = _union(exclude) if exclude else None

    def enters(self, path: str, name: str) -> bool:
        """Whether neither ``exclude`` nor a default speaks against a file or folder; ``name`` is its own name."""
        return not self._skipped(name) and (self._exclude is None or not self._exclude.match(path))

    def includes(self, path: str) -> bool:
        """Whether ``include`` names a file, or is empty."""
        return self._include is None or self._include.match(path) is not None

    def takes(self, path: str) -> bool:
        """Whether a path is part of the source, with every folder above it."""
        names = path.split("/")
        return self.includes(path) and all(self.enters("/".join(names[: i + 1]), n) for i, n in enumerate(names))

    def _skipped(self, name: str) -> bool:
        if name.startswith(_SKIPPED_STARTS) or name.endswith(_SKIPPED_ENDS) or name in _SKIPPED_NAMES:
            parts, pattern = self._named
            return name not in parts and (name in _ONLY_BY_NAME or pattern is None or not pattern.match(name))
        return False

    @cached_property
    def _named(self) -> tuple[frozenset[str], re.Pattern[str] | None]:
        """The parts of ``include`` patterns that can only mean names skipped otherwise."""
        parts = frozenset(part for pattern in self._include_patterns for part in pattern.split("/"))
        telling = [p for p in parts if p.startswith(_SKIPPED_STARTS) or p.endswith(_SKIPPED_ENDS)]
        return parts, _union(telling) if telling else None


def _union(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(_regex(pattern) for pattern in patterns), re.DOTALL)


def _regex(pattern: str) -> str:
    pattern = pattern.removeprefix("./")
    only_folders = pattern.endswith("/")
    body = pattern.strip("/")
    anchored = "/" in pattern.rstrip("/")
    return (
        ("" if anchored else "(?:.*/)?") + f"(?:{_translate(body)})" + ("/.*" if only_folders else "(?:/.*)?") + r"\Z"
    )


def _translate(body: str) -> str:
    made, i = "", 0
    while i < len(body):
        for token, regex in _TOKENS:
            if match := token.match(body, i):
                made += regex(match)
                i = match.end()
                break
    return made


def _braces(match: re.Match[str]) -> str:
    return "(?:" + "|".join(_translate(choice) for choice in match[1].split(",")) + ")"


def _class(match: re.Match[str]) -> str:
    members = re.sub(r"[\\\[&~|]|(?<=-)-", r"\\\g<0>", match[2])  # Python may come to read more into sets than we do
    regex = f"(?!/)[{'^' if match[1] else ''}{members}]"
    try:
        re.compile(regex)
    except re.error:
        return re.escape(match[0])
    return regex


_TOKENS = (
    (re.compile(r"\\(.)", re.DOTALL), lambda m: re.escape(m[1])),
    (re.compile(r"(?<![^/])\*\*/"), lambda m: "(?:.*/)?"),
    (re.compile(r"\*\*+"), lambda m: ".*"),
    (re.compile(r"\*"), lambda m: "[^/]*"),
    (re.compile(r"\?"), lambda m: "[^/]"),
    (re.compile(r"\[([!^]?)(\]?[^\]/]+)\]"), _class),
    (re.compile(r"\{([^{}]*,[^{}]*)\}"), _braces),
    (re.compile(r".", re.DOTALL), lambda m: re.escape(m[0])),
)
