"""What decides how a file is converted: its name, its media type, and in the end its bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline import convert as package
from kb_pipeline.convert import FORMATS, NO_TEXT, convert, converter_versions, hardly_any_text, is_risky
from kb_pipeline.convert.cleaning import clean
from kb_pipeline.errors import ConversionError
from kb_pipeline_tests.convert.documents import archive, docx, epub, odt, paragraph, pdf, pptx, raw, xlsx

SENTENCE = "The cache holds 512 entries and evicts the oldest one first."
PAGE = f"<!doctype html><html><head><title>Cache</title></head><body><h1>Cache</h1><p>{SENTENCE}</p></body></html>"
MAIL = f"From: Ada <ada@example.com>\nSubject: Cache\n\n{SENTENCE}\n"
SAMPLES = {
    "a.md": f"# Cache\n\n{SENTENCE}\n".encode(),
    "a.txt": SENTENCE.encode(),
    "a.rst": SENTENCE.encode(),
    "a.html": PAGE.encode(),
    "a.pdf": pdf([[SENTENCE]]),
    "a.docx": docx(paragraph(SENTENCE)),
    "a.pptx": pptx([("Cache", [SENTENCE])]),
    "a.xlsx": xlsx({"Cache": [["note", "size"], [SENTENCE, 512]]}),
    "a.odt": odt("Cache", SENTENCE),
    "a.epub": epub([f"<h1>Cache</h1><p>{SENTENCE}</p>"]),
    "a.rtf": rb"{\rtf1\ansi " + SENTENCE.encode() + rb"\par}",
    "a.eml": MAIL.encode(),
    "a.csv": f"note,size\n{SENTENCE},512\n".encode(),
    "a.py": f'"""{SENTENCE}"""\n'.encode(),
    "a.ipynb": b'{"cells": [{"cell_type": "markdown", "source": ["%s"]}], "metadata": {}, "nbformat": 4}'
    % SENTENCE.encode(),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_family_gives_clean_text(name: str) -> None:
    """One sentence survives each format whole, as clean Markdown with one final newline."""
    text = convert(raw(name, SAMPLES[name])).text
    assert SENTENCE in text
    assert text == clean(text)
    assert text.endswith("\n")


@pytest.mark.parametrize("name", SAMPLES)
def test_bytes_have_the_last_word_over_a_wrong_name(name: str) -> None:
    """A file under the name of another format is converted as what it is, with a warning that says so."""
    wrong = "a.docx" if name != "a.docx" else "a.pdf"
    if name in ("a.pptx", "a.xlsx", "a.odt"):
        wrong = "a.docx"
    result = convert(raw(wrong, SAMPLES[name]))
    assert SENTENCE in result.text
    assert "converted as" in result.warnings[0]


def test_a_server_that_says_html_is_believed_over_a_program_s_extension() -> None:
    """``page.php`` served as HTML is a page; on a disk it is a program."""
    assert convert(raw("page.php", PAGE, media_type="text/html; charset=utf-8")).source_type == "web"
    assert convert(raw("page.php", PAGE)).source_type == "code"


def test_a_name_without_extension_goes_by_media_type_then_by_bytes() -> None:
    """What a URL or a file without extension holds is found out."""
    assert convert(raw("docs/intro", PAGE, media_type="text/html")).source_type == "web"
    assert convert(raw("docs/intro", SAMPLES["a.pdf"])).converter == "liteparse"
    assert convert(raw("README", SENTENCE)).text == f"{SENTENCE}\n"
    assert convert(raw("Dockerfile", "FROM scratch\n")).metadata["language"] == "dockerfile"


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.png", b"\x89PNG\r\n\x1a\n", "no text format"),
        ("a.zip", archive({"a.txt": "x"}), "no text format"),
        ("a.md", archive({"a.txt": "x"}), "an archive"),
        ("a.md", bytes(range(256)) * 20, "binary"),
        ("unknown", b"\x00\x01\x02\x03" * 500, "binary"),
        ("a.pdf", b"", "empty"),
        ("a.docx", b"", "empty"),
    ],
)
def test_what_holds_no_text_is_refused_with_a_reason_and_a_cure(name: str, content: bytes, reason: str) -> None:
    """The error says what is wrong, names the document and what to do."""
    with pytest.raises(ConversionError, match=reason) as caught:
        convert(raw(name, content))
    assert caught.value.where == f"s/{name}"
    assert caught.value.cure


def test_an_empty_note_is_no_error() -> None:
    """A text of nothing converts to nothing; its status will say so."""
    result = convert(raw("a.md", b""))
    assert result.text == ""
    assert hardly_any_text(result.text)


@pytest.mark.parametrize("name", SAMPLES)
def test_only_formats_whose_parsers_run_away_need_a_worker(name: str) -> None:
    """Text, tables, code and notebooks are converted here; all else, and anything with foreign bytes, is not."""
    safe = name in ("a.md", "a.txt", "a.rst", "a.csv", "a.py", "a.ipynb")
    assert is_risky(raw(name, SAMPLES[name])) is not safe
    assert is_risky(raw("a.md", SAMPLES["a.pdf"]))
    assert is_risky(raw("a.txt", PAGE))


def test_a_huge_text_needs_a_worker_whatever_it_is() -> None:
    """Work in the main process is bounded by size."""
    assert is_risky(raw("a.csv", b"a,b\n" * (package.LARGE // 4 + 1)))


def test_no_extension_is_both_convertible_and_without_text() -> None:
    """The two tables do not contradict each other."""
    assert not NO_TEXT & set(FORMATS)


def test_fewer_than_20_letters_a_page_are_hardly_any_text() -> None:
    """Rules, numbers and fences do not count, letters of any script do."""
    assert hardly_any_text("```\n1 2 3\n```\n--- 12345678901234567890")
    assert hardly_any_text("a" * 39, pages=2)
    assert not hardly_any_text("a" * 40, pages=2)
    assert not hardly_any_text("知识库支持全文检索默认返回十条结果知识库支")


def test_recipes_know_the_version_of_every_converting_library() -> None:
    """None is missing from the environment."""
    versions = converter_versions()
    assert {"kreuzberg", "liteparse", "lxml", "pypdf", "trafilatura"} <= set(versions)
    assert "absent" not in versions.values()


@given(st.text())
def test_cleaning_is_idempotent_and_keeps_what_is_seen(text: str) -> None:
    """No control character, no trailing white space, one final newline; letters and digits stay."""
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert not any(c < " " and c not in "\n\t" for c in cleaned)
    assert all(line == line.rstrip() for line in cleaned.split("\n"))
    assert [c for c in cleaned if c.isalnum()] == [c for c in text if c.isalnum()]


@given(st.binary(max_size=300), st.sampled_from(["a.md", "a.txt", "a.csv", "a.py", "a.ipynb", "a.html", "a.eml"]))
def test_any_bytes_are_converted_or_refused(data: bytes, name: str) -> None:
    """No input makes a converter raise anything but ``ConversionError``, and what it returns can be written."""
    try:
        result = convert(raw(name, data))
    except ConversionError:
        return
    assert result.text.encode().decode() == clean(result.text)
    assert result.title.encode() == " ".join(result.title.split()).encode()
