"""Questions by pattern."""

import pytest

from kb_pipeline.engines.extractive.questions import NO_NEIGHBOUR, NO_PARAPHRASE, questions
from kb_pipeline_tests.engines.contract import item


@pytest.mark.parametrize(
    ("statement", "kind", "question", "answer"),
    [
        ("Goodput is the number of requests that meet their targets.", "definition", "What is goodput?", ""),
        ("PagedAttention is an attention algorithm.", "definition", "What is PagedAttention?", ""),
        ("The default block size is 16 tokens.", "fact", "The default block size is how many tokens?", "16 tokens"),
        ("Paging cuts the waste to under 4%.", "metric", "Paging cuts the waste to under what percentage?", "4%"),
        ("The flag --max-num-seqs is 256 by default.", "fact", "The flag --max-num-seqs is what by default?", "256"),
        ("The gateway waits for 90 s.", "metric", "The gateway waits for how long?", "90 s"),
        ("Anyone on v0.6.3 should upgrade.", "fact", "Anyone on which version should upgrade?", "0.6.3"),
        ("A preempted request is swapped to the host.", "fact", "How is a preempted request swapped?", ""),
        ("GPTQ quantizes weights by column.", "fact", "What does GPTQ quantize?", ""),
        ("To stop the server, press the red button.", "procedure", "How do I stop the server?", ""),
        ("Run the tests with one worker, please.", "procedure", "How do I run the tests with one worker?", ""),
        ("8B — FP16: 16 GB; INT4: 4.1 GB", "metric", "What is FP16 for 8B?", "16 GB"),
        ("max_age - Seconds to keep an answer.", "definition", "What is max_age?", ""),
        ("wait(base: float): Return the delay.", "definition", "What does wait do?", ""),
    ],
)
def test_asks_naturally(statement: str, kind: str, question: str, answer: str) -> None:
    """Each pattern asks for what the statement says, and the answer is that or the statement."""
    _, nl, _, _ = questions(item(statement, item_type=kind), [], "e")
    assert (str(nl.question).casefold(), nl.gold_answer) == (question.casefold(), answer or statement)


def test_asks_about_phrases_where_no_pattern_holds() -> None:
    """A statement that points back is asked about by its telling phrases."""
    _, nl, _, _ = questions(item("It keeps the block table of each request in host memory."), [], "e")
    assert nl.question == "What is known about block table and host memory?"


def test_keywords_are_few_and_telling() -> None:
    """Keywords are names first, then phrases that neighbours lack, in the order of the statement."""
    near = [item("The block table is small."), item("A block table maps pages.")]
    subject = item("PagedAttention keeps the block table in host memory.", entities=("PagedAttention",))
    keyword, *_ = questions(subject, near, "e")
    assert keyword.question == "PagedAttention block table host memory"


def test_admits_what_it_cannot_do() -> None:
    """No paraphrase is invented, and without a neighbour there is no hard negative."""
    _, _, paraphrase, negative = questions(item("The cache is full."), [], "e")
    assert (paraphrase.question, paraphrase.note) == (None, NO_PARAPHRASE)
    assert (negative.question, negative.note) == (None, NO_NEIGHBOUR)


def test_hard_negative_is_on_another_topic() -> None:
    """The other half of the same sentence is no hard negative; the next neighbour is."""
    twin, other = item("The cache is full.", topic="t"), item("GPTQ quantizes weights.")
    *_, negative = questions(item("The cache is slow.", topic="t"), [twin, other], "e")
    assert negative.question == "What does GPTQ quantize?"
    assert negative.note == f"close, but answered by {other.id}"
