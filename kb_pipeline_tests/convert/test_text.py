"""Plain text, Markdown, front matter, code, tables and notebooks: what is converted in the main process."""

import json
from collections.abc import Mapping

import pytest

from kb_pipeline.convert import convert, front_matter
from kb_pipeline.errors import ConversionError
from kb_pipeline_tests.convert.documents import raw

FRENCH = "Le café coûte 3,50 € à la gare — prix 2024."
JAPANESE = "このサーバーは最大で五百件の接続を受け付け、それを超えると古いものから順に切断する。設定は変更できる。"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (FRENCH, "utf-8"),
        (FRENCH, "utf-8-sig"),
        (FRENCH, "utf-16"),
        (FRENCH, "utf-16-le"),
        (FRENCH, "utf-16-be"),
        (FRENCH, "cp1252"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        ("Система хранит тысячу записей и удаляет старые.", "cp1251"),
    ],
)
def test_encodings_are_found_out(text: str, encoding: str) -> None:
    """A text reads the same whatever it was saved in."""
    assert convert(raw("a.txt", text.encode(encoding))).text == f"{text}\n"


def test_mojibake_is_repaired_and_good_text_left_alone() -> None:
    """UTF-8 that was once read as Western is read right, with a warning; curly quotes are no damage."""
    broken = FRENCH.encode().decode("cp1252", errors="replace")
    result = convert(raw("a.md", f"It’s fine.\n{broken}\n"))
    assert result.text == f"It’s fine.\n{FRENCH}\n"
    assert result.warnings == ("mojibake repaired in 1 lines",)


def test_control_characters_and_line_ends_are_cleaned() -> None:
    """NUL and control characters go, CRLF becomes LF, trailing white space goes, tabs stay."""
    assert convert(raw("a.txt", b"a\x00b  \r\n\tc\x07\r\r\n\r\n")).text == "ab\n\tc\n"


def test_damaged_utf_8_is_replaced_not_guessed() -> None:
    """A few bad bytes in a UTF-8 text do not make it another language's."""
    result = convert(raw("a.txt", "naïve café, crème brûlée, déjà vu ".encode() + b"\xff end"))
    assert result.text == "naïve café, crème brûlée, déjà vu \ufffd end\n"
    assert result.warnings == ("1 invalid byte sequences were replaced",)


def test_front_matter_becomes_metadata() -> None:
    """Title, people, date and tags are read and the block is cut from the text."""
    note = "---\ntitle: Cache\nauthors: [Ada Miller, Bo Lind]\ndate: 2025-06-01\ntags: [cache]\n---\n\nIt holds 512.\n"
    result = convert(raw("a.md", note))
    assert result.text == "It holds 512.\n"
    assert (result.title, result.authors, result.effective_date) == ("Cache", ("Ada Miller", "Bo Lind"), "2025-06-01")
    assert result.metadata["tags"] == ["cache"]


def test_the_last_change_is_the_effective_date() -> None:
    """``updated`` beats ``date``."""
    note = "---\ndate: 2024-01-01\nupdated: 2025-02-03T10:00:00Z\n---\nx\n"
    assert convert(raw("a.md", note)).effective_date == "2025-02-03"


def test_toml_front_matter_is_read() -> None:
    """Hugo's ``+++`` blocks are front matter too."""
    assert convert(raw("a.md", '+++\ntitle = "Cache"\ndate = 2025-06-01\n+++\nText\n')).title == "Cache"


def test_front_matter_with_a_slip_is_read_line_by_line() -> None:
    """An unquoted colon, the commonest mistake, does not push the block into the text."""
    result = convert(raw("a.md", "---\ntitle: Part 1: start\ntags:\n  - a\n---\nText\n"))
    assert (result.title, result.text) == ("Part 1: start", "Text\n")
    assert "not valid YAML" in result.warnings[0]


@pytest.mark.parametrize(
    "block",
    [
        "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]",
        "a: " + "[" * 50 + "]" * 50,
        "\n".join(f"k{n}: {n}" for n in range(6000)),
        "a: " + "x" * 70_000,
    ],
)
def test_front_matter_beyond_bounds_is_cut_and_not_read(block: str) -> None:
    """Alias bombs, depth and size are refused; the body is converted."""
    result = convert(raw("a.md", f"---\n{block}\n---\nThe body says 7 replicas.\n"))
    assert result.text == "The body says 7 replicas.\n"
    assert not result.metadata
    assert result.warnings[0].startswith("front matter not read")


def test_a_rule_is_not_front_matter() -> None:
    """Text between two thematic breaks stays."""
    text = "---\nJust a sentence between rules.\n---\nMore.\n"
    assert convert(raw("a.md", text)).text == text


