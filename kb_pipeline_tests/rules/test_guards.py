"""Guards, one by one."""

import pytest

from kb_pipeline.records import Side
from kb_pipeline.rules.guards import fired, one_thing, same_frame


def side(text: str) -> Side:
    """A side from ``statement # context @ entity, entity``."""
    rest, _, entities = text.partition(" @ ")
    statement, _, context = rest.partition(" # ")
    return Side(statement=statement, context=context or None, entities=tuple(entities.split(", ")) if entities else ())


@pytest.mark.parametrize(
    ("a", "b", "guard"),
    [
        ("The pool holds 16 blocks.", "The pool holds 32 blocks.", "numbers"),
        ("The fix is in 2.7.4.", "The fix is in 2.7.5.", "versions"),
        ("The buffer holds 64 KB.", "The buffer holds 64 MB.", "units"),
        ("The job retries.", "The job never retries.", "negation"),
        ("Compression is enabled.", "Compression is disabled.", "antonyms"),
        ("The job may retry.", "The job must retry.", "scope"),
        ("The parameter top_k limits tokens.", "The parameter top_p limits tokens.", "entities"),
        ("Redis stores sessions. @ Redis", "Memcached stores sessions. @ Memcached", "entities"),
        ("Redis stores sessions.", "Redis keeps sessions.", ""),
        ("The job retries.", "The job retries", ""),
    ],
)
def test_the_guard_that_fires(a: str, b: str, guard: str) -> None:
    """The first difference that a merge would destroy is named, in either direction."""
    assert fired(side(a), side(b)) == guard
    assert fired(side(b), side(a)) == guard


@pytest.mark.parametrize(
    ("a", "b", "guard"),
    [
        ("It doubles throughput. # vLLM", "It doubles throughput. # SGLang", "context"),
        ("It doubles throughput. # vLLM", "It doubles throughput.", "context"),
        ("It doubles throughput. # Guide > vLLM", "It doubles throughput. # vLLM", ""),
        ("The default is off. # cache", "The default is off. # queue", "context"),
        (
            "Paging splits the cache into blocks. # Overview @ Paging",
            "Paging splits the cache into blocks. # Memory @ Paging",
            "",
        ),
        ("Paging splits the cache. # v0.5 @ Paging", "Paging splits the cache. # v0.6 @ Paging", "context"),
    ],
)
def test_a_context_counts_where_the_statement_needs_it_or_a_version_is_in_it(a: str, b: str, guard: str) -> None:
    """The same words under another heading are the same fact only when they can be read without it."""
    assert fired(side(a), side(b)) == guard


@pytest.mark.parametrize(
    ("a", "b", "guard"),
    [
        ("Defaults to 9. # GZip > compresslevel", "Defaults to 600. # CORS > max_age", "context"),
        ("Defaults to 9. # GZip > compresslevel", "Defaults to 6. # GZip in short > compresslevel", "numbers"),
        ("Defaults to 9. # compresslevel", "Defaults to 6.", "numbers"),
        ("It keeps 3 copies. # Release 1", "It keeps 4 copies. # Release 2", "numbers"),
        ("It keeps 3 copies. # Archive", "It keeps 4 copies. # Relay", "context"),
        ("The archive keeps 3 copies of each file. # A", "The archive keeps 4 copies of each file. # B", "numbers"),
    ],
)
def test_what_is_said_of_different_things_is_no_disagreement(a: str, b: str, guard: str) -> None:
    """Figures of statements that cannot be read without their contexts are compared within one alone."""
    assert fired(side(a), side(b)) == guard
    assert fired(side(b), side(a)) == guard


def test_one_thing_allows_one_other_word_a_side() -> None:
    """Statements that differ in a figure, a negation or one word are about one thing; else they may be about two."""
    assert one_thing("The pool holds 16 blocks.", "The pool does not hold 32 blocks.")
    assert one_thing("The lease lasts 10 minutes.", "The lease lasts 10 seconds.")
    assert not one_thing("The pool holds 16 blocks.", "The spare disk pool holds 32 blocks.")


def test_the_frame_is_what_remains_without_figures_and_negation() -> None:
    """A frame is the same where only figures, a negation or one pair of opposites differ."""
    assert same_frame("In v0.5 the pool holds 16 blocks.", "In v0.6 the pool holds 32 blocks.")
    assert same_frame("vLLM 0.4 does not support LoRA.", "vLLM 0.5 supports LoRA.")
    assert same_frame("Caching is enabled in v1.2.", "Caching is disabled in v1.3.")
    assert not same_frame("v0.5 adds 3 kernels for LoRA.", "v0.6 adds 5 kernels for MoE.")
