"""Chunks: covered, ordered, aware of headings, unbroken, and still."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_pipeline.errors import SettingsError
from kb_pipeline.records import Chunk, Document, Meta, SourceType
from kb_pipeline.rules.chunking import chunk

SMALL = {"minimum": 60, "target": 160, "maximum": 320}
USUAL = {"minimum": 400, "target": 1200, "maximum": 2400}
UNBOUNDED = 10**7


def document(text: str, doc_id: str = "notes/a.md", source_type: SourceType = "doc") -> Document:
    """A document of which only text, id and type matter."""
    meta = Meta(
        doc_id=doc_id,
        source_id="notes",
        title="",
        uri="",
        source_type=source_type,
        license="",
        language="en",
        raw_sha256="",
        text_sha256="",
        fetched_at="",
        converter="",
        converter_version="",
    )
    return Document(meta=meta, text=text)


def assert_tiles(text: str, chunks: Sequence[Chunk]) -> None:
    """Chunks are slices in order, with white space alone before, between and after them."""
    done = 0
    for piece in chunks:
        assert piece.text == text[piece.start : piece.end]
        assert piece.text.strip()
        assert not text[done : piece.start].strip()
        done = piece.end
    assert not text[done:].strip()


def chunked(text: str, sizes: dict[str, int] = SMALL) -> list[Chunk]:
    """The chunks of a Markdown text, checked to tile it."""
    chunks = chunk(document(text), **sizes)
    assert_tiles(text, chunks)
    return chunks


# --- headings ----------------------------------------------------------------------------------------------------


def test_a_chunk_carries_the_path_of_its_headings_as_plain_text() -> None:
    """ATX and setext headings nest by level; markup and attributes are no part of a title."""
    text = (
        "Before.\n\nGuide\n=====\n\nA.\n\n## The `run` *command* {#run}\n\nB.\n\nOther\n-----\n\nC.\n\n# Last #\n\nD.\n"
    )
    assert [(c.heading, c.text.splitlines()[-1]) for c in chunked(text)] == [
        ((), "Before."),
        (("Guide",), "A."),
        (("Guide", "The run command"), "B."),
        (("Guide", "Other"), "C."),
        (("Last",), "D."),
    ]


def test_a_heading_line_stands_in_the_chunk_that_follows_it() -> None:
    """A heading without a body goes with the next section, whose path it has."""
    only = chunked("# A\n\n## B\n\n### C\n\nText.\n")
    assert [(c.heading, c.start) for c in only] == [(("A", "B", "C"), 0)]


def test_headings_without_any_text_are_chunks_too() -> None:
    """A document that ends in headings, or holds nothing else, loses none; what they share is their path."""
    assert [c.heading for c in chunked("# A\n\nText.\n\n## B\n\n## C\n")] == [("A",), ("A",)]
    outline = chunked("# Plan\n" + "".join(f"## Step number {n}\n" for n in range(60)) + "\nText.\n")
    assert len(outline) > 2
    assert {c.heading for c in outline[:-1]} == {("Plan",)}
    assert outline[-1].heading == ("Plan", "Step number 59")
    assert all(len(c.text) <= SMALL["maximum"] for c in outline)


@pytest.mark.parametrize(
    "text",
    [
        "```\n# no\n```\n\nA.",
        "    # no\n\nA.",
        "> # no\n\nA.",
        "- # no\n\nA.",
        "<pre>\n# no\n</pre>\n\nA.",
        "~~~\n# no\n",
    ],
)
def test_what_only_looks_like_a_heading_is_none(text: str) -> None:
    """A line inside a fence, indented code, a quote, a list or HTML opens no section."""
    assert {c.heading for c in chunked(text)} == {()}


def test_link_definitions_are_kept() -> None:
    """What Markdown shows to no reader is in a chunk all the same."""
    assert chunked("[a]: https://example.org\n\nText.\n\n# H\n\n[b]: https://example.org\n")[-1].heading == ("H",)


# --- what is not broken ------------------------------------------------------------------------------------------


def test_a_fence_stays_whole_up_to_four_times_the_maximum() -> None:
    """Beyond that it is cut at line ends, and its pieces are code."""
    fence = "```python\n" + "print('a line of code')\n" * 40 + "```"
    assert fence in [c.text for c in chunked(f"{'Before it. ' * 30}\n\n{fence}\n\n{'After it. ' * 30}\n")]
    long = chunked("```python\n" + "print('a line of code')\n" * 400 + "```\n")
    assert all(len(c.text) <= SMALL["maximum"] for c in long)
    assert {c.kind for c in long} == {"code", "text"}
    assert {line for c in long for line in c.text.splitlines()} == {"```python", "print('a line of code')", "```"}


def test_a_few_words_around_a_long_fence_stay_with_it() -> None:
    """The sentence that introduces a fence over the maximum is no chunk of its own."""
    assert len(chunked("Run this:\n\n```\n" + "make something\n" * 40 + "```\n")) == 1


def test_a_long_table_is_cut_between_rows_and_repeats_its_header() -> None:
    """Every later piece carries header and delimiter row, outside of its text."""
    rows = [f"| {n} | the value of row {n} |" for n in range(50)]
    chunks = chunked("# T\n\n| n | value |\n|--:|---|\n" + "\n".join(rows) + "\n")
    assert len(chunks) > 3
    assert {c.kind for c in chunks} == {"table"}
    assert [c.header for c in chunks] == [""] + ["| n | value |\n|--:|---|"] * (len(chunks) - 1)
    assert [line for c in chunks for line in c.text.splitlines()][4:] == rows


def test_a_list_stays_whole_if_it_can() -> None:
    """A list under the maximum is in one chunk, though the paragraphs around it are cut off for that."""
    items = "\n".join(f"- item {n} says something" for n in range(11))
    assert any(items in c.text for c in chunked(f"{'Before it. ' * 12}\n\n{items}\n\n{'After it. ' * 12}\n"))


def test_a_long_list_is_cut_between_its_items() -> None:
    """Nested items stay with their parent where they fit."""
    text = "".join(f"- item {n} says something\n  - and item {n} adds something\n" for n in range(40))
    chunks = chunked(text)
    assert len(chunks) > 3
    assert all(c.text.startswith("- ") for c in chunks)


def test_long_prose_is_cut_at_the_ends_of_sentences_then_words_then_anywhere() -> None:
    """A line of any length is cut, and nothing finer is used than needed."""
    assert all(c.text.endswith(".") for c in chunked("A sentence of seven words stands here. " * 200))
    assert all(c.text.endswith("。") for c in chunked("知识库支持全文检索。" * 200))
    assert {w for c in chunked("word " * 2000) for w in c.text.split()} == {"word"}
    assert all(len(c.text) <= SMALL["maximum"] for c in chunked("x" * 5000))


def test_the_first_line_of_a_chunk_keeps_its_indent() -> None:
    """Indent means something in Markdown; blank lines around a chunk do not."""
    assert [c.text for c in chunked("\n\n    code\n\n\n")] == ["    code"]


# --- identity ----------------------------------------------------------------------------------------------------


def test_hash_is_content_and_id_is_place() -> None:
    """Two copies in one document, or one each in two, share a hash and differ in id; a shift changes neither."""
    text = "# H\n\nSame.\n\n# H\n\nSame.\n"
    first, second = chunked(text)
    assert first.hash == second.hash
    assert first.id != second.id
    assert (first.previous, first.next, second.previous, second.next) == (None, second.id, first.id, None)
    (other,) = chunk(document("# H\n\nSame.", doc_id="notes/b.md"), **SMALL)
    assert other.hash == first.hash
    assert other.id not in {first.id, second.id}
    moved = chunked(f"New.\n\n{text}")
    assert [(c.hash, c.id) for c in moved[1:]] == [(c.hash, c.id) for c in (first, second)]


def test_sizes_out_of_order_are_refused() -> None:
    """The cure names the settings."""
    with pytest.raises(SettingsError, match="chunk_min"):
        chunk(document("x"), minimum=10, target=5, maximum=20)


@pytest.mark.parametrize("text", ["", " \n\t\n", "\u3000"])
def test_nothing_gives_no_chunk(text: str) -> None:
    """An empty document has no chunks."""
    assert chunked(text) == []


# --- any text ----------------------------------------------------------------------------------------------------

LINES = [
    *("# A\n", "## B\n", "A\n===\n", "---\n", "```\n", "~~~\n", "\n", "\n\n", "- a\n", "  - b\n", "1. c\n", "> q\n"),
    *("| a | b |\n|---|---|\n", "| 1 | 2 |\n", "    code\n", "<div>\n", "</div>\n", "<!--\n", "-->\n", "[a]: b\n"),
    *("word ", "A sentence. ", "Bob: hi\n", "é 检索。", "\t", "x" * 90, "\u2028", "\r", "\x0c", "a | b\n", "\\"),
]
MARKDOWN = st.lists(st.sampled_from(LINES), max_size=60).map("".join)


@settings(max_examples=200, deadline=None)
@given(text=MARKDOWN | st.text(max_size=300), source_type=st.sampled_from(["doc", "chat", "code"]))
def test_every_character_is_in_exactly_one_chunk(text: str, source_type: SourceType) -> None:
    """Whatever the text and its type, chunks tile it, and only a fence is over the maximum."""
    for sizes in ({"minimum": 5, "target": 10, "maximum": 20}, SMALL):
        chunks = chunk(document(text, doc_id="notes/a.py", source_type=source_type), **sizes)
        assert_tiles(text, chunks)
        assert all(len(c.text) <= 4 * sizes["maximum"] + sizes["minimum"] for c in chunks)
        assert len({c.id for c in chunks}) == len(chunks)


# --- stillness ---------------------------------------------------------------------------------------------------

WORDS = st.text("abcdefghij", min_size=2, max_size=8)
SENTENCE = st.lists(WORDS, min_size=2, max_size=12).map(lambda words: " ".join(words).capitalize() + ".")
PARAGRAPH = st.lists(SENTENCE, min_size=1, max_size=5).map(" ".join)
LIST = st.lists(SENTENCE, min_size=1, max_size=6).map(lambda items: "\n".join(f"- {item}" for item in items))
FENCE = st.lists(SENTENCE, min_size=1, max_size=6).map(lambda lines: "\n".join(["```", *lines, "```"]))
TABLE = st.lists(WORDS, min_size=1, max_size=8).map(
    lambda cells: "\n".join(["| a | b |", "|---|---|", *(f"| {cell} | 1 |" for cell in cells)])
)
HEADING = st.builds(lambda level, words: f"{'#' * level} {words}", st.integers(1, 4), WORDS)
BLOCK = st.one_of(PARAGRAPH, PARAGRAPH, PARAGRAPH, PARAGRAPH, LIST, FENCE, TABLE, HEADING)


@st.composite
def edits(draw: st.DrawFn) -> tuple[str, str]:
    """A document before and after one paragraph is added, taken away or rewritten."""
    blocks = draw(st.lists(BLOCK, min_size=1, max_size=40))
    at = draw(st.integers(0, len(blocks)))
    edited = [*blocks[:at], draw(PARAGRAPH), *blocks[at:]]
    match draw(st.sampled_from(["add", "remove", "rewrite"])):
        case "add":
            before, after = blocks, edited
        case "remove":
            before, after = edited, blocks
        case _:
            before, after = edited, [*blocks[:at], draw(PARAGRAPH), *blocks[at:]]
    return "\n\n".join(before) + "\n", "\n\n".join(after) + "\n"


def gone(before: Sequence[Chunk], after: Sequence[Chunk]) -> list[Chunk]:
    """The chunks of ``before`` that ``after`` does not have."""
    kept = Counter(c.hash for c in after)
    left = []
    for piece in before:
        if kept[piece.hash]:
            kept[piece.hash] -= 1
        else:
            left.append(piece)
    return left


@settings(max_examples=300, deadline=None)
@given(edits())
def test_an_edit_changes_the_chunk_it_touches_and_at_most_one_neighbour(edit: tuple[str, str]) -> None:
    """Unconditionally so for natural cuts, which is all there is while no stretch is over the maximum."""
    before, after = (chunked(text, SMALL | {"maximum": UNBOUNDED}) for text in edit)
    assert len(gone(before, after)) <= 2
    if all(len(c.text) <= SMALL["maximum"] for c in (*before, *after)):
        assert [c.hash for c in chunked(edit[1])] == [c.hash for c in after]


@settings(max_examples=200, deadline=None)
@given(edits())
def test_a_forced_cut_moves_no_chunk_outside_its_stretch(edit: tuple[str, str]) -> None:
    """Whatever was cut by force, the chunks that change lie within the stretches of natural cuts that change."""
    before, after = (chunked(text, SMALL | {"maximum": UNBOUNDED}) for text in edit)
    stretches = gone(before, after)
    for piece in gone(chunked(edit[0]), chunked(edit[1])):
        assert any(piece.text in stretch.text for stretch in stretches)


# --- real files --------------------------------------------------------------------------------------------------


def test_real_documentation_is_tiled(corpus: Path) -> None:
    """Four releases of a library's documentation, at the usual sizes."""
    for path in sorted((corpus / "starlette-docs").rglob("*.md")):
        chunks = chunked(path.read_text(), USUAL)
        assert all(len(c.text) <= USUAL["maximum"] or "```" in c.text for c in chunks)


def test_hostile_text_is_tiled(corpus: Path) -> None:
    """Unclosed fences, right-to-left and CJK text, a megabyte on one line."""
    for path in sorted([*(corpus / "hostile").glob("*.md"), corpus / "hostile" / "no-newline-1mb.txt"]):
        chunks = chunked(path.read_text(errors="replace"), USUAL)
        assert all(len(c.text) <= USUAL["maximum"] for c in chunks)


@pytest.mark.parametrize(
    "text",
    [
        ">" * 20_000 + " a\n",
        "- " * 20_000 + "a\n",
        "\n".join("  " * depth + "- a" for depth in range(300)) + "\n\n# H\n",
        "# a\n" * 20_000,
        "- a\n" * 20_000,
        "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 10_000,
        "[" * 20_000,
        "```\n" + "x\n" * 20_000,
        "same words. " * 20_000,
        "# " + "*a " * 20_000,
    ],
    ids=["quotes", "items", "nested", "headings", "list", "table", "brackets", "fence", "same", "title"],
)
def test_deep_or_endless_structure_is_tiled(text: str) -> None:
    """Neither the stack nor patience runs out."""
    assert chunked(text, USUAL)
