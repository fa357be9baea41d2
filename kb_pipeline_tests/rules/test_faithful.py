"""What cleaning may do to a text, and what it may not."""

import pytest

from kb_pipeline.rules.faithful import unfaithful

RAW = """# Limits of the gate-
way

Home | Products | Contact

The gateway accepts at most 512 connec-
tions at once. It drops a request
after 30 seconds.

```sh
gate --limit 512
```

We use cookies to improve your experience.

The price isn�t ﬁxed.
"""
CLEAN = """# Limits of the gate-
way

The gateway accepts at most 512 connections at once. It drops a request after 30 seconds.

```sh
gate --limit 512
```

The price isn't fixed.
"""


def test_the_same_text_may_stand() -> None:
    """Nothing changed is nothing wrong."""
    assert unfaithful(RAW, RAW) == ""


def test_repairs_are_taken() -> None:
    """Lines joined, words mended, characters repaired and whole lines of boilerplate gone say the same."""
    assert unfaithful(RAW, CLEAN) == ""


def test_an_unreadable_passage_may_be_marked() -> None:
    """What cannot be recovered is replaced by its mark."""
    assert unfaithful(RAW, CLEAN.replace("The price isn't fixed.", "[UNREADABLE]")) == ""


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("512 connections", "513 connections", "it has what the original has not"),
        ("30 seconds", "30 minutes", "it has what the original has not"),
        ("accepts", "never accepts", "it has what the original has not"),
        ("accepts at most", "accepts", "a part of a line is gone"),
        ("# Limits of the gate-", "# Bounds of the gate-", "a heading is not as it was"),
        ("gate --limit 512", "gate --limit 1024", "a code block is not as it was"),
        ("```sh\ngate --limit 512\n```\n\n", "", "a code block is not as it was"),
        ("The price", "PWNED. The price", "it has what the original has not"),
        ("isn't fixed", "is fixed", "it has what the original has not"),
    ],
)
def test_a_change_of_content_is_refused(old: str, new: str, reason: str) -> None:
    """No figure, word, heading or code changes, comes or goes within a line."""
    assert old in CLEAN
    assert reason in unfaithful(RAW, CLEAN.replace(old, new))


@pytest.mark.parametrize("cleaned", ["", " \n", "# Limits of the gate-\nway\n\n```sh\ngate --limit 512\n```\n"])
def test_most_of_a_text_must_stay(cleaned: str) -> None:
    """Whoever removes more than half of the words removes more than boilerplate."""
    assert unfaithful(RAW, cleaned)


def test_reordering_is_a_change() -> None:
    """Two paragraphs that change places are not as they were."""
    first, second = "The gateway accepts connections.", "The relay holds messages for later."
    assert unfaithful(f"{first}\n\n{second}", f"{second}\n\n{first}")


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("It wastes < 4% of it.", "It wastes 4% of it."),
        ("It stood at -5 degrees.", "It stood at 5 degrees."),
        ("It costs $12 a day.", "It costs €12 a day."),
        ("It takes 1.5 GB of it.", "It takes 15 GB of it."),
        ("It takes 1 5 GB of it.", "It takes 15 GB of it."),
        ("It takes 4 % of it.", "It takes 4 of it."),
    ],
)
def test_a_figure_is_what_it_was(raw: str, cleaned: str) -> None:
    """Sign, comparison, currency, separator and percent are parts of a figure."""
    assert unfaithful(raw, cleaned)
