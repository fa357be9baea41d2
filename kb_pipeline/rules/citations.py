"""Does the evidence that a sentence cites carry the sentence? Pure.

Owns what is compared: that the cited evidence exists, that quotes are verbatim, that figures, units, names, words and
negation of the sentence stand in what it cites, and that its licence lets it be quoted. Refuses to repair a sentence:
what is not carried is dropped, with the reason. It cannot tell a wrong conclusion drawn in the evidence's own words.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kb_pipeline.records import Claim, Dropped, Evidence, Sentence
from kb_pipeline.rules.analyser import exact_forms
from kb_pipeline.rules.evidence import SHARED, UNREADABLE, foreign_units
from kb_pipeline.rules.grounding import folded
from kb_pipeline.rules.numbers import antonyms, differs, negated, quantities, supported
from kb_pipeline.rules.wording import content
from kb_pipeline.rules.words import FUNCTION_WORDS

COPIED = 8
"""Words in a row that make a quotation of a sentence: what a licence that forbids quoting forbids."""
ALIKE = 0.75
"""Share of a sentence's content words that one of its evidence must hold to be compared with it word by word."""
LONGEST = 600
"""Code points of a sentence beyond which it is no sentence."""

_QUOTED = re.compile(r'"([^"\n]{2,})"|“([^“”\n]{2,})”|«([^«»\n]{2,})»|「([^「」\n]{2,})」|`([^`\n]{2,})`')
_CAPITAL = re.compile(r"(?<![\w.-])[A-ZÀ-Þ][\w'’-]*")
_OPENING = re.compile(r"(?:^|[.!?:]\s+)[\"'“‘(\[*_]*$")
_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:[.!?](?!\s|$)[^.!?。！？\n]*)*[.!?。！？]*")
_CAPITAL_NEXT = re.compile(r" [A-ZÀ-Þ][a-zà-ÿ]")
_CLAUSE = re.compile(r"[;:]|, (?:and|but|while|whereas|which|or|so) ")
_WORD = re.compile(r"\w+")


def verified(claims: Iterable[Claim], evidence: Sequence[Evidence]) -> Iterator[Sentence | Dropped]:
    """Each claim as a sentence, or dropped with the first rule that it broke; in order, a repetition left out."""
    known = {found.id: found for found in evidence}
    said: set[str] = set()
    for claim in claims:
        text = " ".join(claim.text.split())
        if text in said:
            continue
        said.add(text)
        cites = tuple(dict.fromkeys(claim.cites))
        fault, detail = _fault(text, cites, claim.quotes, known)
        if fault:
            yield Dropped(text=text, cites=cites, fault=fault, detail=detail)
        else:
            cited = [known[name] for name in cites]
            notes = tuple(dict.fromkeys(hint for found in cited for hint in found.hints))
            yield Sentence(text=text, cites=cites, quotes=claim.quotes, notes=notes)


def _fault(text: str, cites: Sequence[str], quotes: Sequence[str], known: Mapping[str, Evidence]) -> tuple[str, str]:
    """The first rule that a sentence breaks, with what is wrong; two empty strings if it breaks none."""
    if not text or len(text) > LONGEST:
        return "no-sentence", text[:80]
    if not cites:
        return "no-citation", ""
    if unknown := [name for name in cites if name not in known]:
        return "unknown-citation", ", ".join(unknown)
    cited = [known[name] for name in cites]
    if foreign := [quote for quote in (*quotes, *_quotations(text)) if not _stands(quote, cited)]:
        return "quote-not-verbatim", foreign[0][:200]
    whole = "\n".join(map(said, cited))
    for rule, missing in (
        ("number-not-in-evidence", supported(text, whole)),
        ("unit-not-in-evidence", foreign_units(text, whole)),
        ("name-not-in-evidence", _foreign_names(text, whole)),
        ("words-not-in-evidence", _unsaid(text, whole)),
    ):
        if missing:
            return rule, ", ".join(missing)
    if idle := [found.id for found in cited if len(_missing(content(text), said(found))) == len(content(text)) > 0]:
        return "citation-beside-the-point", ", ".join(idle)
    if fault := _contradicts(text, whole):
        return fault, ""
    forbidden = [found for found in cited if not found.quotable and (quotes or _copies(text, said(found)))]
    return ("licence-forbids-quoting", forbidden[0].license) if forbidden else ("", "")


