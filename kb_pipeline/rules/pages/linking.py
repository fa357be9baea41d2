"""Which pages lead to which: parts of one subject to each other, a page to those whose subject it names. Pure."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

from kb_pipeline.records import Link, Page
from kb_pipeline.rules.pages.sizing import Draft, page_id
from kb_pipeline.rules.pages.titles import Name
from kb_pipeline.rules.pages.topics import form_of, is_generic

_MORE = re.compile(r"\s*[,:(–—]\s*|\s+(?:in|for|with|when|at|on|and why)\s+", re.IGNORECASE)
MOST_RELATED, MOST_BACKLINKS, FEWEST_RELATED = 12, 12, 3
_RARE = 8  # pages that share a name, at most, for it to tell them as akin


class Links(NamedTuple):
    """Where a page leads: to pages akin to it, and to those that name it."""

    related: tuple[Link, ...]
    backlinks: tuple[Link, ...]


def linked(drafts: Sequence[Draft], names: Sequence[Name], previous: Mapping[str, Page]) -> list[Links]:
    """The links of each of ``drafts``, whose ``names`` are in the same order; ``previous`` are the pages before, by id.

    Related are the pages of the subjects above and below, then those whose subject the items name most, then, up to
    three, those that share the rarest names. The last are chosen for a new page alone and stay with it: an item more on
    one page must not change the links of others. Backlinks come from pages that name this one and are not related.
    """
    order = [(name.title, page_id(draft.key)) for draft, name in zip(drafts, names, strict=True)]
    by_form = _by_form(drafts, names)
    named = [_named(n, draft, by_form) for n, draft in enumerate(drafts)]
    related = [
        list(dict.fromkeys([*above_and_below, *_best(mentions, order, MOST_RELATED)]))[:MOST_RELATED]
        for above_and_below, mentions in zip(_family(drafts), named, strict=True)
    ]
    _with_kin(related, drafts, order, previous)
    back: list[dict[int, int]] = [{} for _ in drafts]
    for n, mentions in enumerate(named):
        for other, times in mentions.items():
            if n not in related[other]:
                back[other][n] = times
    link = cache(lambda n: Link(title=names[n].title, path=names[n].path))
    return [
        Links(tuple(map(link, found)), tuple(map(link, _best(others, order, MOST_BACKLINKS))))
        for found, others in zip(related, back, strict=True)
    ]


def _by_form(drafts: Sequence[Draft], names: Sequence[Name]) -> dict[str, int]:
    """The page that each form of a subject's name leads to: the first that bears it."""
    found: dict[str, int] = {}
    for n, (draft, name) in enumerate(zip(drafts, names, strict=True)):
        for one in {name.title, *draft.names, *map(_head, draft.names)}:
            if not is_generic(one):
                found.setdefault(form_of(one), n)
    return found


def _with_kin(
    related: Sequence[list[int]],
    drafts: Sequence[Draft],
    order: Sequence[tuple[str, str]],
    previous: Mapping[str, Page],
) -> None:
    """Add to ``related``, where they are few, the pages that a new page shares the rarest names with, or that one of
    the ``previous`` was related to."""
    few = [n for n, found in enumerate(related) if len(found) < FEWEST_RELATED]
    akin = _akin(drafts, [n for n in few if order[n][1] not in previous])
    numbers = {key: n for n, (_, key) in enumerate(order)}
    before = {page.path: numbers[page.id] for page in previous.values() if page.id in numbers}
    for n in few:
        if n in akin:
            close = _best(akin[n], order, FEWEST_RELATED)
        else:
            close = [before[link.path] for link in previous[order[n][1]].related if link.path in before]
        related[n] += [other for other in close if other not in related[n]][: FEWEST_RELATED - len(related[n])]


def _family(drafts: Sequence[Draft]) -> list[list[int]]:
    """For each draft its nearest subject above that has a page, then those directly below it, in order."""
    by_key = {draft.key: n for n, draft in enumerate(drafts)}
    family: list[list[int]] = [[] for _ in drafts]
    for n, draft in enumerate(drafts):
        above = next((by_key[key] for key in reversed(draft.parents) if key in by_key), None)
        if above is not None:
            family[n].insert(0, above)
            family[above].append(n)
    return family


def _head(title: str) -> str:
    """What a title speaks of before it says more: ``Prefix caching, exactly`` → ``Prefix caching``."""
    return _MORE.split(title, maxsplit=1)[0]


def _forms(draft: Draft) -> Iterator[str]:
    """The form of each name that an item of a page speaks of, for each item again."""
    return chain.from_iterable(item.forms for piece in draft.pieces for item in piece.items)


def _named(n: int, draft: Draft, by_form: Mapping[str, int]) -> Counter[int]:
    """The pages whose subject the items of one name, and how many do."""
    return Counter([other for form in _forms(draft) if (other := by_form.get(form, n)) != n])


def _akin(drafts: Sequence[Draft], wanted: Sequence[int]) -> dict[int, Counter[int]]:
    """For each page ``wanted`` those that share names with it which few pages have, and how strongly: a name that ``n``
    pages have counts ``1000 / n``; one name alone is an accident."""
    forms = [frozenset(_forms(draft)) for draft in drafts] if wanted else []
    holders: dict[str, list[int]] = {form: [] for n in wanted for form in forms[n]}
    for n, of_one in enumerate(forms):
        for form in of_one & holders.keys():
            holders[form].append(n)
    return {n: _kin(n, [found for form in forms[n] if 1 < len(found := holders[form]) <= _RARE]) for n in wanted}


def _kin(page: int, shared: Sequence[Sequence[int]]) -> Counter[int]:
    """The pages that stand with ``page`` in more than one of the groups ``shared``, by what these count together."""
    others = [(other, 1000 // len(group)) for group in shared for other in group if other != page]
    times = Counter(other for other, _ in others)
    scores: Counter[int] = Counter()
    for other, score in others:
        scores[other] += score if times[other] > 1 else 0
    return +scores


def _best(counted: Mapping[int, int], order: Sequence[tuple[str, str]], most: int) -> list[int]:
    """The numbers that count most, in ``order``."""
    if len(counted) < 2:
        return list(counted)
    best = sorted(counted, key=lambda n: (-counted[n], order[n]))[:most]
    return sorted(best, key=order.__getitem__)
