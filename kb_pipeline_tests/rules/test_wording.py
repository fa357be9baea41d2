"""Content words."""

import pytest

from kb_pipeline.rules.wording import content, difference


@pytest.mark.parametrize(
    ("a", "b", "scope"),
    [
        ("All requests are logged.", "Some requests are logged.", True),
        ("Only administrators delete projects.", "Administrators delete projects.", True),
        ("The cache is cleared.", "The cache is cleared if the schema changed.", True),
        ("Replication is slow between regions.", "Replication is slow within a region.", True),
        ("Joins are reordered.", "Inner joins are reordered.", False),
        ("The tokenizer is written in Rust.", "The tokenizer is written in Go.", False),
        ("Heads are shared by queries.", "Heads are shared among queries.", False),
    ],
)
def test_a_difference_of_scope_is_told_from_one_of_content(a: str, b: str, scope: bool) -> None:
    """Quantifiers, modals and added conditions change the scope; another noun changes the content."""
    found = difference(a, b)
    assert found
    assert found.scope is scope
    assert difference(b, a).scope is scope


def test_names_code_and_figures_are_content() -> None:
    """Flags, identifiers and capitals that name something survive; articles and auxiliaries do not."""
    assert content("It is kept in the US for us") == ("keep", "us")
    assert content("The option --dry-run sets top_k of node B to 0.5") == (
        "option",
        "--dry-run",
        "set",
        "top_k",
        "node",
        "B",
        "0.5",
    )
