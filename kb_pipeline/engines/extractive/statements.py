"""From an accepted candidate to what it states. Owns context and detail; refuses to reword anything."""

import re
from dataclasses import dataclass

from kb_pipeline.engines.extractive.announcing import announces
from kb_pipeline.engines.extractive.blocks import cells
from kb_pipeline.engines.extractive.candidates import Candidate
from kb_pipeline.engines.extractive.compounds import parts
from kb_pipeline.engines.extractive.markup import plain
from kb_pipeline.engines.extractive.verbs import begins_with_verb, is_certain, is_finite, is_imperative

_CONNECTIVE = re.compile(
    r"(?:(?:however|moreover|furthermore|in addition|additionally|thus|therefore|hence|for example|for instance|as "
    r"a result|as an example|besides|in fact|in any case|alternatively|consequently|also|then|instead|finally|but|"
    r"and|so|likewise|similarly|in contrast|by contrast|conversely|in particular|importantly|notably|note that|"
    r"overall|together|nevertheless|in this case|because of this|otherwise|in conclusion|to (?:this end|do (?:this|"
    r"so)))\b,?\s*)+",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"(?:it|this|that|these|those|they|he|she|such|its|their|his|her|both(?= (?:are|is|have|were|of)\b)|the "
    r"(?:former|latter|above|following|same)|(?:each|all|some|one|none|most|both) of (?:these|those|them|which)|"
    r"doing so|the (?:first|second|third|other) one|(?:here|there)(?= (?:is|are)\b)|mine)\b(?!['’]s (?:important|"
    r"possible|worth)| (?:is|are|was|were|has been|have been) (?:no|a|an|two|three|many|several|some|important|"
    r"possible|necessary|recommended|worth)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A plain sentence, its span in the chunk, and what it needs to be understood.

    ``pronoun`` says that it begins with a word whose meaning stands elsewhere, ``elliptic`` that its subject does.
    """

    text: str
    start: int
    end: int
    raw: str
    context: str | None
    detail: str
    pronoun: bool
    elliptic: bool


def statements(c: Candidate) -> list[Statement]:
    """What ``c`` states: several where it is a compound of independent sentences, in order, spans apart."""
    unsplittable = c.foreign or c.block.kind in ("row", "comment") or c.term or c.code or c.place.lead or not c.stops
    spans = [(0, len(c.raw))] if unsplittable else parts(c.raw)
    return [_statement(c, start, end, whole=len(spans) == 1) for start, end in spans]


def without_connective(text: str) -> str:
    """``text`` without the words that tie it to what stands before: ``However,``, ``Note that``."""
    return text[m.end() :] if (m := _CONNECTIVE.match(text)) else text


def is_anaphoric(text: str) -> bool:
    """Whether ``text`` begins with a word whose meaning stands elsewhere: ``This``, ``They``, ``The former``."""
    return _PRONOUN.match(text) is not None


def _statement(c: Candidate, start: int, end: int, *, whole: bool) -> Statement:
    raw = c.raw[start:end]
    text = c.text if whole else _closed(plain(raw))
    bare = without_connective(text)
    pronoun = is_anaphoric(bare)
    elliptic = not pronoun and _is_elliptic(c, bare)
    if c.block.kind == "row":
        text = _row(c)
    elif c.block.kind == "comment" and c.block.name and c.opens:
        text = text if text.startswith(c.block.name.split("(")[0]) else f"{c.block.name}: {text}"
    elif _continues_lead(c):
        text, elliptic = f"{c.place.lead}: {text}", False
        pronoun = is_anaphoric(c.place.lead)
    detail = c.code or (c.previous if pronoun and _explains(c) else "")
    needs_heading = pronoun or elliptic or c.place.release or c.block.kind == "row"
    needs_heading = needs_heading or bool(c.code and announces(c.text))
    reaches = c.end if c.code else c.start + end
    return Statement(text, c.start + start, reaches, raw, _context(c, needs_heading), detail, pronoun, elliptic)


def _continues_lead(c: Candidate) -> bool:
    """Whether a list item is no sentence of its own but completes the one that leads its list."""
    return c.block.kind == "bullet" and bool(c.place.lead) and c.opens and not c.term and not _stands_alone(c)


def _stands_alone(c: Candidate) -> bool:
    return c.foreign or is_imperative(c.text) or begins_with_verb(c.text) or is_certain(c.text)


def _explains(c: Candidate) -> bool:
    """Whether the candidate before ``c`` is a sentence that its pronoun may point to."""
    return not c.previous.endswith((":", "?")) and not _continues_lead(c) and is_finite(c.previous)


def _context(c: Candidate, needed: bool) -> str | None:
    """Headings where the sentence cannot be understood alone; the lead of its list always, since that governs it."""
    lead = c.place.lead if c.block.kind == "bullet" and not _continues_lead(c) else ""
    parts = [c.place.heading, lead, "" if c.opens else c.block.name, "" if c.opens else c.term] if needed else [lead]
    return " > ".join(p for p in parts if p) or None


def _is_elliptic(c: Candidate, text: str) -> bool:
    if c.foreign or c.block.kind == "row":
        return False
    return bool(c.term) or (begins_with_verb(text) and not is_imperative(text))


def _row(c: Candidate) -> str:
    """``Row — Column: value; …`` of a table row, empty cells left out."""
    values = [plain(cell) for cell in cells(c.raw)]
    named = [
        f"{plain(name)}: {value}" if plain(name) else value
        for name, value in zip(c.block.header[1:], values[1:], strict=False)
        if value
    ]
    first = values[0] if values else ""
    if not first:
        return "; ".join(named)
    if not named:
        return f"{plain(c.block.header[0])}: {first}" if c.block.header[0] else first
    return f"{first} — {'; '.join(named)}"


def _closed(text: str) -> str:
    """A half as a sentence: a plain first word is capitalised, a full stop ends it."""
    first = text.split(" ", 1)[0]
    if first.isalpha() and first.islower():
        text = text[0].upper() + text[1:]
    text = text.rstrip(" ,;:")
    return text if text.endswith((".", "!", "。")) else text + "."
