"""A page as a person edits it, and the file that comes of it. Pure.

A person edits sentences, headings and a few fields. Footnotes are the machine's and are not shown, and neither are
lines that he may not see: both are put back where they stood.
"""

import json
import re
from collections.abc import Collection, Sequence

from kb_pipeline.records import PageWords
from kb_pipeline.rules.pages.merging import front_of, is_reviewed, split

_FOOT = re.compile(r"^\[\^(?:kb_[0-9a-f]+|by-hand)\]:")
_FENCE = "---"


def words_in(text: str, hidden: Collection[str] = ()) -> PageWords:
    """What of a page's file a person may edit; ``hidden`` are lines that he may not see."""
    front = front_of(text)
    return PageWords(
        body=_shown(split(text)[1], hidden),
        reviewed=is_reviewed(text),
        summary=str(front.get("summary") or ""),
        aliases=_names(front.get("aliases")),
        tags=_names(front.get("tags")),
    )


def with_words(text: str, words: PageWords, hidden: Collection[str] = ()) -> str:
    """The file of a page with what a person made of it; as it was, to the byte, where that says the same."""
    before = words_in(text, hidden)
    if words == before:
        return text
    front, body = split(text)
    body = body if words.body == before.body else _whole(body, words.body, hidden)
    for name in ("reviewed", "summary", "aliases", "tags"):
        if getattr(words, name) != getattr(before, name):
            front = _with_field(front, name, getattr(words, name))
    return "\n".join([_FENCE, *front, _FENCE, "", body]) if front else body


def tidy(body: str) -> str:
    """Text as a form sends it, as a file has it."""
    return body.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").strip("\n")


def _names(found: object) -> tuple[str, ...]:
    return tuple(map(str, found)) if isinstance(found, list) else ()


def _shown(body: str, hidden: Collection[str]) -> str:
    return tidy("\n".join(line for line in body.split("\n") if not _FOOT.match(line) and line not in hidden))


def _whole(body: str, edited: str, hidden: Collection[str]) -> str:
    """``edited`` with the footnotes of ``body`` behind it, and each hidden line behind the one that it followed; where
    that is gone, at the end."""
    old, lines = body.split("\n"), edited.split("\n")
    feet = [line for line in old if _FOOT.match(line)]
    behind = ""
    for line in old:
        if line in hidden:
            at = lines.index(behind) + 1 if behind in lines else len(lines)
            lines[at:at] = ["", line] if line.startswith("#") or behind.startswith("#") else [line]
        behind = line if line.strip() else behind
    return "\n".join([*lines, *(["", *feet] if feet else []), ""])


def _with_field(front: Sequence[str], name: str, value: bool | str | tuple[str, ...]) -> list[str]:
    """The lines of the front matter with a field set, or without it where a person marks nothing."""
    line = f"{name}: {json.dumps(value, ensure_ascii=False)}"
    places = [n for n, found in enumerate(front) if found.startswith(f"{name}:")]
    others = [found for n, found in enumerate(front) if n not in places]
    if value is False:
        return others
    others.insert(places[0] if places else len(others), line)
    return others
