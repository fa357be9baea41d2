"""Which statements are points of a list, and below which lead-in: by the context that extraction kept."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from kb_pipeline.records import Item
from kb_pipeline.rules.pages.topics import clean

_TERM = re.compile(r"(?P<term>[^\s:–—-][^:–—]{0,59}?)(?:\s[-–—]\s|:\s)(?=\S)")
_NAME = re.compile(r"-{0,2}[A-Za-z_][\w.-]*(?:\([^)]*\))?$")
_OPTIONS = re.compile(
    r"\b(?:arguments?|options?|parameters?|params|settings?|flags?|keywords?|variables?|fields?|attributes?)\b",
    re.IGNORECASE,
)
_ROW = re.compile(r".{1,80} — [^:;]{1,60}: .+")
_CODE = re.compile(
    r"^(?:await |return |import |from |pip |def |class |\$ )?[\w.]+(?:\[[^\]]*\])?\(.*\)$|^[\w.]+ = \S+$"
)
_LONGEST_TERM = 6  # words


@dataclass(frozen=True)
class Point:
    """An item as a sentence or as a point of a list; ``continues`` says that it belongs to the point before it."""

    item: Item
    text: str
    list: bool = False
    lead_in: str = ""
    term: str = ""
    continues: bool = False


def points(items: Sequence[Item], headings: Collection[str], *, whole: bool) -> Iterator[Point]:
    """Each item in order; with ``whole`` all of them are points of one list (the changes of a release)."""
    leads, named = _shared_leads(items), _named(items, headings)
    terms: dict[str, str] = {}  # a term of the list, and the lead-in that it stands below
    for n, item in enumerate(items):
        context = _own_context(item, headings)
        if context and context[-1] in terms:
            yield Point(item, item.statement, True, terms[context[-1]], continues=True)
        elif leads[n]:
            yield Point(item, item.statement[len(leads[n]) + 2 :], True, leads[n])
        elif context:
            term = term_of(item.statement)
            terms = {**(terms if terms and next(iter(terms.values())) == context[0] else {}), term: context[0]}
            yield Point(item, item.statement, True, context[0], term)
        elif whole or _ROW.fullmatch(item.statement) or _CODE.match(item.statement):
            yield Point(item, item.statement, True)
        elif (term := term_of(item.statement)) and n in named:
            terms = {**(terms if terms and next(iter(terms.values())) == "" else {}), term: ""}
            yield Point(item, item.statement, True, "", term)
        else:
            yield Point(item, item.statement)


def is_option(point: Point) -> bool:
    """Whether it tells of something that a reader sets: an argument, a flag, a variable."""
    if not point.list:
        return False
    return bool(_OPTIONS.search(point.lead_in)) or ("_" in point.term or point.term.startswith("-"))


def term_of(statement: str) -> str:
    """What a statement of the form ``term - …`` or ``term: …`` explains; empty for another."""
    m = _TERM.match(statement)
    return m["term"] if m and len(m["term"].split()) <= _LONGEST_TERM else ""


def _named(items: Sequence[Item], headings: Collection[str]) -> set[int]:
    """Items that explain a term beside another that does, so that both are points of a list; what belongs to a term
    stands between them."""
    terms = [term_of(item.statement) for item in items]
    known = {term for term in terms if term}
    own = [_own_context(item, headings)[-1:] for item in items]
    heads = [n for n in range(len(items)) if known.isdisjoint(own[n])]
    return {n for a, b in pairwise(heads) if terms[a] and terms[b] for n in (a, b)}


def _own_context(item: Item, headings: Collection[str]) -> list[str]:
    """What of an item's context stands on the page in no heading: the lead of its list, the term it belongs to."""
    parts = (item.context or "").split(" > ") if item.context else []
    known = [n for n, part in enumerate(parts) if clean(part) in headings]
    return parts[known[-1] + 1 :] if known else parts


def _shared_leads(items: Sequence[Item]) -> list[str]:
    """For each item the lead-in that extraction put before it (``lead: point``), where a neighbour has the same or one
    stands below it."""
    prefixes = [item.statement.partition(": ")[0] if ": " in item.statement else "" for item in items]
    contexts = {part for item in items for part in (item.context or "").split(" > ")}
    found: list[str] = []
    for prefix, group in groupby(prefixes):
        size = len(list(group))
        shared = len(prefix.split()) > 1 and (size > 1 or prefix in contexts)
        found += [prefix if shared else ""] * size
    return found
