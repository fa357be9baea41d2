"""Whether two sentences say the same when a construction of English accounts for what one of them has more."""

import pytest

from kb_pipeline.records import Pair, Side
from kb_pipeline.rules import decisions, guards
from kb_pipeline.rules.spellings import levelled


def decided(a: str, b: str) -> str:
    """What rules decide of two statements that lie close."""
    left, right = Side(statement=a), Side(statement=b)
    pair = Pair(a=left, b=right, cosine=0.9, ratio=0.8, guard=guards.fired(left, right))
    verdict = decisions.rule(pair, None, same_document=False)
    return verdict.decision if verdict else "asked"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Draft model and target model share a key.", "Draft and target model share a key."),
        ("Certificate renewal is performed by the agent.", "The agent renews certificates."),
        ("The opening of the bridge took place in 1932.", "The bridge was opened in 1932."),
        ("The tower contains ten floors.", "There are ten floors in the tower."),
        ("We use Redis for caching.", "Redis is used for caching."),
        ("The index lets analysts query logs.", "With the index, analysts can query logs."),
        ("Duplicate keys cause the import to fail.", "The import fails because of duplicate keys."),
        ("A placebo was given to 4,000 children.", "4,000 children received a placebo."),
        ("The battery must be stored at room temperature.", "Store the battery at room temperature."),
        ("The log is flushed before the page is written.", "The page is written after the log is flushed."),
        ("Zstd is much more efficient than gzip.", "gzip is much less efficient than Zstd."),
        ("A bucket is where the service writes its trail.", "The service writes its trail to a bucket."),
        ("It takes two hours to rebuild the index.", "Rebuilding the index takes two hours."),
        ("The cluster has a capacity of 5 TB.", "The cluster's capacity is 5 TB."),
        ("The report is sent to the regulator daily.", "Every day the regulator is sent the report."),
        ("A quorum is needed to commit a write.", "Committing a write requires a quorum."),
        ("Goods are shipped on Tuesdays and Fridays.", "Goods are shipped on Fridays and Tuesdays."),
        ("Leakage was cut by 40% with the valve.", "The valve cut leakage by 40%."),
        ("A workspace can be deleted only by owners.", "Only owners can delete a workspace."),
        ("The tool reads both keys and values.", "The tool reads keys and values."),
        ("The Domain Name System caches answers.", "The DNS caches answers."),
        ("It's logged when users who've left return.", "It is logged when users who have left return."),
        ("Two of the four fans in rack B7 are spare.", "In rack B7, 2 of the 4 fans are spare."),
        ("The fee for the transfer is €500.", "The fee for the transfer is 500 euros."),
        ("The books close on the fifth day.", "The books close on the 5th day."),
        ("The team uses the board to track leads.", "The team tracks leads with the board."),
        ("It is the kernel that schedules threads.", "The kernel schedules threads."),
        ("The default engine is InnoDB.", "InnoDB is the default engine."),
        ("The key must never be kept in git.", "Never keep the key in git."),
        ("You must renew the licence.", "Renew the licence."),
        ("The river is 240 km long.", "The river has a length of 240 kilometres."),
    ],
)
def test_what_a_construction_accounts_for_is_merged(a: str, b: str) -> None:
    """A word that only one has is no difference where its construction says the same without it."""
    assert (decided(a, b), decided(b, a)) == ("merge", "merge")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The service is running on three nodes.", "The service is on three nodes."),
        ("The service is available in Europe.", "The service is in Europe."),
        ("Draft model and target model share it.", "The draft and its target model share it."),
        ("The index lets the planner skip the table.", "With the planner, the table can skip the index."),
        ("A timeout causes the job to fail.", "The timeout fails because of the job."),
        ("The server gives the client a token.", "The server receives a token."),
        ("The manager was given a report.", "The report was given by the manager."),
        ("The server is restarted when the disk is full.", "Restart the server when the disk is full."),
        ("The battery must not be stored.", "Store the battery."),
        ("The log is flushed before the page is written.", "The log is flushed after the page is written."),
        ("The log is flushed before the page is written.", "The page is written before the log is flushed."),
        ("Zstd is faster than gzip.", "Zstd is slower than gzip."),
        ("Zstd is 5 times faster than gzip.", "Zstd is 5 times slower than gzip."),
        ("Alice replaces Bob and Carol replaces Dan.", "Alice replaces Carol and Bob replaces Dan."),
        ("The user is who the admin blocks.", "The admin is who the user blocks."),
        ("The client is sent a token by the server.", "The server is sent a token by the client."),
        ("The patch has been applied.", "The patch has yet to be applied."),
        ("The US team approves it.", "The user support team approves it."),
        ("Both nodes are patched.", "Nodes are patched."),
        ("Dan is the manager of Carol.", "Carol is the manager of Dan."),
        ("A sentence embedding is the mean of it.", "A sentence mean is the embedding of it."),
        ("Always freeze the sample.", "The sample must never be frozen."),
        ("The team uses leads to track the board.", "The team tracks leads with the board."),
        ("The fee is $500.", "The fee is €500."),
        ("Files older than 10 days are moved.", "Files longer than 10 days are moved."),
        ("Seventeen of them failed.", "Nineteen of them failed."),
        ("The function's value is cached by the decorator.", "The function caches the value of the decorator."),
    ],
)
def test_elsewhere_the_same_word_is_a_difference(a: str, b: str) -> None:
    """Nothing is left out that may say something, and no construction lets two things change places."""
    assert "merge" not in (decided(a, b), decided(b, a))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The Transmission Control Protocol keeps order.", "TCP keeps order."),
        ("Service level objectives are met.", "SLOs are met."),
        ("Kubernetes evicts pods.", "k8s evicts pods."),
        ("Fine-tuning took a day.", "Finetuning took a day."),
    ],
)
def test_letters_tell_an_abbreviation_and_a_compound(a: str, b: str) -> None:
    """What the other text abbreviates or joins is written as it is there, whichever comes first."""
    ours, theirs = levelled(a, b)
    assert ours != a
    assert theirs == b
    assert levelled(b, a) == (theirs, ours)


def test_where_letters_do_not_agree_texts_stay() -> None:
    """An abbreviation of other words changes nothing."""
    texts = ("The central unit throttles.", "The CPU throttles.")
    assert levelled(*texts) == texts
