"""What has grown old or loose: thresholds, links, tags and categories."""

from datetime import UTC, datetime

import pytest

from kb_pipeline.records import Category, Citation, Item, Taxonomy
from kb_pipeline.rules import staleness
from kb_pipeline.rules.staleness import Places

NOW = datetime(2026, 6, 1, tzinfo=UTC)
CITATION = Citation(
    doc_id="", uri="", source_type="note", license="", source_span="x", start=0, end=1, content_hash="", version="",
    fetched_at="",
)  # fmt: skip


def item(name: str, *docs: str, category: str = "A", tags: tuple[str, ...] = (), status: str = "active") -> Item:
    sources = tuple(CITATION.model_copy(update={"doc_id": doc}) for doc in docs)
    return Item.model_validate(
        {
            "id": name,
            "statement": name,
            "primary_category": category,
            "tags": tags,
            "status": status,
            "sources": sources,
        }
    )


def test_an_item_is_old_with_its_only_source() -> None:
    """One old document makes an item old; a second document, a newer date or another status does not."""
    dates = {"n/old": "2024-01-01", "n/new": "2026-05-01"}
    items = [item("a", "n/old"), item("b", "n/old", "n/new"), item("c", "n/new"), item("d", "n/old", status="retired")]
    assert [(old.id, old.date) for old in staleness.old_items(items, dates, NOW)] == [("a", "2024-01-01")]


PLACES = Places(
    frozenset({"n/a/here.md", "n/top.md", "web/x"}), {"n/a/gone.md": "gone since 2026", "https://x.org/p": "gone"}
)


@pytest.mark.parametrize(
    ("target", "dead"),
    [
        ("gone.md", True),
        ("../a/gone.md#part", True),
        ("missing.md", True),
        ("../top.md", False),
        ("here.md", False),
        ("#part", False),
        ("/abs.md", False),
        ("picture.png", False),
        ("mailto:a@b.org", False),
        ("https://x.org/p", True),
        ("https://x.org/p#part", True),
        ("https://x.org/q", False),
    ],
)
def test_a_link_is_dead_where_its_target_is_on_record_as_gone(target: str, dead: bool) -> None:
    """Relative links go by the document's folder; what nobody knows anything of is not called dead."""
    found = list(staleness.dead_links("n/a/here.md", f"See [it]({target}) and [again]({target}).", PLACES))
    assert [link.target for link in found] == [target] * dead


def test_links_in_code_and_pictures_are_none() -> None:
    """Code shows links, it has none."""
    assert not list(staleness.dead_links("n/a/here.md", "```\n[it](gone.md)\n```\n![it](gone.md)", PLACES))


def test_tags_that_may_be_one_are_named() -> None:
    """Written apart and as one, or alike in letters; numbers and short names tell apart."""
    taxonomy = Taxonomy(tags={"kv-cache": (), "unused": ()})
    items = [
        item("a", tags=("kvcache", "scheduler", "python-3-11")),
        item("b", tags=("schedulers", "python-3-12", "tcp", "tcs")),
    ]
    counts = staleness.tag_counts(items)
    assert {(t.a, t.b) for t in staleness.near_tags(taxonomy, counts)} == {
        ("kv-cache", "kvcache"),
        ("scheduler", "schedulers"),
    }
    assert staleness.unused_tags(taxonomy, counts) == ["kv-cache", "unused"]


def test_categories_too_wide_or_empty_are_named() -> None:
    """The share of the unclassified is told apart from categories that hold too much or nothing."""
    categories = tuple(Category(name=name, description="", keywords=()) for name in ("A", "B", "C"))
    items = [
        *(item(f"a{n}") for n in range(60)),
        item("b", category="B"),
        *(item(f"u{n}", category="UNCLASSIFIED") for n in range(39)),
    ]
    share, wide, empty = staleness.widths(items, Taxonomy(categories=categories), "UNCLASSIFIED")
    assert (share, [(w.category, w.items, w.share) for w in wide], empty) == (0.39, [("A", 60, 0.6)], ["C"])
