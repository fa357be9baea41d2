"""Clusters as a pure function of decisions."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.records import DedupDecision
from kb_pipeline.rules import clusters
from kb_pipeline.rules.clusters import Before, form, reform, related, successors, superseded, vetoes

NODES = "abcdefgh"


def line(pair: str, decision: str = "merge", cosine: float = 0.9, **fields: Any) -> DedupDecision:
    """A decision on a pair of one-letter drafts; ``guard`` and the like as given."""
    a, b = sorted(pair)
    return DedupDecision(
        **{"a": a, "b": b, "cosine": cosine, "ratio": 1.0, "decision": decision, "reason": "test", **fields}
    )


def mapped(lines: Sequence[DedupDecision]) -> dict[tuple[str, str], DedupDecision]:
    return {(d.a, d.b): d for d in lines}


def never(a: str, b: str) -> bool:
    return False


def groups(*lines: DedupDecision, nodes: str = "abc", apart: Any = never) -> list[str]:
    return ["".join(group) for group in form(nodes, mapped(lines), apart)]


def test_merges_join_and_single_nodes_stay() -> None:
    """Joined drafts are one group; a draft without a merge is a group of its own."""
    assert groups(line("ab"), nodes="abcd") == ["ab", "c", "d"]
    assert groups() == ["a", "b", "c"]


@pytest.mark.parametrize(
    "kept",
    [
        line("ac", "keep_both", guard="numbers"),
        line("ac", "supersede", newer="a", guard="versions"),
        line("ac", "keep_both", by="human"),
        line("ac", "keep_both", by="judge", engine="x"),
    ],
)
def test_a_chain_keeps_the_closer_merge_where_its_ends_must_stay_apart(kept: DedupDecision) -> None:
    """A~B, B~C, A≁C: the closer of the two merges holds, the other is refused."""
    assert groups(line("ab", cosine=0.9), line("bc", cosine=0.95), kept) == ["a", "bc"]
    assert groups(line("ab", cosine=0.95), line("bc", cosine=0.9), kept) == ["ab", "c"]


@pytest.mark.parametrize(
    "kept", [line("ac", "keep_both"), line("ac", "keep_both", by="judge", engine="x", needs_review=True)]
)
def test_an_open_question_does_not_part_a_chain(kept: DedupDecision) -> None:
    """What nobody decided is no veto."""
    assert groups(line("ab"), line("bc"), kept) == ["abc"]


def test_ends_that_were_never_a_pair_are_asked_about() -> None:
    """A guard that fires between two drafts that were no candidates refuses the join as well."""
    assert groups(line("ab"), line("bc", cosine=0.8), apart=lambda a, b: (a, b) == ("a", "c")) == ["ab", "c"]


def test_a_persons_merge_comes_before_a_closer_one() -> None:
    """A human's merge is joined first, so that a machine's yields to it."""
    kept = line("ac", "keep_both", guard="numbers")
    assert groups(line("ab", cosine=0.5, by="human"), line("bc", cosine=0.99), kept) == ["ab", "c"]


def test_a_persons_merge_yields_to_a_persons_veto_alone() -> None:
    """What guards and judges keep apart a person may join, in whole clusters; what a person keeps apart stays so."""
    joined = line("ac", by="human"), line("bc", by="human")
    assert groups(*joined, line("ab", "keep_both", guard="numbers")) == ["abc"]
    assert groups(*joined, apart=lambda a, b: (a, b) == ("a", "b")) == ["abc"]
    assert groups(*joined, line("ab", "keep_both", by="human")) == ["ac", "b"]


def test_equal_scores_are_joined_by_hash() -> None:
    """A tie goes to the smaller hashes."""
    assert groups(line("ab"), line("bc"), line("ac", "keep_both", guard="units")) == ["ab", "c"]


def test_a_cluster_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster refuses more wordings than the bound."""
    monkeypatch.setattr(clusters, "MOST_WORDINGS", 2)
    assert groups(line("ab"), line("bc", cosine=0.8)) == ["ab", "c"]


_lines = st.lists(
    st.builds(
        line,
        st.sampled_from(["".join(pair) for pair in combinations(NODES, 2)]),
        st.sampled_from(["merge", "merge", "keep_both", "supersede"]),
        st.sampled_from([0.8, 0.9, 0.95]),
        guard=st.sampled_from(["", "numbers"]),
        newer=st.sampled_from(["a", "b"]),
    ),
    max_size=16,
    unique_by=lambda d: (d.a, d.b),
)
_apart = st.frozensets(st.sampled_from(list(combinations(NODES, 2))), max_size=4)