def said(found: Evidence) -> str:
    """All that a piece of evidence says: its title, heading, words and date."""
    return "\n".join(filter(None, (found.title, found.heading, found.text, found.quote, found.date)))


def _quotations(text: str) -> list[str]:
    """What a sentence itself sets between quotation marks or as code."""
    return [next(filter(None, m.groups())) for m in _QUOTED.finditer(text)]


def _stands(quote: str, cited: Iterable[Evidence]) -> bool:
    """Whether a quote stands to the letter in the words of a document that is cited, or in an item's statement."""
    if UNREADABLE in quote:
        return False
    parts = (part for found in cited for part in (found.quote, found.text, found.heading, found.title))
    return any(folded(quote) in folded(part) for part in parts) if folded(quote) else False


def _foreign_names(text: str, source: str) -> tuple[str, ...]:
    """Names, flags and codes of ``text`` that do not stand in ``source``; a word that merely begins a sentence is none.

    Of a code its whole form or that without its lead must be there: ``v0.6`` for ``0.6``.
    """
    here = folded(source).casefold()
    words = set(_WORD.findall(here))
    missing = []
    for m in _CAPITAL.finditer(text):
        name = folded(m.group()).removesuffix("'s")
        opens = name[1:].islower() and _OPENING.search(text[: m.start()]) and not _CAPITAL_NEXT.match(text, m.end())
        if not opens and name.casefold() not in FUNCTION_WORDS and not _named(name.casefold(), here, words):
            missing.append(name)
    codes = (forms for forms in exact_forms(text) if not forms[0][:1].isdigit())
    missing += [forms[0] for forms in codes if not any(form in here for form in forms[:2])]
    return tuple(dict.fromkeys(missing))


def _named(name: str, here: str, words: set[str]) -> bool:
    """Whether a folded name stands in a folded text, in the plural or singular too."""
    singular = name.removesuffix("s")
    if name in words or singular in words or f"{name}s" in words:
        return True
    return re.search(rf"(?<!\w){re.escape(singular)}s?(?!\w)", here) is not None


def _unsaid(text: str, source: str) -> tuple[str, ...]:
    """The content words of a sentence that its evidence does not hold, where they are more than half of them."""
    missing = _missing(content(text), source)
    return missing if len(missing) > (1 - SHARED) * len(content(text)) else ()


def _missing(words: Sequence[str], source: str) -> tuple[str, ...]:
    held = set(content(source))
    return tuple(word for word in words if word not in held and not _within(word, source))


def _within(word: str, source: str) -> bool:
    """Whether a run of letters that no spaces part (Chinese, Japanese, Thai) is there, pair by pair."""
    pairs = [word[at : at + 2] for at in range(len(word) - 1)]
    return not word.isascii() and bool(pairs) and sum(pair in source for pair in pairs) >= SHARED * len(pairs)


def _contradicts(text: str, source: str) -> str:
    """What a sentence turns round that is said in much the same words: a negation, an opposite, the order of figures.

    Where one of several such sentences or clauses agrees with it, it is no contradiction.
    """
    words = [word for word in content(text) if word != "not"]
    whole = _SENTENCE.findall(source)
    told = {*whole, *(clause for s in whole for clause in _CLAUSE.split(s))}
    near = [s for s in told if words and len(_missing(words, s)) <= (1 - ALIKE) * len(words)]
    if near and all(negated(text) != negated(s) for s in near):
        return "negation-not-in-evidence"
    if near and all(antonyms(text, s) for s in near):
        return "opposite-not-in-evidence"
    same = [s for s in near if _figures(s) == _figures(text)]
    if len(_figures(text)) > 1 and same and all(differs(text, s) for s in same):
        return "figures-in-another-order"
    return ""


def _figures(text: str) -> list[tuple[str, ...]]:
    return sorted(q.values for q in quantities(text))


def _copies(text: str, source: str) -> bool:
    """Whether ``COPIED`` words of a sentence stand in a row in ``source``."""
    words, there = _WORD.findall(text.casefold()), " ".join(_WORD.findall(source.casefold()))
    return any(" ".join(words[at : at + COPIED]) in there for at in range(len(words) - COPIED + 1))
