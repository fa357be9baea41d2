"""What the verifier of answers lets pass, and what it drops."""

import pytest

from kb_pipeline.records import Claim, Dropped, Evidence, Sentence
from kb_pipeline.rules.citations import verified

GATEWAY = Evidence(
    id="e1",
    kind="item",
    ref="kb_1",
    text="The gateway accepts at most 512 connections at once.",
    quote="The gateway accepts at most 512 connections at once.",
    title="Limits",
    doc_id="notes/limits.md",
    date="2026-03-02",
)
RELAY = Evidence(
    id="e2",
    kind="item",
    ref="kb_2",
    text="The Relay service of Tomás Herrera holds 64 messages in v1.0 and 256 messages in v2.0.",
    quote="The Relay service of Tomás Herrera holds 64 messages in v1.0 and 256 messages in v2.0.",
    hints=("superseded by kb_3",),
)
CLOSED = Evidence(
    id="e3",
    kind="chunk",
    ref="ck_3",
    text="A replica needs 12 GB of disk, and the scheduler does not retry a failed export job before noon.",
    license="proprietary",
    quotable=False,
)
FOUND = (GATEWAY, RELAY, CLOSED)


def judged(text: str, *cites: str, quotes: tuple[str, ...] = ()) -> Sentence | Dropped:
    """What becomes of one claim."""
    (found,) = verified([Claim(text=text, cites=cites, quotes=quotes)], FOUND)
    return found


@pytest.mark.parametrize(
    ("text", "cites"),
    [
        ("The gateway accepts at most 512 connections at once.", ("e1",)),
        ("At most 512 connections are accepted by the gateway.", ("e1",)),
        ("According to Limits, the gateway accepts 512 connections.", ("e1",)),
        ("The gateway takes 512 connections, and Relay holds 256 messages in v2.0.", ("e1", "e2")),
        ('The gateway accepts "at most 512 connections".', ("e1",)),
        ("Since 2026-03-02 the gateway accepts at most 512 connections.", ("e1",)),
        ("A replica needs 12 GB of disk.", ("e3",)),
        ("Gateways accept 512 connections.", ("e1",)),
    ],
)
def test_what_the_evidence_carries_passes(text: str, cites: tuple[str, ...]) -> None:
    """The evidence's words, rearranged or shortened, with its figures and names, are an answer."""
    found = judged(text, *cites)
    assert isinstance(found, Sentence), found
    assert found.cites == cites


@pytest.mark.parametrize(
    ("fault", "text", "cites"),
    [
        ("no-sentence", "   ", ("e1",)),
        ("no-citation", "The gateway accepts at most 512 connections.", ()),
        ("unknown-citation", "The gateway accepts at most 512 connections.", ("e9",)),
        ("quote-not-verbatim", 'The gateway accepts "up to 512 connections".', ("e1",)),
        ("quote-not-verbatim", "The gateway obeys `--max-connections`, at most 512.", ("e1",)),
        ("number-not-in-evidence", "The gateway accepts at most 640 connections at once.", ("e1",)),
        ("number-not-in-evidence", "The gateway accepts at most 512 connections since v1.4.2.", ("e1",)),
        ("unit-not-in-evidence", "A replica needs 12 MB of disk.", ("e3",)),
        ("name-not-in-evidence", "Every gateway of Acme accepts at most 512 connections.", ("e1",)),
        ("name-not-in-evidence", "The gateway accepts 512 connections with max_conns.", ("e1",)),
        ("words-not-in-evidence", "Penguins live in cold water and eat fish beside the gateway.", ("e1",)),
        ("negation-not-in-evidence", "The gateway never accepts 512 connections at once.", ("e1",)),
        ("negation-not-in-evidence", "The scheduler does retry a failed export job before noon.", ("e3",)),
        ("opposite-not-in-evidence", "The scheduler does not retry a failed export job after noon.", ("e3",)),
        ("figures-in-another-order", "Relay holds 256 messages in v1.0 and 64 messages in v2.0.", ("e2",)),
        ("citation-beside-the-point", "The gateway accepts at most 512 connections at once.", ("e1", "e2")),
        (
            "licence-forbids-quoting",
            "The scheduler does not retry a failed export job before noon.",
            ("e3",),
        ),
    ],
)
def test_what_it_does_not_carry_is_dropped(fault: str, text: str, cites: tuple[str, ...]) -> None:
    """A wrong id, a changed figure, a foreign name, a false quote, a turned negation: each has its name."""
    found = judged(text, *cites)
    assert isinstance(found, Dropped), found
    assert found.fault == fault


def test_quotes_are_verbatim() -> None:
    """A quote given beside the sentence must stand in what it cites, typography aside, and not elsewhere."""
    text = "The gateway accepts at most 512 connections."
    assert isinstance(judged(text, "e1", quotes=("accepts at most 512  connections",)), Sentence)
    for quote in ("accepts no more than 512 connections", "A replica needs 12 GB", ""):
        found = judged(text, "e1", quotes=(quote,))
        assert isinstance(found, Dropped)
        assert found.fault == "quote-not-verbatim"


def test_a_sentence_says_what_must_be_known_of_its_evidence() -> None:
    """That evidence is superseded or in conflict goes with every sentence that cites it."""
    found = judged("The Relay service holds 64 messages in v1.0.", "e2")
    assert isinstance(found, Sentence)
    assert found.notes == ("superseded by kb_3",)


def test_a_repetition_is_said_once() -> None:
    """The same sentence twice is one sentence."""
    claim = Claim(text="The gateway accepts at most 512 connections.", cites=("e1",))
    assert len(list(verified([claim, claim], FOUND))) == 1