@given(lines=_lines, apart=_apart, data=st.data())
def test_clusters_do_not_depend_on_order_and_hold_no_veto(lines: Any, apart: Any, data: Any) -> None:
    """Any order of drafts and decisions gives the same groups, and no group holds two that must stay apart."""
    formed = form(NODES, mapped(lines), lambda a, b: (a, b) in apart)
    shuffled = data.draw(st.permutations(lines))
    assert form(data.draw(st.permutations(NODES)), mapped(shuffled), lambda a, b: (a, b) in apart) == formed
    assert sorted(node for group in formed for node in group) == sorted(NODES)
    decided = mapped(lines)
    for group in formed:
        for pair in combinations(group, 2):
            assert not (vetoes(decided[pair]) if pair in decided else pair in apart)


@given(
    before=_lines,
    after=_lines,
    apart=_apart,
    gone=st.sets(st.sampled_from(NODES)),
    came=st.sets(st.sampled_from(NODES)),
)
def test_forming_anew_what_a_change_reaches_equals_forming_all(
    before: Any, after: Any, apart: Any, gone: set[str], came: set[str]
) -> None:
    """With any drafts gone or come and any decisions changed, the groups are those formed from scratch."""
    old = [node for node in NODES if node not in came - gone]
    now = [node for node in NODES if node not in gone]
    was = mapped([d for d in before if {d.a, d.b} <= set(old)])
    decided = mapped([d for d in after if {d.a, d.b} <= set(now)])
    earlier = Before(form(old, was, lambda a, b: (a, b) in apart), was)
    changed = set(old) ^ set(now)
    assert reform(now, decided, lambda a, b: (a, b) in apart, earlier, changed) == form(
        now, decided, lambda a, b: (a, b) in apart
    )


def test_a_chain_of_newer_versions_leads_to_the_newest() -> None:
    """Every older group points to the last of its chain."""
    lines = [line("ab", "supersede", newer="b"), line("bc", "supersede", newer="b")]
    assert superseded([("a",), ("b",), ("c",)], lines) == {0: 2, 1: 2}


def test_a_cycle_is_broken_at_its_least_close_edge() -> None:
    """Contradicting decisions never make a group its own successor."""
    lines = [
        line("ab", "supersede", 0.9, newer="b"),
        line("bc", "supersede", 0.95, newer="b"),
        line("ac", "supersede", 0.8, newer="a"),
    ]
    assert superseded([("a",), ("b",), ("c",)], lines) == {0: 2, 1: 2}


@given(lines=_lines, data=st.data())
def test_chains_do_not_depend_on_order_and_hold_no_cycle(lines: Any, data: Any) -> None:
    """Any order of decisions gives the same successors, and whoever follows them comes to an end."""
    formed = form(NODES, mapped(lines), never)
    after = successors(formed, lines)
    assert successors(formed, data.draw(st.permutations(lines))) == after
    for group in after:
        ahead, seen = [group], set[int]()
        while ahead:
            at = ahead.pop()
            seen.add(at)
            assert group not in after.get(at, ())
            ahead.extend(set(after.get(at, ())) - seen)


@given(lines=_lines)
def test_what_supersedes_is_never_superseded(lines: Any) -> None:
    """The successor of every group stands at the end of its chain."""
    formed = form(NODES, mapped(lines), never)
    found = superseded(formed, lines)
    assert not set(found.values()) & found.keys()


def test_related_groups_are_the_nearest_first_and_bounded() -> None:
    """Disagreements come before shared sentences, those before the closest kept apart; at most eight."""
    nodes = [(n,) for n in "abcdefghijklm"]
    lines = [line(f"a{n}", "keep_both", 0.8 + i / 100) for i, n in enumerate("bcdefghij")]
    lines += [line("ak", "keep_both", 0.8, guard="numbers", needs_review=True), line("al", "supersede", newer="a")]
    near = related(nodes, lines, [("a", "m")])
    assert ["".join(nodes[at]) for at in near[0]] == ["k", "m", "j", "i", "h", "g", "f", "e"]
    assert near[12] == (0,)
    assert near[11] == ()
