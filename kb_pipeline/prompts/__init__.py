"""Every word said to a model: one ``.md`` a prompt, versioned by its hash. Knows no engine and sends nothing.

A prompt has two parts, apart by a line ``=== user ===``: the static one (role, rules, shape of the reply), first so
that a provider's prompt cache holds it, and the one that changes with each question. What stands in the second is data
from documents: ``render`` fences every value of it.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template

from kb_pipeline.rules.ids import digest

__all__ = ["Prompt", "Rendered", "names", "prompt", "render"]

_FOLDER = Path(__file__).parent
_PARTS = "\n=== user ===\n"
_MARK = 16  # hex digits of a fence's mark


@dataclass(frozen=True)
class Prompt:
    """One prompt. ``version`` is the hash of the whole file: any edit of it makes another prompt."""

    name: str
    system: str
    user: str
    version: str


@dataclass(frozen=True)
class Rendered:
    """A prompt with its values in place."""

    system: str
    user: str
    version: str


def names() -> list[str]:
    """The names of all prompts, sorted."""
    return sorted(path.stem for path in _FOLDER.glob("*.md"))


@cache
def prompt(name: str) -> Prompt:
    """The prompt of that name. Raises ``KeyError`` where there is none."""
    path = _FOLDER / f"{name}.md"
    if not path.is_file():
        raise KeyError(name)
    text = path.read_text(encoding="utf-8")
    system, _, user = text.partition(_PARTS)
    return Prompt(name, system.strip(), user.strip(), digest(text)[:12])


def render(name: str, **values: str) -> Rendered:
    """``name`` with each ``$value`` in its place; those of the second part are fenced.

    The mark of the fences is a hash of what they hold, so the prompt is reproducible, and no value can hold its own
    mark. Raises ``ValueError`` for a value that is missing or that the prompt has no place for.
    """
    found = prompt(name)
    static, changing = Template(found.system), Template(found.user)
    wanted = {*static.get_identifiers(), *changing.get_identifiers()}
    if wanted != values.keys():
        raise ValueError(f"prompt {name!r} wants {sorted(wanted)}, not {sorted(values)}")
    data = {key: values[key] for key in changing.get_identifiers()}
    mark = _mark(*data.values())
    fenced = {key: f"<<<{mark}\n{value}\n{mark}>>>" for key, value in data.items()}
    return Rendered(static.substitute(values), changing.substitute(fenced), found.version)


def _mark(*values: str) -> str:
    mark = digest(*values)[:_MARK]
    while any(mark in value for value in values):
        mark = digest(mark, *values)[:_MARK]
    return mark
