"""Figures are read as written and compared conservatively."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.rules.numbers import antonyms, differs, negated, quantities, supported, version_key, versions


@pytest.mark.parametrize(
    ("text", "kind", "values", "unit", "surface"),
    [
        ("wasting 60-80% of memory", "range", ("60", "80"), "%", "60-80%"),
        ("between 2 and 4 GB of memory", "range", ("2", "4"), "GB", "2 and 4 GB"),
        ("grows 2–4x", "range", ("2", "4"), "x", "2–4x"),
        ("default 16 tokens", "number", ("16",), "token", "16"),
        ("16-token blocks", "number", ("16",), "token", "16"),
        ("about 1,000,000 rows", "number", ("1000000",), "row", "1,000,000"),
        ("P<.05", "number", ("0.05",), "", ".05"),
        ("at -0.5 or so", "number", ("-0.5",), "", "-0.5"),
        ("a rate of 1e-5", "number", ("1e-5",), "", "1e-5"),
        ("under 4 % waste", "percent", ("4",), "%", "4 %"),
        ("4 percent", "percent", ("4",), "%", "4 percent"),
        ("a 13B model", "size", ("13",), "B", "13B"),
        ("40 GB of memory", "size", ("40",), "GB", "40 GB"),
        ("on an A100-40GB here", "identifier", ("A100-40GB",), "", "A100-40GB"),
        ("an IL-6-induced rise", "identifier", ("IL-6",), "", "IL-6"),
        ("at 127.0.0.1 only", "identifier", ("127.0.0.1",), "", "127.0.0.1"),
        ("since v1.13.28", "version", ("1.13.28",), "", "1.13.28"),
        ("needs 1.2.3rc1 now", "version", ("1.2.3rc1",), "", "1.2.3rc1"),
        ("version 2 of it", "version", ("2",), "", "2"),
        ("on 2026-01-31", "date", ("2026-01-31",), "", "2026-01-31"),
        ("two blocks", "number", ("2",), "block", "two"),
        ("twice as fast", "number", ("2",), "time", "twice"),
        ("使用16个块", "number", ("16",), "", "16"),
    ],
)
def test_reads_a_figure(text: str, kind: str, values: tuple[str, ...], unit: str, surface: str) -> None:
    """A figure is read whole, with its kind, its values and the unit that follows it."""
    (q,) = quantities(text)
    assert (q.kind, q.values, q.unit, q.surface) == (kind, values, unit, surface)


@given(st.text(alphabet="0123456789.,-–%xvABGk ettow\n使", max_size=40))
def test_surfaces_are_slices(text: str) -> None:
    """Whatever the text, each figure's surface is the slice at its offsets and figures do not overlap."""
    end = 0
    for q in quantities(text):
        assert q.surface == text[q.start : q.end]
        assert q.start >= end
        end = q.end


def test_one_is_no_figure() -> None:
    """``one`` is a pronoun as often as a number, so it is not counted."""
    assert quantities("one of the servers") == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("In Python 3.11 and with vLLM 0.5", ("3.11", "0.5")),
        ("v1.13.28 replaces 1.13.27.", ("1.13.28", "1.13.27")),
        ("As Figure 3.2 shows, about 3.5 times", ()),
        ("In Rats 3.5% died", ()),
        ("release 0.9 and version 2", ("0.9", "2")),
        ("Mean 3.2 was seen", ()),
    ],
)
def test_finds_versions(text: str, expected: tuple[str, ...]) -> None:
    """Two-part numbers are versions only after a name or the word, three-part ones always."""
    assert versions(text) == expected


def test_orders_versions() -> None:
    """Versions are ordered by number, a pre-release before its release, trailing zeros aside."""
    ordered = ["0.9", "1.2", "1.9.1", "1.10rc1", "1.10rc2", "1.10", "v2"]
    assert sorted(["v2", "1.10", *ordered[:5]], key=version_key) == ordered
    assert version_key("1.2.0") == version_key("1.2")


