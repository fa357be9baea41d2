"""Ids and aliases through merges, splits, deletions and returns."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.records import Cluster, Occurrence
from kb_pipeline.rules.ids import digest, item_id
from kb_pipeline.rules.naming import Name, name, records

DRAFTS = sorted(digest(str(n)) for n in range(8))
A, B, C, D, *_ = DRAFTS


def cluster(named: Name, group: Any) -> Cluster:
    return Cluster(id=named.id, aliases=named.aliases, occurrences=tuple(at(draft) for draft in group))


def at(draft: str, chunk: str = "", topic: str = "") -> Occurrence:
    return Occurrence(draft=draft, text_key="", doc_id="a/x.md", chunk_hash=chunk, topic=topic)


def publish(*groups: Any, after: Any = ()) -> list[Cluster]:
    return [cluster(*pair) for pair in zip(name(groups, after), groups, strict=True)]


def test_a_new_cluster_takes_the_id_of_its_smallest_draft() -> None:
    """Without a past, the id follows from content alone and there is no alias."""
    assert name([(A, C), (B,)], []) == [Name(item_id(A), ()), Name(item_id(B), ())]


def test_a_published_id_stays_when_a_smaller_draft_joins() -> None:
    """A cluster keeps its id while it holds the draft that the id is of."""
    before = publish((B,))
    assert name([(A, B)], before) == [Name(item_id(B), ())]


def test_a_published_id_stays_when_its_draft_is_reworded() -> None:
    """Where the draft is gone, the id stays with the rest of its cluster."""
    before = publish((A, B))
    assert name([(B, C)], before) == [Name(item_id(A), ())]


def test_two_items_that_merge_keep_the_smaller_id_and_the_other_leads_there() -> None:
    """The other id becomes an alias, also of everything that led to it."""
    before = publish((A,), (B,), (C,))
    first = publish((A,), (B, C), after=before)
    assert [(c.id, c.aliases) for c in first] == [(item_id(A), ()), (item_id(B), (item_id(C),))]
    assert name([(A, B, C)], first) == [Name(item_id(A), (item_id(B), item_id(C)))]


def test_a_split_gives_the_id_to_its_own_draft_and_an_alias_back_to_its_own() -> None:
    """What was merged and parts again has its old ids again."""
    merged = publish((A, B), after=publish((A,), (B,)))
    assert name([(A,), (B,)], merged) == [Name(item_id(A), ()), Name(item_id(B), ())]


def test_a_split_without_the_draft_of_the_id_leaves_it_to_the_smallest_draft() -> None:
    """The part with the smallest draft hash keeps the id; the others take their own."""
    before = publish((A, B, C))
    assert name([(B,), (C,)], before) == [Name(item_id(A), ()), Name(item_id(C), ())]


def test_a_draft_that_returns_has_its_id_back() -> None:
    """An id goes where its draft is, so the rest that kept it meanwhile takes its own."""
    rest = publish((B,), after=publish((A, B)))
    assert rest[0].id == item_id(A)
    assert name([(A,), (B,)], rest) == [Name(item_id(A), ()), Name(item_id(B), ())]


def test_ids_that_collide_in_twelve_digits_are_told_apart() -> None:
    """A second draft with the same first 12 digits gets a longer id, and keeps it."""
    twins = ("0" * 12 + "a" * 20, "0" * 12 + "b" * 20)
    first = publish((twins[0],), (twins[1],))
    assert [c.id for c in first] == ["kb_" + "0" * 12, f"kb_{twins[1]}"]
    assert publish((twins[0],), (twins[1],), after=first) == first
    assert publish((twins[0],), (twins[1],), after=publish((twins[1],)))[1].id == "kb_" + "0" * 12


def test_records_name_what_supersedes_and_what_is_related_by_id() -> None:
    """Clusters are sorted by id; drafts split from one sentence of one passage are related."""
    places = {A: (at(A, "x", "t"),), B: (at(B, "x", "t"), at(B, "y")), C: (at(C, "y", "t"),)}
    made = records([(A,), (B,), (C,)], [], places, [])
    assert [c.id for c in made] == sorted(c.id for c in made)
    assert {c.id: c.related for c in made} == {
        item_id(A): (item_id(B),),
        item_id(B): (item_id(A),),
        item_id(C): (),
    }


_partitions = st.lists(st.sampled_from([-1, 0, 1, 2, 3]), min_size=len(DRAFTS), max_size=len(DRAFTS)).map(
    lambda places: sorted(
        tuple(d for d, p in zip(DRAFTS, places, strict=True) if p == part) for part in set(places) - {-1}
    )
)


@given(history=st.lists(_partitions, min_size=2, max_size=6))
def test_ids_never_name_two_items_and_follow_their_drafts(history: Any) -> None:
    """Through any merges, splits, deletions and returns: names are unique, an id or alias whose draft lives leads to
    it, one whose cluster lives leads somewhere, and a repeated run changes nothing."""
    before: list[Cluster] = []
    for groups in history:
        after = publish(*groups, after=before)
        names = [n for c in after for n in (c.id, *c.aliases)]
        assert len(names) == len(set(names))
        home = {n: {o.draft for o in c.occurrences} for c in after for n in (c.id, *c.aliases)}
        alive = {draft for group in groups for draft in group}
        for old in before:
            for known in (old.id, *old.aliases):
                own = {draft for draft in alive if item_id(draft) == known}
                if own or any(o.draft in alive for o in old.occurrences):
                    assert own <= home[known]
        published = {c.id for c in before}
        assert all(c.id in published for c in after if published & {c.id, *c.aliases})
        assert publish(*groups, after=after) == after
        before = after
