"""Every sentence, list item and table row of a chunk that may be an item. Owns where it stands and what stands over it.

Refuses to judge whether it is knowledge.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from textwrap import dedent

from kb_pipeline.engines.extractive.announcing import announces, commands, is_bare, is_example, points_down
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
    rf"(?:\\n\s*)*(?:{_SECTIONS}(?:\s*[:.—–-]\s*|\s+(?=[A-Z][a-z]|[A-Z]\s|\(?\d))"
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
_MARK = re.compile(r"[ \t>]*(?:`{3,}|~{3,})")
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_STOP = re.compile(r"[.!?。！？؟۔｡…][\"'”’»)\]」』*_`]*$")
_FOREIGN = words(
    "der die das und ist nicht ein eine mit auf für von den dem le la les des est une dans pour qui que el los las y "
    "es por para con il che di una per non della sono os um uma não het een niet zijn van och att som är"
)
LONGEST = 1200
"""Code points of the longest candidate that can be an item."""


@dataclass(frozen=True, slots=True)
class Place:
    """What stands over a candidate: the path of headings, whether one of them names a release, the lead of its list.

    Under ``0.15.0 > Fixed`` a sentence is true of that release alone. A lead is the sentence that ends in a colon.
    """

    heading: str
    release: bool
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One sentence of a chunk: ``raw`` is the text from ``start`` with line markers blanked, ``text`` it in plain.

    ``opens`` says that it is the first of its block, ``term`` what its list item describes, ``code`` what a block of
    code right below it shows, up to whose end it reaches (else to that of ``raw``), ``previous`` the candidate before
    it in the same section. ``foreign`` says that its verbs cannot be judged: it is in another script, or in another
    language in Latin letters. ``introduces`` says that code follows, shown or too long to be.
    """

    start: int
    end: int
    raw: str
    text: str
    block: Block
    place: Place
    opens: bool
    foreign: bool
    previous: str = ""
    term: str = ""
    code: str = ""
    introduces: bool = False

    @property
    def stops(self) -> bool:
        """Whether it ends like a sentence."""
        return _STOP.search(self.text) is not None

    @property
    def length(self) -> int:
        """Words; two CJK characters count as one."""
        if self.text.isascii():
            return len(self.text.split())
        return len(_CJK.findall(self.text)) // 2 + len(_CJK.sub(" ", self.text).split())


def candidates(chunk: Chunk) -> list[Candidate]:
    """The candidates of ``chunk`` in order; with structure (headings, fences, rules) they hold all its text."""
    found: list[Candidate] = []
    path = [h for h in map(plain, chunk.heading) if h]
    place = Place(" > ".join(dict.fromkeys(path)), any(map(_RELEASE.match, path)))
    leads: list[tuple[int, str]] = []
    previous = ""
    for block in read(chunk):
        if block.kind == "heading":
            leads, previous = [], ""
            place = place if path else Place(plain(block.masked.strip("# \t")), False)
        elif block.kind == "fence":
            _show(found, block, chunk.text)
        else:
            leads = [(indent, lead) for indent, lead in leads if block.kind == "bullet" and indent < block.indent]
            for c in _sentences(block, replace(place, lead=leads[-1][1]) if leads else place, previous):
                found.append(c)
                previous = c.text
            if previous.endswith(":"):
                leads.append((block.indent if block.kind == "bullet" else -1, previous.rstrip(": ")))
    return found


def _sentences(block: Block, place: Place, previous: str) -> Iterator[Candidate]:
    spans = [(0, len(block.masked.rstrip()))] if block.kind == "row" else split(block.masked)
    label = _REPLY if block.kind == "turn" else _LABEL
    term = ""
    for n, span in enumerate(spans):
        start, end = _without_label(block.masked, *span, label)
        raw = block.masked[start:end]
        text = plain(raw) if len(raw) <= LONGEST else " ".join(raw.split())  # of no use, and slow to read
        if not any(map(str.isalnum, text)):
            continue
        if n == 0 and not raw.endswith(":") and (m := _term(block, raw)):
            term = plain(m["term"])
        yield Candidate(
            start=block.start + start,
            end=block.start + end,
            raw=raw,
            text=text,
            block=block,
            place=place,
            opens=n == 0,
            foreign=_is_foreign(text),
            previous=previous,
            term=term,
        )
        previous = text


def _is_foreign(text: str) -> bool:
    """Whether more letters than not are in another script, or words of another language outnumber English ones."""
    words_ = text.lower().split()
    if not text.isascii() and 2 * len(_LATIN.findall(text)) < sum(map(str.isalpha, text)):
        return True
    other = sum(map(_FOREIGN.__contains__, words_))
    return other > 1 and other > sum(map(FUNCTION_WORDS.__contains__, words_))


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


def _show(found: list[Candidate], fence: Block, text: str) -> None:
    """Let the sentence right above a block of code show it, if it waits for it, gives shell commands, or has said
    before what it is. Where that sentence says nothing without the code, the one before it shows it."""
    if not found or not _is_right_above(found[-1], fence, text):
        return
    code = dedent(fence.masked).strip("\n").rstrip()
    shell = commands(code)
    last = found[-1]
    if last.code:
        joined = f"{last.code}\n\n{shell or code}"
        whole = is_example(joined)  # half of what it announces would mislead
        end = fence.end if whole else last.start + len(last.raw)
        found[-1] = replace(last, code=joined if whole else "", end=end, introduces=True)
        return
    waits = points_down(last.text) or announces(last.text)
    found[-1] = replace(last, introduces=waits)
    if is_bare(last.text):
        host = found[-2] if len(found) > 1 and _is_right_above(found[-2], last, text) else None
        if host and not host.code and is_example(code):
            found[-2] = replace(host, code=shell or code, end=fence.end, introduces=True)
    elif is_example(code) and (waits or (shell and last.stops)):
        found[-1] = replace(last, code=shell or code, end=fence.end)


def _is_right_above(c: Candidate, below: Block | Candidate, text: str) -> bool:
    """Whether nothing but blank lines and the marks of fences lies between."""
    lines = text[c.end : below.start].split("\n") if c.block.kind in ("paragraph", "bullet") else ["no sentence"]
    return all(not line.strip(" \t>*_)]}") or _MARK.match(line) for line in lines)
