"""Content words and the roles they play."""

import pytest

from kb_pipeline.rules.wording import content, difference, same_roles, same_words


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Kafka guarantees ordering within a partition.", "Within a partition, Kafka guarantees ordering."),
        ("Git stores each version as a blob.", "Each version is stored by Git as a blob."),
        ("The backup is taken every night.", "Every night the backup is taken."),
        ("The router sent the token.", "The router sends the tokens"),
        ("The client can't write.", "A client cannot write."),
    ],
)
def test_the_same_words_in_the_same_roles(a: str, b: str) -> None:
    """A moved phrase, a passive turned active, number, tense and articles make no difference."""
    assert same_words(a, b)
    assert same_words(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The user service calls the order service.", "The order service calls the user service."),
        ("A square is a rectangle.", "A rectangle is a square."),
        ("Data is copied from the leader to the replica.", "Data is copied from the replica to the leader."),
        ("Data moves from the CPU to the GPU.", "Data moves to the CPU from the GPU."),
        ("The enzyme was inhibited by the drug.", "The enzyme inhibits the drug."),
        ("Service A depends on service B.", "Service B depends on service A."),
        ("If the cache is full, the queue grows.", "If the queue grows, the cache is full."),
        ("Obesity increases the risk of diabetes.", "Diabetes increases the risk of obesity."),
    ],
)
def test_the_same_words_in_other_roles(a: str, b: str) -> None:
    """Who does what to whom, from where and under which condition is part of a statement."""
    assert not difference(a, b)
    assert not same_roles(a, b)
    assert not same_roles(b, a)


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


def test_stems_may_be_declared_alike() -> None:
    """A table of stems that count as one makes two wordings the same."""
    a, b = "Redis runs commands on one thread.", "Redis executes commands on one thread."
    assert not same_words(a, b)
    assert same_words(a, b, {"execut": "run"})


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


def test_nothing_but_function_words_is_never_the_same() -> None:
    """Two sentences without a content word have nothing that could be the same."""
    assert not same_words("It is on.", "It was off.")
    assert not same_words("", "")


def test_another_script_needs_equal_order() -> None:
    """Text in another script is the same only when it is equal."""
    assert same_words("缓存按块存储", "缓存按块存储。")
    assert not same_words("缓存按块存储", "缓存按页存储")
