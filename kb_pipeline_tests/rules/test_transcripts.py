"""Conversations: recognized by their lines, cut by turns."""

import pytest

from kb_pipeline.rules.chunking import chunk
from kb_pipeline.rules.transcripts import is_transcript
from kb_pipeline_tests.rules.test_chunking import assert_tiles, document

SIZES = {"minimum": 60, "target": 160, "maximum": 320}
FORMS = [
    "{name}: {words}",
    "[10:0{n}] {name}: {words}",
    "2026-01-02 10:0{n}:00 {name}: {words}",
    "{name} (10:0{n} AM): {words}",
    "**{name}:** {words}",
    "**{name}** (10:0{n}): {words}",
    "10:0{n} <{name}> {words}",
    "[10:0{n}] @{name}: {words}",
]


@pytest.mark.parametrize("form", FORMS)
def test_a_text_of_turns_is_a_transcript(form: str) -> None:
    """In each of the usual forms, whole turns are grouped and none is broken."""
    names = ["Ada", "Zoë"] if "<" in form or "@" in form else ["Ada", "Zoë van Dam"]
    turns = [form.format(n=n % 10, name=names[n % 2], words=f"I think that {n} is right.") for n in range(24)]
    text = "\n".join(turns)
    assert is_transcript(text)
    chunks = chunk(document(text), **SIZES)
    assert_tiles(text, chunks)
    assert len(chunks) > 2
    assert {c.kind for c in chunks} == {"transcript"}
    assert [line for c in chunks for line in c.text.splitlines()] == turns


@pytest.mark.parametrize(
    "text",
    [
        "Name: x\nVersion: 1\nLicense: y\nAuthor: z\nSummary: s\nHome: h\n",
        "fix: a thing\nfeat: a thing\nfix: another\nfeat: another\nfix: more\nfeat: more\n",
        "A paragraph of prose: it has colons. Note: this is none.\n" * 6,
        "Note: one.\n\nNote: two.\n\nNote: three.\n\nNote: four.\n\nNote: five.\n",
        "word " * 5_000,
    ],
    ids=["fields", "commits", "prose", "notes", "line"],
)
def test_what_only_has_colons_is_no_transcript(text: str) -> None:
    """Fields, log messages, prose and remarks are read as Markdown."""
    assert not is_transcript(text)


def test_a_turn_goes_on_until_the_next_speaker() -> None:
    """Further lines and fences belong to the turn; a line inside a fence begins none; headings keep their path."""
    text = "# Monday\n\nWelcome all.\n\nAda: look\n\n```\nBob: no turn\n```\n\nBob: I see\nand more\n"
    chunks = chunk(document(text, source_type="chat"), minimum=1, target=1, maximum=60)
    assert_tiles(text, chunks)
    assert {c.heading for c in chunks} == {("Monday",)}
    assert "Bob: I see\nand more" in [c.text for c in chunks]
    assert not any(c.text.startswith("Bob: no turn") for c in chunks)


def test_a_long_turn_is_cut_at_sentences() -> None:
    """A monologue over the maximum is cut like prose and stays a transcript."""
    text = "Ada: " + "This is what I have to say about it. " * 40
    chunks = chunk(document(text, source_type="chat"), **SIZES)
    assert_tiles(text, chunks)
    assert all(c.kind == "transcript" and c.text.endswith(".") for c in chunks)
    assert len(chunks) > 4


def test_a_chat_without_turns_is_markdown() -> None:
    """Nothing is forced upon a text that has no speakers."""
    assert [c.kind for c in chunk(document("Just a note.", source_type="chat"), **SIZES)] == ["text"]
