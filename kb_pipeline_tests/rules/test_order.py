"""Which of two statements is newer, and when nobody can tell."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.records import Side
from kb_pipeline.rules.guards import fired
from kb_pipeline.rules.order import newer, place


def which(a: str, b: str, places_a: Any = (), places_b: Any = (), contexts: tuple[str, str] = ("", "")) -> str | None:
    x, y = Side(statement=a, context=contexts[0] or None), Side(statement=b, context=contexts[1] or None)
    found = newer(x, y, fired(x, y), places_a, places_b)
    return found.which if found else None


@pytest.mark.parametrize(
    ("doc", "lineage", "version"),
    [
        ("docs/guide-v0.5.md", "docs/guide-*.md", "0.5"),
        ("docs/guide-v0.10.1.md", "docs/guide-*.md", "0.10.1"),
        ("lib/0.13.0/index.md", "lib/*/index.md", "0.13.0"),
        ("s/minutes-2024-01-05.md", "s/minutes-*.md", ""),
        ("s/20240105_minutes.md", "s/*_minutes.md", ""),
        ("s/python3.11.md", "s/python3.11.md", ""),
        ("s/http2-notes.md", "s/http2-notes.md", ""),
    ],
)
def test_a_lineage_is_a_path_without_its_versions_and_dates(doc: str, lineage: str, version: str) -> None:
    """Versions of one document share a lineage; digits that belong to a name stay."""
    found = place(doc, "2024-01-05")
    assert (found.lineage, found.version, found.date) == (lineage, version, "2024-01-05")


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        ("In v0.5 the pool holds 16 blocks.", "In v0.10 the pool holds 32 blocks.", "b"),
        ("The latest stable release is 1.15.", "The latest stable release is 1.14.", "a"),
        ("vLLM v0.4 does not support LoRA.", "vLLM v0.5 supports LoRA.", "b"),
        ("In v1.2 caching is enabled.", "In v1.3 caching is disabled.", "b"),
        ("In v0.5 the pool holds 16 blocks.", "In v0.6 the pool holds 16 blocks.", None),
        ("The driver needs CUDA 11.8.", "The driver needs CUDA 12.1.", None),
        ("The pool holds 16 blocks.", "The pool holds 32 blocks.", None),
        ("v0.5 adds 3 kernels for LoRA.", "v0.6 adds 5 kernels for MoE.", None),
        ("With TLS 1.2 the handshake takes 2 trips.", "With TLS 1.3 the handshake takes 1 trips.", None),
        ("Siskin v0.5 does not support paging.", "Siskin v0.6 does not support paging on the A100.", None),
        ("In v0.5 the pool of 4 GPUs holds 16 blocks.", "In v0.6 the pool of 8 GPUs holds 32 blocks.", None),
    ],
)
def test_a_version_in_the_text_gives_the_order_of_one_changed_value(a: str, b: str, wanted: str | None) -> None:
    """A higher version supersedes where one value changed and all else is the same; elsewhere nobody can tell."""
    assert which(a, b) == wanted
    assert which(b, a) == {"a": "b", "b": "a", None: None}[wanted]


def test_a_version_in_the_heading_gives_the_order() -> None:
    """Headings that differ in their version alone order what stands under them."""
    a, b = "The pool holds 16 blocks.", "The pool holds 32 blocks."
    assert which(a, b, contexts=("Release v0.5", "Release v0.6")) == "b"
    assert which(a, b, contexts=("Release v0.5", "Roadmap v0.6")) is None


def test_the_newest_place_in_a_shared_lineage_decides() -> None:
    """What was said in v0.5 and again in v0.7 is newer than what v0.6 said; one document alone gives no order."""
    a, b = "The pool holds 16 blocks.", "The pool holds 32 blocks."
    five, six, seven = (place(f"d/guide-v0.{n}.md") for n in (5, 6, 7))
    assert which(a, b, [five], [six]) == "b"
    assert which(a, b, [five, seven], [six]) == "a"
    assert which(a, b, [six], [six]) is None
    assert which(a, b, [five], [place("e/guide-v0.6.md")]) is None


def test_dates_count_only_when_both_are_explicit_and_evidence_must_agree() -> None:
    """Effective dates of one lineage order it; a missing date or a version against a date is no evidence."""
    a, b = "The pool holds 16 blocks.", "The pool holds 32 blocks."
    old, new = place("d/x-2024-01-01.md", "2024-01-01"), place("d/x-2025-01-01.md", "2025-01-01")
    assert which(a, b, [old], [new]) == "b"
    assert which(a, b, [old], [place("d/x-2025-01-01.md")]) is None
    against = (place("d/g-v0.5.md", "2025-01-01"), place("d/g-v0.6.md", "2024-01-01"))
    assert which(a, b, [against[0]], [against[1]]) is None


def test_rewording_is_never_superseding() -> None:
    """Without a guard there is nothing to replace, whatever the lineage says."""
    assert which("The pool holds blocks.", "The pool keeps blocks.", [place("d/g-v1.md")], [place("d/g-v2.md")]) is None


_statements = st.sampled_from(
    [
        "In v0.5 the pool holds 16 blocks.",
        "In v0.6 the pool holds 32 blocks.",
        "The pool holds 16 blocks.",
        "The pool holds 32 blocks.",
        "The latest stable release is 1.14.",
        "The latest stable release is 1.15.",
    ]
)
_places = st.lists(
    st.sampled_from(
        [
            *(place(f"d/guide-v0.{n}.md", date) for n in (5, 6, 7) for date in ("", "2024-01-01", "2025-01-01")),
            *(place(f"d/notes-{date}.md", date) for date in ("2024-01-01", "2025-01-01")),
            place("e/other.md", "2026-01-01"),
        ]
    ),
    max_size=3,
)


@given(a=_statements, b=_statements, ours=_places, theirs=_places, data=st.data())
def test_the_newer_side_is_the_same_from_both_sides_and_in_any_order(
    a: str, b: str, ours: Any, theirs: Any, data: Any
) -> None:
    """A pair turned round turns the answer round, the order of places is no matter, nothing is newer than itself."""
    found = which(a, b, ours, theirs)
    assert which(b, a, theirs, ours) == {"a": "b", "b": "a", None: None}[found]
    assert which(a, b, data.draw(st.permutations(ours)), data.draw(st.permutations(theirs))) == found
    assert which(a, a, ours, ours) is None
