"""What a decision does to the file of a page: whose words stand where a person and the machine wrote the same. Pure.

That a person's words stand is noted in the page's own front matter (``kept``), so it travels with the page.
"""

import json
from collections.abc import Collection

from kb_pipeline.records import Clash
from kb_pipeline.rules import ids
from kb_pipeline.rules.pages.markdown import plain
from kb_pipeline.rules.pages.merging import BY_HAND, front_of, unmarked

_FENCE = "---\n"


def name_of(what: Clash | str) -> str:
    """8 hex digits of a clash, or of a line or a rendering."""
    return ids.digest(what if isinstance(what, str) else what.model_dump_json())[:8]


def kept(text: str) -> frozenset[str]:
    """What a person has decided to keep on a page, by ``name_of``."""
    found = front_of(text).get("kept")
    return frozenset(map(str, found)) if isinstance(found, list) else frozenset()


def keeping(text: str, name: str) -> str:
    """The page with one more thing that a person keeps."""
    names = json.dumps(sorted({*kept(text), name}))
    lines = [line for line in text.split("\n") if not line.startswith("kept:")]
    lines.insert(lines.index("---", 1), f"kept: {names}")
    return "\n".join(lines)


def taking(text: str, clash: Clash) -> str:
    """The page with the machine's lines in place of the person's."""
    theirs = set(map(unmarked, clash.person))
    lines: list[str] = []
    put = False
    for line in text.split("\n"):
        if line.strip() and unmarked(line) in theirs:
            lines += clash.machine if not put else ()
            put = True
        else:
            lines.append(line)
    return "\n".join(lines)


def accepting(proposal: str) -> str:
    """The page that the machine proposed, reviewed as the one that it replaces."""
    return proposal.replace(_FENCE, f"{_FENCE}reviewed: true\n", 1)


def less(text: str, lines: Collection[str]) -> str:
    """The page without these lines."""
    return "\n".join(found for found in text.split("\n") if found not in lines) if lines else text


def said(line: str) -> str:
    """A sentence of a page as a plain statement."""
    return plain(unmarked(line).replace(BY_HAND, "").lstrip("-* ")).strip()
