"""What rules alone make of a pair, what a judge sees of one, and the line that records a verdict."""

import pickle

import pytest

from kb_pipeline.records import Side, Verdict
from kb_pipeline.rules.order import Place
from kb_pipeline.rules.weighing import Candidate, Weighed, line, question, weighed

SMALL, LARGE = Side(statement="The pool holds 16 spare blocks."), Side(statement="The pool holds 32 spare blocks.")
OLD, NEW = Place("docs/*.md", "1.0", "2024-01-01"), Place("docs/*.md", "2.0", "2025-01-01")


def test_rules_decide_what_they_can() -> None:
    """Figures that differ fire their guard, and the later version of one document replaces the earlier one."""
    found = weighed(Candidate(SMALL, LARGE, 0.95, (OLD,), (NEW,)))
    assert (found.ratio, found.guard) == (0.933, "numbers")
    assert found.verdict
    assert (found.verdict.decision, found.verdict.newer) == ("supersede", "b")


@pytest.mark.parametrize("same_document", [True, False])
def test_what_one_document_states_twice_is_no_disagreement(same_document: bool) -> None:
    """Two figures without an order are put before a person, unless one version of a document states both."""
    found = weighed(Candidate(SMALL, LARGE, 0.95, same_document=same_document))
    assert found.verdict
    assert found.verdict.needs_review is not same_document


def test_what_rules_leave_open_has_no_verdict() -> None:
    """Statements that are near, in other words and without a guard are for a judge."""
    a, b = (Side(statement=f"The scheduler evicts the {word} request first.") for word in ("oldest", "earliest queued"))
    assert weighed(Candidate(a, b, 0.93)) == Weighed(weighed(Candidate(a, b, 0.93)).ratio, "", None)


def test_a_pair_and_what_is_made_of_it_travel_between_processes() -> None:
    """A candidate and its weight are the same after they were pickled."""
    pair = Candidate(SMALL, LARGE, 0.95, (OLD,), (NEW,))
    assert pickle.loads(pickle.dumps(pair)) == pair
    assert pickle.loads(pickle.dumps(weighed(pair))) == weighed(pair)


def test_a_judge_sees_lineage_and_date_where_versions_of_one_document_state_a_pair() -> None:
    """Both sides carry one opaque lineage and their own latest date, none where a place has no date."""
    asked = question(Candidate(SMALL, LARGE, 0.95, (OLD, NEW), (Place("docs/*.md", "3.0"),)), Weighed(0.9, "", None))
    assert asked.a.lineage == asked.b.lineage != ""
    assert (asked.a.effective_date, asked.b.effective_date) == ("2025-01-01", None)
    assert question(Candidate(SMALL, LARGE, 0.95), Weighed(0.9, "", None)).a == SMALL


@pytest.mark.parametrize(("engine", "by"), [("", "rule"), ("judge@1", "judge")])
def test_a_line_says_who_decided(engine: str, by: str) -> None:
    """A verdict with an engine is the judge's, any other the rules'."""
    made = line(("a", "b"), 0.95, Weighed(0.9, "scope", None), Verdict(decision="keep_both", reason="why"), engine)
    assert (made.by, made.engine, made.guard, made.ratio, made.cosine) == (by, engine, "scope", 0.9, 0.95)
