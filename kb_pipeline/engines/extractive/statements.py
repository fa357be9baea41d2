"""From an accepted candidate to what it states. Owns compounds, context, detail; refuses to reword anything."""

import re
from dataclasses import dataclass

from kb_pipeline.engines.extractive.blocks import cells
from kb_pipeline.engines.extractive.candidates import Candidate
from kb_pipeline.engines.extractive.markup import plain
from kb_pipeline.engines.extractive.verbs import BASES, begins_with_verb, is_certain, is_finite, is_imperative
from kb_pipeline.rules.words import words

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
_JOINT = re.compile(r";\s+(?:and\s+)?|,\s+and\s+(?!then\b|also\b)|,\s+which\s+means\s+(?:that\s+)?")
# What stands here governs both halves, so they cannot part.
_GOVERNS = re.compile(
    r"\b(?:that|whether|if|when|because|although|though|since|unless|while|whereas|until|once|so|both|either|neither)\b"
)
CONDITIONS = words(
    "after along among as at before between by despite during for from given if in on once over provided since "
    "through to under unless until upon using via when where while with within without although though because "
    "whereas"
)
_POINTS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|this|these|those|he|she|too|also|former|latter|same|do so|does so|respectively)\b|"
    r"\bones?$|\bones?[.,;]"
)
_ANAPHORA = words(
    "it they this these that those he she its their his her which who both each such then so also not there"
)
_ARTICLES = words("a an the all any every most many some several no our your my another each")
_LONGEST_SUBJECT = 6


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
    spans = _parts(c)
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
    detail = c.command or (c.previous if pronoun and _explains(c) else "")
    needs_heading = pronoun or elliptic or c.place.release or c.block.kind == "row"
    return Statement(text, c.start + start, c.start + end, raw, _context(c, needs_heading), detail, pronoun, elliptic)


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


def _parts(c: Candidate) -> list[tuple[int, int]]:
    """Spans of the independent sentences within ``c.raw``; conservative: in doubt it stays whole."""
    whole = [(0, len(c.raw))]
    if c.foreign or c.block.kind in ("row", "comment") or c.term or c.command or c.place.lead or not c.stops:
        return whole
    spans: list[tuple[int, int]] = []
    start = 0
    for m in _JOINT.finditer(c.raw):
        left, right = c.raw[start : m.start()], c.raw[m.end() :]
        if _in_brackets(c.raw, m.start()):
            continue
        if not _independent(plain(left), plain(right)):
            return whole if not spans else [*spans, (start, len(c.raw))]
        spans.append((start, m.start()))
        start = m.end()
    return [*spans, (start, len(c.raw))]


def _in_brackets(text: str, at: int) -> bool:
    return (
        any(text.count(o, 0, at) > text.count(e, 0, at) for o, e in ("()", "[]", "“”"))
        or text.count("`", 0, at) % 2 > 0
    )


def _independent(left: str, right: str) -> bool:
    """Whether both halves hold a finite verb, the right one its own subject, and nothing governs the two together."""
    words_left = left.lower().split()
    if len(words_left) < 3 or words_left[0].strip(",") in CONDITIONS or _GOVERNS.search(left.lower()):
        return False
    if _POINTS_BACK.search(right):
        return False
    return is_certain(left) and _has_subject(right)


def _has_subject(text: str) -> bool:
    """Whether ``text`` begins with a noun phrase of its own and a certain verb follows it soon."""
    tokens = text.split()
    first = tokens[0].lower().strip(",") if tokens else ""
    if len(tokens) < 4 or first in _ANAPHORA or first in CONDITIONS:
        return False
    is_name = any(ch.isupper() or ch.isdigit() or ch == "_" for ch in tokens[0])
    if not (first in _ARTICLES or is_name or (first not in BASES and not is_certain(first) and first.endswith("s"))):
        return False
    subject = tokens[: _LONGEST_SUBJECT + 1]
    if any(t.endswith(",") for t in subject[:2]):
        return False
    return any(is_certain(t) for t in subject[1:])
