"""The plan of the wiki: every active item at home on one page, before anything is written. Pure.

A document, or versions of it, is a subject; subjects too long for a page part along their headings, subjects too thin
for one are gathered by the name that they speak of most, else under their category. What converges: where each item
belongs, ids, and the order of items follow from the items alone, in whatever order they came. What history decides:
whether a subject between two thresholds has a page of its own (``sizing``), who of two namesakes keeps the bare title,
a category as long as it is not clearly outvoted, and which of several kindred pages a page leads to. Without a previous
plan equal items give equal pages.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from kb_pipeline.records import UNCLASSIFIED, Outline, Page, Part, Placed, Taxonomy
from kb_pipeline.rules.pages.linking import linked
from kb_pipeline.rules.pages.sizing import (
    FEWEST_ALONE,
    FEWEST_ALONE_STANDING,
    Draft,
    Piece,
    in_runs,
    page_id,
    pages_of,
)
from kb_pipeline.rules.pages.titles import titled
from kb_pipeline.rules.pages.topics import Topic, form_of, is_generic, subjects
from kb_pipeline.rules.taxonomy import Phrasebook

_OUTVOTED = 1.5  # a category keeps its page until another has this many times its items
_REST = "Other notes"  # the title of what no category holds


def plan(
    outlines: Iterable[Outline],
    taxonomy: Taxonomy,
    previous: Sequence[Page] = (),
    conflicts: Iterable[tuple[str, str]] = (),
) -> list[Page]:
    """Pages by id, with related ones and backlinks; ``previous`` is the plan that they follow upon, whose own pages are
    given where nothing of them changes. ``conflicts`` are pairs of items that disagree."""
    standing = {page.id: page for page in previous}
    outlines = list(outlines)
    drafts: list[Draft] = []
    thin: list[Topic] = []
    for topic in subjects(outlines):
        few = FEWEST_ALONE_STANDING if page_id(topic.key) in standing else FEWEST_ALONE
        if topic.total() < few:
            thin.append(topic)
        else:
            drafts += pages_of(topic, standing)
    drafts = _with_thin(drafts, thin, standing)
    categories = _categories(drafts, taxonomy, standing)
    names = titled(drafts, categories, standing)
    links, disagreeing = linked(drafts, names, standing), _disagreeing(drafts, conflicts)
    heirs = _heirs(outlines)
    pages = [
        Page(
            id=page_id(draft.key),
            title=name.title,
            aliases=name.aliases,
            category=categories[draft.key],
            path=name.path,
            parts=tuple(
                Part(heading=p.heading, items=tuple([i.id for i in p.items]), place=p.place) for p in draft.pieces
            ),
            conflicts=tuple(disagreeing.get(n, ())),
            replaced=tuple(old for item in _ids(draft) for old in heirs.get(item, ())) if heirs else (),
            related=links[n].related,
            backlinks=links[n].backlinks,
        )
        for n, (draft, name) in enumerate(zip(drafts, names, strict=True))
    ]
    return [_as_it_was(page, standing.get(page.id)) for page in sorted(pages, key=lambda page: page.id)]


def _as_it_was(page: Page, before: Page | None) -> Page:
    return before if before is not None and before == page else page


def _ids(draft: Draft) -> Iterator[str]:
    return (item.id for piece in draft.pieces for item in piece.items)


def _heirs(outlines: Iterable[Outline]) -> dict[str, list[str]]:
    """The superseded items that led to each item which has no successor."""
    successor = {old: new for outline in outlines for old, new in outline.replaced.items()}
    led: dict[str, list[str]] = {}
    for old in sorted(successor):
        last, seen = old, {old}
        while (following := successor.get(last)) is not None and following not in seen:
            last = following
            seen.add(last)
        led.setdefault(last, []).append(old)
    return led


def _disagreeing(drafts: Sequence[Draft], conflicts: Iterable[tuple[str, str]]) -> dict[int, list[tuple[str, str]]]:
    """By the number of a draft the disagreements in which an item of it has a part."""
    pairs = sorted(conflicts)
    homes = {item: n for n, draft in enumerate(drafts) for item in _ids(draft)} if pairs else {}
    found: dict[int, list[tuple[str, str]]] = {}
    for pair in pairs:
        if all(item in homes for item in pair):
            for n in sorted({homes[item] for item in pair}):
                found.setdefault(n, []).append(pair)
    return found


def _with_thin(drafts: Sequence[Draft], thin: Sequence[Topic], standing: Collection[str]) -> list[Draft]:
    """``drafts`` and what gathers the ``thin`` subjects: pages of names, then of categories; one of the same title
    takes them in."""
    named = _by_name(thin, standing)
    gathered = {f"name {form}": topics for form, topics in named.items()}
    left = [t for t in thin if not any(t is other for topics in named.values() for other in topics)]
    for topic in left:
        gathered.setdefault(f"category {_category_of(_items(topic))}", []).append(topic)
    hosts = {form_of(draft.names[0]): n for n, draft in reversed(list(enumerate(drafts))) if not draft.above}
    found = list(drafts)
    for key in sorted(gathered):
        pieces = tuple(_piece(topic) for topic in sorted(gathered[key], key=lambda t: (form_of(t.name), t.key)))
        title = _spelled(pieces, key.removeprefix("name ")) if key.startswith("name ") else key.partition(" ")[2]
        host = hosts.get(form_of(title))
        if host is None:
            found += in_runs(Draft(key, (title if title != UNCLASSIFIED else _REST,), pieces), standing)
        else:
            found[host] = replace(found[host], pieces=(*found[host].pieces, *pieces))
    return found


def _by_name(thin: Sequence[Topic], standing: Collection[str]) -> dict[str, list[Topic]]:
    """Thin subjects by the form of the name that they speak of most, for names with enough items."""
    groups: dict[str, list[Topic]] = {}
    for topic in thin:
        counted = Counter(form_of(name) for item in _items(topic) for name in item.names)
        usable = [form for form in counted if form and not is_generic(form)]
        if usable:
            groups.setdefault(min(usable, key=lambda form: (-counted[form], form)), []).append(topic)
    return {
        form: topics
        for form, topics in groups.items()
        if len(topics) > 1
        and sum(t.total() for t in topics)
        >= (FEWEST_ALONE_STANDING if page_id(f"name {form}") in standing else FEWEST_ALONE)
    }


def _spelled(pieces: Sequence[Piece], form: str) -> str:
    """The name of that form as most items write it."""
    written = Counter(n for p in pieces for i in p.items for n in i.names if form_of(n) == form)
    return min(written, key=lambda name: (-written[name], name))


def _piece(topic: Topic) -> Piece:
    return Piece(topic.name, tuple(_items(topic)))


def _items(topic: Topic) -> list[Placed]:
    return [*topic.items, *(item for child in topic.children.values() for item in _items(child))]


def _categories(drafts: Sequence[Draft], taxonomy: Taxonomy, standing: Mapping[str, Page]) -> dict[str, str]:
    """The category of each page: that of most items, a category that its title speaks of counting for more. The runs of
    one text have one."""
    spoken = Phrasebook({c.name: (c.name, *c.keywords) for c in taxonomy.categories})
    whole: dict[str, list[Draft]] = {}
    for draft in drafts:
        whole.setdefault(draft.text, []).append(draft)
    found: dict[str, str] = {}
    for text, parts in whole.items():
        votes = Counter(i.category for d in parts for piece in d.pieces for i in piece.items)
        for name in spoken.find(tuple(form_of(parts[0].names[0]).split("-"))):
            votes[name] += votes.total() // 2 + 1
        best, before = _most(votes), standing.get(page_id(text))
        stays = before is not None and votes[before.category] * _OUTVOTED >= votes[best] > 0
        found |= {d.key: before.category if before and stays and votes[before.category] else best for d in parts}
    return found


def _category_of(items: Iterable[Placed]) -> str:
    """The category of most items; of none only where all are of none."""
    return _most(Counter(item.category for item in items))


def _most(votes: Counter[str]) -> str:
    filed: Mapping[str, int] = {name: n for name, n in votes.items() if name != UNCLASSIFIED}
    return min(filed, key=lambda name: (-filed[name], name), default=UNCLASSIFIED)
