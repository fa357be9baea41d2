"""Include and exclude patterns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.sources.globs import Selection


@pytest.mark.parametrize(
    ("pattern", "taken", "left"),
    [
        ("*.md", ["a.md", "x/y/a.md"], ["a.mdx", "md", "a.md.txt"]),
        ("/*.md", ["a.md"], ["x/a.md"]),
        ("docs/*.md", ["docs/a.md"], ["docs/x/a.md", "x/docs/a.md"]),
        ("docs/**/*.md", ["docs/a.md", "docs/x/y/a.md"], ["a.md", "docs/a.txt"]),
        ("**/*.md", ["a.md", "x/a.md"], ["a.txt"]),
        ("**", ["a", "x/y/z"], []),
        ("docs/**", ["docs/a", "docs/x/y"], ["docsa", "x/docs/a"]),
        ("docs", ["docs", "docs/a", "x/docs/b"], ["docsx/a"]),
        ("docs/", ["docs/a", "x/docs/b"], ["docs"]),
        ("./docs/a.md", ["docs/a.md"], ["a.md"]),
        ("a?.md", ["ab.md"], ["a.md", "a/.md", "abc.md"]),
        ("[ab].md", ["a.md", "b.md"], ["c.md"]),
        ("[!ab].md", ["c.md"], ["a.md"]),
        ("[^ab].md", ["c.md"], ["a.md"]),
        ("[+--].md", [",.md", "-.md"], ["a.md"]),
        ("[a&&b||c].md", ["a.md", "&.md", "|.md"], ["d.md"]),
        ("[z-a].md", ["[z-a].md"], ["z.md"]),
        ("[.md", ["[.md"], ["x.md"]),
        ("*.{md,txt}", ["a.md", "x/a.txt"], ["a.rst"]),
        ("{a}.md", ["{a}.md"], ["a.md"]),
        (r"\*.md", ["*.md"], ["a.md"]),
        ("a+b (1).md", ["a+b (1).md"], ["aab 1.md"]),
        ("日本/*.md", ["日本/語.md"], ["日/語.md"]),
    ],
)
def test_patterns_mean_what_they_mean_in_gitignore(pattern: str, taken: list[str], left: list[str]) -> None:
    """Names match at any depth, paths from the top; * stops at slashes, ** does not; a folder means all below it."""
    selection = Selection([pattern], [])
    assert [path for path in taken if not selection.takes(path)] == []
    assert [path for path in left if selection.takes(path)] == []


def test_exclude_wins_over_include() -> None:
    """What exclude names is left out with all below it, whatever include says."""
    selection = Selection(["*.md"], ["drafts", "b.md"])
    assert selection.takes("a.md")
    assert not selection.takes("drafts/a.md")
    assert not selection.takes("x/b.md")
    assert not selection.enters("drafts", "drafts")


@pytest.mark.parametrize(
    "path",
    [
        ".git/config", ".hidden/a.md", "a/.b.md", ".DS_Store", "node_modules/x/readme.md", "x/__pycache__/a.py",
        "a.pyc", ".venv/a.py", "~$report.docx", "notes.md~", "Thumbs.db",
    ],
)  # fmt: skip
def test_what_nobody_wrote_is_skipped(path: str) -> None:
    """Hidden files, caches, dependencies and editors' leftovers are no documents, unless include names them."""
    assert not Selection([], []).takes(path)
    assert not Selection(["*", "**"], []).takes(path)
    assert Selection([path], []).takes(path)


def test_hidden_folders_are_taken_where_a_pattern_names_them() -> None:
    """A part of an include pattern that begins with a dot opens such names, but version control only by its name."""
    selection = Selection([".github/**", ".*"], [])
    assert selection.takes(".github/workflows/a.yml")
    assert selection.takes(".config")
    assert not selection.takes(".git/config")
    assert not Selection([".github/**"], []).takes(".other/a.md")


@given(st.text(alphabet="ab*?[]{},!\\/.-", max_size=12), st.text(alphabet="ab/.", max_size=8))
def test_no_pattern_breaks(pattern: str, path: str) -> None:
    """Any text is a pattern."""
    assert Selection([pattern], [pattern]).takes(path) in (True, False)
