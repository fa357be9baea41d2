"""Which id a cluster carries, which older ids still lead to it, and the record that says so. Pure.

Owns that a published id never moves without need and never names two items. Refuses to know why clusters changed.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import NamedTuple

from kb_pipeline.records import Cluster, DedupDecision, Occurrence
from kb_pipeline.rules.clusters import newest, related, successors
from kb_pipeline.rules.ids import item_id
from kb_pipeline.rules.people import Aside
from kb_pipeline.rules.written import item_of

Group = tuple[str, ...]
Since = Callable[[Group], str | None]
_NONE: Mapping[int, Aside] = {}


def _never(group: Group) -> str | None:
    """No group has a date."""


_NOWHERE: Mapping[str, int] = {}


class Name(NamedTuple):
    """A cluster's id and the older ids that lead to it, sorted."""

    id: str
    aliases: tuple[str, ...]


def records(
    groups: Sequence[Group],
    decisions: Sequence[DedupDecision],
    places: Mapping[str, tuple[Occurrence, ...]],
    published: Sequence[Cluster],
    aside: Mapping[int, Aside] = _NONE,
    since: Since = _never,
) -> tuple[Cluster, ...]:
    """The clusters of ``groups`` as published, sorted by id; ``places`` gives the occurrences of each draft hash and
    ``since`` the earliest explicit date of a group that replaces another.

    A cluster of ``published`` that did not change is handed on itself, not as a copy. Groups (by index) that a person
    set ``aside`` supersede nothing and are related to nothing.
    """
    names = name(groups, published, _written(groups, places))
    if aside:
        gone = {draft for at in aside for draft in groups[at]}
        decisions = [d for d in decisions if d.a not in gone and d.b not in gone]
        topics = [tuple(draft for draft in topic if draft not in gone) for topic in _topics(places)]
    else:
        topics = _topics(places)
    after = successors(groups, decisions)
    near = related(groups, decisions, topics)
    review = {draft for d in decisions if d.needs_review for draft in (d.a, d.b)}
    known = {cluster.id: cluster for cluster in published}
    made = []
    for at, group in enumerate(groups):
        state = (
            places[group[0]] if len(group) == 1 else tuple(o for draft in group for o in places[draft]),
            names[newest(after, at)].id if at in after else None,
            min((date for new in after[at] if (date := since(groups[new]))), default=None) if at in after else None,
            tuple(sorted(names[other].id for other in near[at])) if near[at] else (),
            not review.isdisjoint(group),
            names[at].aliases,
            aside.get(at, ""),
        )
        old = known.get(names[at].id)
        same = old is not None and _state_of(old) == state
        made.append(old if old and same else _made(names[at].id, state))
    return tuple(sorted(made, key=attrgetter("id")))


_STATE = ("occurrences", "superseded_by", "superseded_on", "related", "needs_review", "aliases", "aside")
_state_of = attrgetter(*_STATE)


def _made(key: str, state: tuple[object, ...]) -> Cluster:
    return Cluster.model_validate({"id": key, **dict(zip(_STATE, state, strict=True))})


def _written(groups: Sequence[Group], places: Mapping[str, tuple[Occurrence, ...]]) -> dict[str, int]:
    """The groups that hold what a person wrote by hand, by the id under which it was written."""
    return {
        item: at
        for at, group in enumerate(groups)
        for draft in group
        for o in places[draft]
        if (item := item_of(o.doc_id))
    }


def name(groups: Sequence[Group], published: Iterable[Cluster], written: Mapping[str, int] = _NOWHERE) -> list[Name]:
    """One name a group, in order; ``groups`` are disjoint, sorted tuples of draft hashes.

    What a person wrote by hand keeps the id it was ``written`` under, whatever its words become. Any other id goes
    where its draft is; where that draft is gone, to the part of its cluster with the smallest draft hash. Of several
    ids that had been items, the smallest stays and the others become aliases. A new cluster takes the id of its
    smallest draft hash.
    """
    home = {draft: at for at, group in enumerate(groups) for draft in group}
    items, aliases = _claims(home, published)
    items.update(written)
    aliases = {alias: at for alias, at in aliases.items() if alias not in written}
    taken = {*items, *aliases}
    owned, led = _by_group(items), _by_group(aliases)
    names = []
    for at, group in enumerate(groups):
        ids, old = owned.get(at, ()), led.get(at, ())
        if len(ids) == 1 and not old:  # as it was
            names.append(Name(ids[0], ()))
            continue
        chosen = ids[0] if ids else (_revived(group, old) if old else "") or _fresh(group, taken)
        taken.add(chosen)
        names.append(Name(chosen, tuple(sorted({*ids, *old} - {chosen}))))
    return names


def _topics(places: Mapping[str, tuple[Occurrence, ...]]) -> list[Group]:
    """The drafts that were split from one sentence, sorted; sentences that gave one draft are left out."""
    topics: dict[tuple[str, str], set[str]] = {}
    for draft, occurrences in places.items():
        for o in occurrences:
            if o.topic:
                topics.setdefault((o.chunk_hash, o.topic), set()).add(draft)
    return sorted({tuple(sorted(drafts)) for drafts in topics.values() if len(drafts) > 1})


def _by_group(claims: Mapping[str, int]) -> dict[int, list[str]]:
    groups: dict[int, list[str]] = {}
    for claimed, at in claims.items():
        groups.setdefault(at, []).append(claimed)
    return {at: sorted(ids) if len(ids) > 1 else ids for at, ids in groups.items()}


def _claims(home: Mapping[str, int], published: Iterable[Cluster]) -> tuple[dict[str, int], dict[str, int]]:
    """Where every id that was an item, and every alias, leads now; ids whose cluster is gone whole are left out."""
    held = cache(lambda: sorted(home))
    items: dict[str, int] = {}
    aliases: dict[str, int] = {}
    for cluster in sorted(published, key=attrgetter("id")):
        drafts = {o.draft for o in cluster.occurrences}
        if len(drafts) == 1 and not cluster.aliases:
            (only,) = drafts
            if only in home and item_id(only) == cluster.id:  # nearly every one
                items[cluster.id] = home[only]
                continue
        left = sorted(drafts & home.keys()) if len(drafts) > 1 else [draft for draft in drafts if draft in home]
        own = {item_id(draft): home[draft] for draft in reversed(left)}
        for claims, known in ((items, (cluster.id,)), (aliases, cluster.aliases)):
            for claimed in known:
                at = own.get(claimed)
                if at is None:  # its draft went to another cluster, or is gone
                    draft = _of_id(claimed, held()) or (left[0] if left else None)
                    at = home[draft] if draft else None
                if at is not None:
                    claims[claimed] = at
    return items, aliases


def _of_id(claimed: str, held: Sequence[str]) -> str | None:
    """The smallest of the drafts ``held``, which are sorted, whose id is ``claimed``."""
    at = bisect_left(held, claimed.removeprefix(item_id("")))
    return held[at] if at < len(held) and item_id(held[at]) == claimed else None


def _revived(group: Group, aliases: Iterable[str]) -> str:
    """The smallest alias whose own draft is in the group: what split off again gets its old id back."""
    own = {item_id(draft) for draft in group}
    return min((alias for alias in aliases if alias in own), default="")


def _fresh(group: Group, taken: Iterable[str]) -> str:
    """The id of the smallest draft hash whose id is free; a longer one where 12 digits collide for all of them."""
    free = (item_id(draft) for draft in group if item_id(draft) not in taken)
    return next(free, f"kb_{group[0]}")
