"""What a draft must keep of its chunk to become knowledge, whoever wrote it. Pure.

Owns what is compared: quote, figures, units, words, negation, names. Refuses to repair: what is not proven is
rejected, and only a name that occurs nowhere is left out of an item that is proven without it.
"""

import re

from kb_pipeline.records import Chunk, Draft
from kb_pipeline.rules.grounding import folded, proves
from kb_pipeline.rules.ids import canonical
from kb_pipeline.rules.numbers import SYMBOLS, negated, quantities, stands, supported
from kb_pipeline.rules.wording import content

UNREADABLE = "[UNREADABLE]"
"""What stands for a passage that could not be recovered: no proof of anything."""
SHARED = 0.5
"""Least share of a statement's content words that its chunk must hold. Of the items of the sample that a rule extracts
all are held whole; a sentence of a model about its chunk names at least its things and most of what they do."""

_APART, _STOPS = " \n(\"'*>|", ".!?;:)。！？…"
_FEWEST = 2  # words of a statement; languages that part no words by spaces aside


def fault(draft: Draft, chunk: Chunk, source: str) -> tuple[str, str]:
    """The first reason why ``chunk`` does not prove ``draft``, with what is missing; two empty strings if it does.

    ``source`` is all that the chunk says (``around``).
    """
    if not proves(chunk.text, draft.start, draft.end, draft.source_span):
        return "span-not-verbatim", draft.source_span[:200]
    if UNREADABLE in draft.source_span:
        return "span-unreadable", draft.source_span[:200]
    is_quote = draft.statement == draft.source_span
    compared = "" if is_quote and _cuts_no_figure(chunk.text, draft.start, draft.end) else draft.statement
    claim = " ".join(filter(None, (compared, draft.detail, draft.context)))
    if missing := supported(claim, source):
        return "number-not-in-source", ", ".join(missing)
    if is_quote:
        return "", ""
    if len(draft.statement.split()) < _FEWEST and draft.statement.isascii():
        return "no-statement", draft.statement
    if stands(canonical(draft.statement), canonical(draft.source_span)):
        return "", ""
    if foreign := foreign_units(claim, source):
        return "unit-not-in-source", ", ".join(foreign)
    if unsaid := _unsaid(draft.statement, source):
        return "statement-not-in-source", ", ".join(unsaid)
    if _turned(draft):
        return "negation-not-in-source", draft.source_span[:200]
    return "", ""


def around(chunk: Chunk) -> str:
    """All that a chunk says: its headings and the header of its table too."""
    return " ".join((chunk.header, *chunk.heading, chunk.text))


def foreign_units(claim: str, source: str) -> tuple[str, ...]:
    """Figures of ``claim`` with a unit symbol that ``source`` does not give them: ``12 MB`` where it has ``12 GB``.

    A symbol may stand away from its figure (at the head of a column), but not where the figure has another one.
    """
    given: dict[str, set[str]] = {}
    for q in quantities(source):
        for value in q.values:
            given.setdefault(value, set()).add(q.unit)
    found = []
    for q in quantities(claim):
        if q.unit not in SYMBOLS or any(q.unit in given.get(value, ()) for value in q.values):
            continue
        others = set().union(*(given.get(value, set()) for value in q.values)) & SYMBOLS
        if others or not re.search(rf"(?<![^\W\d_]){re.escape(q.unit)}(?![^\W\d_])", source):
            found.append(q.surface)
    return tuple(dict.fromkeys(found))


def named(entities: tuple[str, ...], source: str) -> tuple[str, ...]:
    """Those of ``entities`` that occur in ``source``, case and typography aside."""
    if all(e and e in source for e in entities):
        return entities
    whole = _plain(source)
    return tuple(e for e in entities if (plain := _plain(e)) and plain in whole)


def _cuts_no_figure(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` begins with a whole word and ends with a stop: no figure goes on beyond it, and its
    figures are those of ``text``."""
    begins = text[start].isalpha() and (start == 0 or text[start - 1] in _APART)
    return begins and text[end - 1] in _STOPS and not text[end : end + 1].isalnum()


def _plain(text: str) -> str:
    return folded(text).casefold()


def _unsaid(statement: str, source: str) -> tuple[str, ...]:
    """The words of a statement that its chunk does not hold, where they are too many."""
    words = content(statement)
    held = set(content(source))
    missing = tuple(w for w in words if w not in held and not _within(w, source))
    return missing if words and 1 - len(missing) / len(words) < SHARED else ()


def _within(word: str, source: str) -> bool:
    """Whether a run of letters that no spaces part (Chinese, Japanese, Thai) is in the source, pair by pair."""
    pairs = [word[at : at + 2] for at in range(len(word) - 1)]
    return not word.isascii() and bool(pairs) and sum(pair in source for pair in pairs) >= SHARED * len(pairs)


def _turned(draft: Draft) -> bool:
    """Whether a statement in the words of its quote denies what the quote says, or says what it denies."""
    if negated(draft.statement) == negated(draft.source_span) or canonical(draft.statement) in canonical(
        draft.source_span
    ):
        return False
    return set(content(draft.statement)) - {"not"} <= set(content(draft.source_span))
