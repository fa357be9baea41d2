"""Which pages lead to which: parts of one subject to each other, a page to those whose subject it names. Pure."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from kb_pipeline.records import Link, Page
from kb_pipeline.rules.pages.sizing import Draft
from kb_pipeline.rules.pages.topics import form_of, is_generic

_MORE = re.compile(r"\s*[,:(–—]\s*|\s+(?:in|for|with|when|at|on|and why)\s+", re.IGNORECASE)
MOST_RELATED, MOST_BACKLINKS, FEWEST_RELATED = 12, 12, 3
_RARE = 8  # pages that share a name, at most, for it to tell them as akin


def linked(pages: Sequence[Page], drafts: Sequence[Draft], previous: Mapping[str, Page]) -> list[Page]:
    """``pages`` (of ``drafts``, in the same order) with their links, by id; ``previous`` are the pages before, by id.

    Related are the pages of the subjects above and below, then those whose subject the items name most, then, up to
    three, those that share the rarest names. The last are chosen for a new page alone and stay with it: an item more on
    one page must not change the links of others. Backlinks come from pages that name this one and are not related.
    """
    paths = {page.path: page.id for page in previous.values()}
    numbers = {page.id: n for n, page in enumerate(pages)}
    by_key = {draft.key: n for n, draft in enumerate(drafts)}
    by_form = {
        form_of(name): n
        for n, draft in reversed(list(enumerate(drafts)))
        for name in (pages[n].title, *draft.names, *(_head(name) for name in draft.names))
        if not is_generic(name)
    }
    family = _family(drafts, by_key)
    named = [_named(n, draft, by_form) for n, draft in enumerate(drafts)]
    akin = _akin(drafts, [n for n, page in enumerate(pages) if page.id not in previous])
    back: list[dict[int, int]] = [{} for _ in pages]
    for n, mentions in enumerate(named):
        for other, times in mentions.items():
            back[other][n] = times
    found = []
    for n, page in enumerate(pages):
        related = list(dict.fromkeys([*family[n], *_best(named[n], pages, MOST_RELATED)]))[:MOST_RELATED]
        if page.id in previous:
            had = (paths.get(link.path, "") for link in previous[page.id].related)
            close = [numbers[key] for key in had if key in numbers]
        else:
            close = _best(akin[n], pages, FEWEST_RELATED)
        related += [o for o in close if o not in related][: max(0, FEWEST_RELATED - len(related))]
        others = _best({o: t for o, t in back[n].items() if o not in related}, pages, MOST_BACKLINKS)
        links = {"related": _links(related, pages), "backlinks": _links(others, pages)}
        found.append(page.model_copy(update=links))
    return sorted(found, key=lambda page: page.id)


def _family(drafts: Sequence[Draft], by_key: dict[str, int]) -> list[list[int]]:
    """For each draft its nearest subject above that has a page, then those directly below it, in order."""
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
    return Counter(other for form in _forms(draft) if (other := by_form.get(form, n)) != n)


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


def _best(counted: Mapping[int, int], pages: Sequence[Page], most: int) -> list[int]:
    """The numbers that count most, by title."""
    if not counted:
        return []
    best = sorted(counted, key=lambda n: (-counted[n], pages[n].title, pages[n].id))[:most]
    return sorted(best, key=lambda n: (pages[n].title, pages[n].id))


def _links(numbers: Sequence[int], pages: Sequence[Page]) -> tuple[Link, ...]:
    return tuple(Link(title=pages[n].title, path=pages[n].path) for n in numbers)