@pytest.mark.parametrize(
    ("a", "b", "guard"),
    [
        ("wastes 60-80% of memory", "wastes 70% of memory", "numbers"),
        ("wastes 60-80% of memory", "wastes 60 to 80 percent of memory", ""),
        ("blocks of 16 tokens", "16 blocks of tokens", "units"),
        ("blocks of 16 tokens", "a size of 16", ""),
        ("takes 16 tokens", "takes 32 tokens", "numbers"),
        ("a 13B model", "a model of 13 bytes", "units"),
        ("takes 4% of it", "takes 4 of it", "units"),
        ("takes 4 % of it", "takes 4% of it", ""),
        ("has 1,000 rows", "has 1000 rows", ""),
        ("takes 5 ms", "takes 5 s", "units"),
        ("takes 5 seconds", "takes 5 s", ""),
        ("since 1.2.3", "since 1.2", "numbers"),
        ("since v0.5", "since v0.6", "versions"),
        ("since v0.5", "", "versions"),
        ("runs on an A100-40GB", "runs on an A100-80GB", "numbers"),
        ("A takes 3, B takes 5", "A takes 5, B takes 3", "numbers"),
        ("8 GPUs give 3x", "3x is given by 8 GPUs", ""),
        ("uses two blocks", "uses 2 blocks", ""),
        ("is twice as fast", "is three times as fast", "numbers"),
        ("runs on Python 3.11", "Python runs in 3.11", ""),
        ("runs on Python 3.11", "Python runs in 3.12", "numbers"),
        ("TLS 1.3 completes the handshake", "The TLS 1.3 handshake completes", ""),
        ("port 8080 accepts requests", "requests on port 8080 are accepted", ""),
        ("The HR 0.84 favours treatment", "a treatment HR 0.84 is shown", ""),
        ("It needs CUDA 12 GB", "It needs CUDA 12 MB", "units"),
        ("The reactor gives 12 MW", "The reactor gives 12 mW", "units"),
        ("Retention is 7 days", "Retention is 7 weeks", "units"),
        ("says nothing in figures", "nor does this", ""),
    ],
)
def test_tells_figures_apart(a: str, b: str, guard: str) -> None:
    """The guard names what differs, in both directions, and stays silent where figures are the same."""
    assert differs(a, b) == guard
    assert differs(b, a) == guard


@pytest.mark.parametrize(
    ("statement", "text", "missing"),
    [
        ("It wastes 60-80%.", "wasting 60-80% of KV memory", ()),
        ("It wastes 80%.", "wasting 60-80% of KV memory", ("80%",)),
        ("It falls to 0.630.", "lowers it from 0.686 to 0.630", ()),
        ("It takes 4%.", "takes 4 tokens", ("4%",)),
        ("An A100 with 40GB.", "on an A100-40GB", ()),
        ("A V100.", "on an A100-40GB", ("V100",)),
        ("Needs 1.2.4.", "needs v1.2.3", ("1.2.4",)),
        ("Uses 2 blocks and 1 buffer.", "two blocks and one buffer", ()),
        ("Has 1000 rows.", "with 1,000 rows", ()),
    ],
)
def test_guards_numbers(statement: str, text: str, missing: tuple[str, ...]) -> None:
    """A figure of the statement that the text does not hold is named."""
    assert supported(statement, text) == missing


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It does not support streaming.", True),
        ("It doesn't stream.", True),
        ("It is not unable to stream.", False),
        ("It streams not only text.", False),
        ("Neither text nor bytes are streamed.", True),
        ("Blocks are non-contiguous.", True),
        ("See no. 5 for streaming.", False),
        ("It streams no more than 5 chunks.", False),
        ("It streams no longer.", True),
        ("It streams.", False),
    ],
)
def test_counts_negations(text: str, expected: bool) -> None:
    """A text is negated when it negates an odd number of times."""
    assert negated(text) is expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("X increases latency", "X decreases latency", True),
        ("runs before the request", "runs after the request", True),
        ("the gene is upregulated", "the gene is downregulated", True),
        ("enable caching", "disable caching", True),
        ("more or less the same", "more of the same", False),
        ("increases latency", "raises latency", False),
        ("is on by default", "is off by default", True),
        ("opts in to tracking", "opts out of tracking", True),
    ],
)
def test_knows_opposites(a: str, b: str, expected: bool) -> None:
    """Opposites count when each text holds one side only."""
    assert antonyms(a, b) is expected
    assert antonyms(b, a) is expected
