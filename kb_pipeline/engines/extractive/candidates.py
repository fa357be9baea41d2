"""Every sentence, list item and table row of a chunk that may be an item. Owns where it stands and what stands over it.

Refuses to judge whether it is knowledge.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from kb_pipeline.engines.extractive.blocks import Block, read
from kb_pipeline.engines.extractive.markup import plain
from kb_pipeline.engines.extractive.sentences import split
from kb_pipeline.records import Chunk
from kb_pipeline.rules.words import FUNCTION_WORDS, words

# Labels before a sentence that are no part of it: sections of an abstract, notes, steps.
_SECTION = (
    "BACKGROUND|OBJECTIVES?|AIMS?|PURPOSE|METHODS?|METHODOLOGY|MATERIALS? AND METHODS|DESIGN|SETTING|PARTICIPANTS|"
    "PATIENTS|RESULTS?|FINDINGS|CONCLUSIONS?|INTERPRETATION|SIGNIFICANCE|CONTEXT|RATIONALE|DISCUSSION|INTRODUCTION|"
    "MEASUREMENTS?|INTERVENTIONS?|FUNDING|DATA SOURCES?|STUDY SELECTION|DATA EXTRACTION|DATA SYNTHESIS|MAIN OUTCOME "
    "MEASURES?|HYPOTHESIS"
)
_SECTIONS = rf"(?:{_SECTION})(?:(?:/|,? AND | & |, )(?:PRINCIPAL |MAIN )?(?:{_SECTION}))*"
_LABEL = re.compile(
    rf"(?:\\n\s*)*(?:{_SECTIONS}(?:\s*[:.—–-]\s*|\s+(?=[A-Z][a-z]|[A-Z]\s))"
    rf"|(?i:{_SECTIONS})\s*(?::|—)\s*(?=\w)"
    r"|[*_]{0,2}(?i:notes?|tip|warning|important|caution|danger|info|hint)[*_]{0,2}\s?:[*_]{0,2}\s+"
    r"|(?:[Ss]tep\s+)?\(?\d{1,2}[.):]\s+(?=\S)|\([a-z]\)\s+(?=[A-Z]))"
)
_REPLY = re.compile(r"(?i:yes|no|yeah|yep|nope|ok(?:ay)?|right|well|so|and|but|confirmed|agreed|exactly|hm+),\s+")
_TERM = re.compile(
    r"(?P<term>[*_]{0,3}(?:`[^`]+`|\[[^\]]+\](?:\([^()]*\)|\[[^\]]*\])?|[^\W_][\w./()+#-]*(?: "
    r"[\w./()+#-]+){0,4}?)[*_]{0,3}(?:,? ?\([^()]*\)|, ?`[^`]+`)?[*_]{0,3})(?:\s+(?:[-–—]{1,2}|=>|→)|"
    r"\s?[:–—][*_]{0,3})\s+(?=\S)"
)
_CODED = re.compile(r"(?P<term>(?!For |Example)[A-Z][^:.`]{2,60}): `[^`]+`\.?")
_RELEASE = re.compile(r"(?:version |release )?[\[(]?v?\d+\.\d+(?:\.\w+)*\b|\bunreleased\b", re.IGNORECASE)
_SHELL = re.compile(
    r"\s*(?:\$|%|>|PS>|#)?\s*(?:sudo |[A-Z_]+=\S+ )*(?:pip3?|pipx|python3?|uv|uvx|npm|npx|yarn|pnpm|node|git|docker|"
    r"kubectl|helm|curl|wget|apt(?:-get)?|brew|conda|make|cargo|go|cd|ls|mkdir|rm|cp|mv|cat|echo|export|source|ssh|"
    r"scp|bash|sh|systemctl|gunicorn|uvicorn|hypercorn|daphne|pytest|poetry|hatch|tox|nox|ruff|mypy|mkdocs|"
    r"scripts/\S+|\./\S+|vllm|terraform|ansible)\b"
)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_STOP = re.compile(r"[.!?。！？؟۔｡…][\"'”’»)\]」』*_`]*$")
_FOREIGN = words(
    "der die das und ist nicht ein eine mit auf für von den dem le la les des est une dans pour qui que el los las y "
    "es por para con il che di una per non della sono os um uma não het een niet zijn van och att som är"
)
_MOST_COMMAND_LINES = 6


@dataclass(frozen=True)
class Candidate:
    """One sentence of a chunk: ``raw`` is ``chunk.text[start:end]`` with line markers blanked, ``text`` it in plain.

    ``lead`` is the sentence that introduces its list, ``term`` what its list item describes, ``command`` the shell
    lines right below it, ``previous`` the candidate before it in the same section.
    """

    start: int
    end: int
    raw: str
    text: str
    block: Block
    opens: bool
    heading: str
    lead: str = ""
    term: str = ""
    command: str = ""
    previous: str = ""
    introduces: bool = False

    @cached_property
    def release(self) -> bool:
        """Whether it stands under the heading of a release, which it needs: ``0.15.0 > Fixed``."""
        return any(_RELEASE.match(heading) for heading in self.heading.split(" > "))

    @cached_property
    def stops(self) -> bool:
        """Whether it ends like a sentence."""
        return _STOP.search(self.text) is not None

    @cached_property
    def foreign(self) -> bool:
        """Whether its verbs cannot be judged: another script, or another language in Latin letters."""
        letters = sum(map(str.isalpha, self.text))
        latin = re.findall(r"[a-zà-ÿ]+", self.text.lower())
        other = sum(w in _FOREIGN for w in latin)
        return sum(map(len, latin)) * 2 < letters or (other > 1 and other > sum(w in FUNCTION_WORDS for w in latin))

    @cached_property
    def length(self) -> int:
        """Words; two CJK characters count as one."""
        return len(_CJK.findall(self.text)) // 2 + len(_CJK.sub(" ", self.text).split())


def candidates(chunk: Chunk) -> list[Candidate]:
    """The candidates of ``chunk`` in order; with structure (headings, fences, rules) they hold all its text."""
    found: list[Candidate] = []
    path = [h for h in (plain(heading) for heading in chunk.heading) if h]
    heading, previous = " > ".join(dict.fromkeys(path)), ""
    leads: list[tuple[int, str]] = []
    for block in read(chunk):
        if block.kind == "heading":
            leads, previous = [], ""
            heading = heading or plain(block.masked.strip("# \t"))
        elif block.kind == "fence":
            _note_what_follows(found, block)
        else:
            leads = [(indent, lead) for indent, lead in leads if block.kind == "bullet" and indent < block.indent]
            for c in _sentences(block, heading, leads[-1][1] if leads else ""):
                found.append(replace(c, previous=previous))
                previous = c.text
            if previous.endswith(":"):
                leads.append((block.indent if block.kind == "bullet" else -1, previous.rstrip(": ")))
    return found


def _sentences(block: Block, heading: str, lead: str) -> Iterator[Candidate]:
    spans = [(0, len(block.masked.rstrip()))] if block.kind == "row" else split(block.masked)
    term = ""
    for n, (start, end) in enumerate(spans):
        start, end = _without_label(block.masked, start, end, _REPLY if block.kind == "turn" else _LABEL)
        raw = block.masked[start:end]
        text = plain(raw)
        if not any(map(str.isalnum, text)):
            continue
        if n == 0 and not raw.endswith(":") and (m := _term(block, raw)):
            term = plain(m["term"])
        at = block.start
        yield Candidate(at + start, at + end, raw, text, block, n == 0, heading, lead, term)


def _term(block: Block, raw: str) -> re.Match[str] | None:
    """What a list item describes, ``name - description``, or what a line gives the code of, ``Signature: `f(x)` ``."""
    if block.kind in ("bullet", "comment"):
        return _TERM.match(raw)
    return _CODED.fullmatch(raw) if raw.endswith(("`", "`.")) else None


def _without_label(text: str, start: int, end: int, label: re.Pattern[str]) -> tuple[int, int]:
    """The span without its label, and without brackets round the whole of it."""
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    if (m := label.match(text, start, end)) and m.end() < end:
        start = m.end()
    if text[start:end].startswith("(") and text[start:end].endswith(")") and text.count(")", start, end) == 1:
        return start + 1, end - 1
    return start, end


def _note_what_follows(found: list[Candidate], fence: Block) -> None:
    """The sentence right above a fence introduces it; where the fence holds shell commands, they are its detail."""
    if not found or not found[-1].text.endswith((":", ".")):
        return
    lines = [line.strip() for line in fence.masked.split("\n") if line.strip()]
    shell = bool(lines) and len(lines) <= _MOST_COMMAND_LINES and all(_SHELL.match(line) for line in lines)
    command = "\n".join(re.sub(r"^(?:\$|%|>|PS>)\s+", "", line) for line in lines) if shell else ""
    found[-1] = replace(found[-1], command=command, introduces=found[-1].text.endswith((":", "...", "…")))