def test_front_matter_cannot_pretend_to_be_pages() -> None:
    """The number of pages is the converter's to say."""
    assert "pages" not in convert(raw("a.md", "---\npages: many\n---\nText\n")).metadata


def test_names_of_people_in_all_forms() -> None:
    """A string, a list, and mappings with a name."""
    assert front_matter.names("Ada Miller and Bo Lind; Cy") == ("Ada Miller", "Bo Lind", "Cy")
    assert front_matter.names([{"name": "Ada"}, "Bo"]) == ("Ada", "Bo")
    assert front_matter.names(None) == ()


def test_a_title_is_the_first_heading_outside_code() -> None:
    """A comment in a fence is no heading."""
    assert convert(raw("a.md", "Intro.\n\n# The `kv` *cache*\n")).title == "The kv cache"
    assert convert(raw("a.md", "```\n# comment\n```\n")).title == ""


def test_code_is_verbatim() -> None:
    """No fence, no repair, the language by extension."""
    program = "def f(x):\n\treturn x  # Ã©\n"
    result = convert(raw("lib/f.py", program))
    assert (result.text, result.title, result.source_type) == (program, "f.py", "code")
    assert result.metadata == {"language": "python"}


def test_minified_code_is_refused() -> None:
    """What a tool wrote on one line is nobody's knowledge."""
    with pytest.raises(ConversionError, match="minified"):
        convert(raw("a.js", "f();" * 10_000))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_table_of_any_delimiter(delimiter: str) -> None:
    """The delimiter is found; pipes are escaped; a line break in a cell is a space."""
    rows = [["name", "value"], ['"a, b; c"', '"x\ny"'], ["e", "3"], ["f", "4"]]
    content = "\n".join(delimiter.join(row) for row in rows)
    assert convert(raw("a.csv", content)).text == (
        "| name | value |\n| --- | --- |\n| a, b; c | x y |\n| e | 3 |\n| f | 4 |\n"
    )


def test_a_ragged_table_is_filled_up_and_said_so() -> None:
    """A short row gets blank cells; a warning tells."""
    result = convert(raw("a.csv", "a,b,c\n1,2\n3,4,5\n6,7,8\n"))
    assert "| 1 | 2 |  |" in result.text
    assert result.warnings == ("rows have 2 to 3 fields",)


def test_a_table_in_shift_jis() -> None:
    """Encodings of tables are found out as those of texts."""
    assert (
        "| 佐藤太郎 | 30 | 東京 |" in convert(raw("a.csv", "名前,年齢,住所\n佐藤太郎,30,東京\n".encode("cp932"))).text
    )


def _notebook(*cells: Mapping[str, object]) -> str:
    return json.dumps({"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4})


def test_a_notebook_gives_prose_code_and_text_outputs() -> None:
    """Images and HTML twins of a result are left out, escape codes too."""
    cells: tuple[Mapping[str, object], ...] = (
        {"cell_type": "markdown", "source": ["# Study\n", "\n", "![x](data:image/png;base64,AAAA) shown"]},
        {
            "cell_type": "code",
            "source": "print(`1`)",
            "outputs": [
                {"output_type": "stream", "text": ["\x1b[31m42\x1b[0m\n"]},
                {"output_type": "execute_result", "data": {"text/plain": "7", "text/html": "<b>7</b>"}},
                {"output_type": "display_data", "data": {"image/png": "AAAA", "text/plain": "<Figure size 1x1>"}},
                {"output_type": "error", "ename": "KeyError", "evalue": "'k'", "traceback": ["…"]},
            ],
        },
    )
    result = convert(raw("a.ipynb", _notebook(*cells)))
    assert result.title == "Study"
    assert result.text == (
        "# Study\n\nx shown\n\n```python\nprint(`1`)\n```\n\n```\n42\n```\n\n```\n7\n```\n\n```\nKeyError: 'k'\n```\n"
    )


def test_a_notebook_s_outputs_are_bounded() -> None:
    """A log of a thousand lines is cut to its head."""
    output = {"output_type": "stream", "text": "line\n" * 1000}
    text = convert(raw("a.ipynb", _notebook({"cell_type": "code", "source": "f()", "outputs": [output]}))).text
    assert text.count("line") == 40
    assert "…" in text


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"cells": 3}', "[" * 100_000])
def test_what_is_no_notebook_is_refused(content: str) -> None:
    """Broken, foreign and hostile JSON alike."""
    with pytest.raises(ConversionError, match="not a notebook"):
        convert(raw("a.ipynb", content))
