"""Whether sentences with the same words use them in the same parts."""

from itertools import combinations

import pytest

from kb_pipeline.records import Side
from kb_pipeline.rules.guards import fired
from kb_pipeline.rules.restating import same_words
from kb_pipeline.rules.roles import same_roles
from kb_pipeline.rules.synonyms import SYNONYMS
from kb_pipeline.rules.wording import difference
from kb_pipeline_tests import labelled_pairs


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Kafka guarantees ordering within a partition.", "Within a partition, Kafka guarantees ordering."),
        ("Git stores each version as a blob.", "Each version is stored by Git as a blob."),
        ("The backup is taken every night.", "Every night the backup is taken."),
        ("The router sent the token.", "The router sends the tokens"),
        ("The client can't write.", "A client cannot write."),
        ("Owners alone can delete logs.", "Logs can be deleted by owners alone."),
        ("Only owners can delete logs.", "Logs can only be deleted by owners."),
        ("When the queue is full, the worker waits.", "The worker waits when the queue is full."),
        ("In Rust, lifetimes are checked at compile time.", "Rust checks lifetimes at compile time."),
        ("The size of the page cache is fixed.", "The page cache size is fixed."),
        ("Customers in the EU pay in euros.", "EU customers pay in euros."),
        ("Containers which have crashed are restarted.", "Crashed containers are restarted."),
        ("A replica is promoted automatically.", "A replica is automatically promoted."),
        ("Before the file is read, the lock is taken.", "Before reading the file, the lock is taken."),
        ("We trained the model on images.", "The model was trained on images."),
        ("The default port is 8080.", "By default, the port is 8080."),
        ("The port defaults to 8080.", "By default, the port is 8080."),
        ("Files are moved from the queue to disk.", "Files are moved to disk from the queue."),
        ("Calls to a host that fails are stopped by a breaker.", "A breaker stops calls to a host that fails."),
        ("The daemon's log is written to disk.", "The daemon writes its log to disk."),
        ("Toggles are evaluated on the server.", "The server evaluates toggles."),
        ("A token is used to sign requests.", "A token signs requests."),
        ("The thermostat turns the heating off.", "Heating is turned off by the thermostat."),
        ("Fields that are unknown are ignored.", "Fields that are not known are ignored."),
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
        ("The order service is called by the cart service.", "The cart service is called by the order service."),
        ("Redis is compared with Kafka.", "Kafka is compared with Redis."),
        ("Redis is used with Celery.", "Redis uses Celery."),
        ("As the queue grows, latency rises.", "As latency rises, the queue grows."),
        ("When the cache is cold the database is slow.", "When the database is cold the cache is slow."),
        ("The manager of the director signs.", "The director of the manager signs."),
        ("The mean of the maximum values is kept.", "The maximum of the mean values is kept."),
        ("Clients in zone A read from hosts in zone B.", "Clients in zone B read from hosts in zone A."),
        ("The build runs on every commit.", "Every commit runs on the build."),
        ("The service is deployed with Helm in staging.", "Helm is deployed with the service in staging."),
        ("Light is focused on the retina by the lens.", "Light is focused on the lens by the retina."),
        ("Unreachable code is eliminated by the tool.", "The tool is eliminated by unreachable code."),
        ("All tests depend on the network.", "The network depends on all tests."),
        ("Small files are kept on disk and large files in S3.", "Large files are kept on disk and small files in S3."),
        ("With -n the plan is printed and nothing is changed.", "With -n the plan is changed and nothing is printed."),
        (
            "The server restarts automatically and the client waits.",
            "The server restarts and the client automatically waits.",
        ),
    ],
)
def test_the_same_words_in_other_roles(a: str, b: str) -> None:
    """Who does what to whom, from where and under which condition is part of a statement."""
    assert not difference(a, b)
    assert not same_roles(a, b)
    assert not same_roles(b, a)


def test_stems_may_be_declared_alike() -> None:
    """A table of stems that count as one makes two wordings the same."""
    a, b = "Redis runs commands on one thread.", "Redis executes commands on one thread."
    assert not same_words(a, b)
    assert same_words(a, b, {"execut": "run"})


def test_nothing_but_function_words_is_never_the_same() -> None:
    """Two sentences without a content word have nothing that could be the same."""
    assert not same_words("It is on.", "It was off.")
    assert not same_words("", "")


def test_another_script_needs_equal_order() -> None:
    """Text in another script is the same only when it is equal."""
    assert same_words("缓存按块存储", "缓存按块存储。")
    assert not same_words("缓存按块存储", "缓存按页存储")


def test_of_a_very_long_sentence_only_equal_order_counts() -> None:
    """Beyond the bound nothing is rearranged, so that no pair of sentences takes long."""
    tail = " and".join(f" writes part {n} of it to disk" for n in range(10))
    front, back = f"In spring, the worker{tail}.", f"The worker{tail} in spring."
    assert not difference(front, back)
    assert not same_words(front, back)
    assert same_words(front, front)


_NAMES = ["leader", "follower", "cache", "queue", "worker", "Redis", "Kafka"]
_FRAMES = [
    "The {} calls the {}.",
    "The {} is called by the {}.",
    "If the {} fails, the {} stops.",
    "The {} stops when the {} fails.",
    "Data moves from the {} to the {}.",
    "The {} of the {} is kept.",
    "With the {} the {} is started.",
    "In the {} the {} is checked automatically.",
    "The {} in zone A reads from the {} in zone B.",
    "The {} is faster than the {}.",
    "Before the {} is stopped, the {} is saved.",
    "The {} lets the {} retry, and the log is kept.",
]


@pytest.mark.parametrize("frame", _FRAMES)
def test_two_names_that_change_places_are_another_statement(frame: str) -> None:
    """In no frame may two things change their parts, in whichever direction it is asked."""
    for one, other in combinations(_NAMES, 2):
        assert not same_words(frame.format(one, other), frame.format(other, one), SYNONYMS)
        assert not same_words(frame.format(other, one), frame.format(one, other), SYNONYMS)


def test_it_does_not_matter_which_sentence_comes_first() -> None:
    """Over all labelled pairs the answer is the same both ways, and a sentence says what it says."""
    for pair in labelled_pairs.tune():
        assert same_words(pair.a, pair.b, SYNONYMS) == same_words(pair.b, pair.a, SYNONYMS)
        assert same_words(pair.a, pair.a)


def test_no_other_pair_has_the_same_words_and_no_guard() -> None:
    """Whatever its vectors, no labelled pair but a paraphrase could be merged by rule."""
    merged = [
        pair
        for pair in labelled_pairs.tune()
        if same_words(pair.a, pair.b, SYNONYMS) and not fired(Side(statement=pair.a), Side(statement=pair.b))
    ]
    assert {pair.label for pair in merged} == {"merge"}
    assert len(merged) >= 100
