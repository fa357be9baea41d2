"""The sample holds what ``examples/README.md`` says, and what it states about code and figures is so."""

import contextlib
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kb_pipeline.settings import load
from kb_pipeline_tests.project import ROOT, name, tracked

EXAMPLES = ROOT / "examples"
SOURCES = ("notes", "handbook", "service")
BINARY_BYTES = 60_000


def words(path: Path) -> str:
    """A text document with its tags and line breaks gone."""
    return " ".join(re.sub(r"<[^>]+>", " ", path.read_text(encoding="utf-8")).split())


def documents() -> list[Path]:
    """Every document of the three sources that is text."""
    return [path for path in tracked(*(f"examples/{s}" for s in SOURCES)) if path.suffix not in {".pdf", ".docx"}]


def test_settings_of_the_sample_are_valid() -> None:
    """The files in the root have no mistake, and their sources are the three folders."""
    settings = load(ROOT, environ={})
    assert [source.id for source in settings.sources] == list(SOURCES)
    assert all((ROOT / uri).is_dir() for source in settings.sources for uri in source.uri)
    assert 10 <= len(settings.taxonomy.categories) <= 15
    assert all(category.description and category.keywords for category in settings.taxonomy.categories)


def test_a_tag_has_one_meaning() -> None:
    """No alias belongs to two tags."""
    tags = load(ROOT, environ={}).taxonomy.tags
    names = [alias.casefold() for tag, aliases in tags.items() for alias in (tag, *aliases)]
    assert sorted({alias for alias in names if names.count(alias) > 1}) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Time to first token (TTFT) is the time between the arrival of a request and its first output token.",
        "During decoding, the KV cache takes most of the GPU memory that the weights leave free.",
    ],
)
def test_one_sentence_stands_in_two_sources(sentence: str) -> None:
    """The same fact is given word for word by two sources, which a compiler must make one item."""
    holders = {name(path).split("/")[1] for path in documents() if sentence in words(path)}
    assert len(holders) == 2


@pytest.mark.parametrize(
    ("pattern", "values"),
    [
        (r"A KV block holds (\d+) tokens on the \w+ pool", {"16", "32"}),
        (r"The default KV block size is (\d+) tokens", {"16", "32"}),
        (r"The flag `--max-num-batched-tokens` is (\d+) by default", {"2048", "8192"}),
        (r"request after ([\d,]+) seconds in the queue", {"30", "3,600"}),
        (r"Siskin v0.6 (supports|does not support) an FP8 KV cache", {"supports", "does not support"}),
    ],
)
def test_one_sentence_stands_with_two_values(pattern: str, values: set[str]) -> None:
    """The same words with another number or a negation, which a compiler must never merge."""
    assert {value for path in documents() for value in re.findall(pattern, words(path))} == values


@pytest.mark.parametrize("token", ["--max-num-batched-tokens", "v0.6.3.post1", "ERR_KV_EXHAUSTED", "Tomás Herrera"])
def test_what_only_exact_matching_finds(token: str) -> None:
    """A flag, a version, an error code and an accented name stand in the sample."""
    assert any(token in words(path) for path in documents())


def test_one_document_says_nothing() -> None:
    """``links.md`` is headings and links alone."""
    text = re.sub(r"\[[^\]]*\]\([^)]*\)|^#.*$", "", (EXAMPLES / "notes/links.md").read_text(), flags=re.MULTILINE)
    assert re.findall(r"\w", text) == []


def test_the_code_does_what_its_docstrings_show() -> None:
    """The doctests of the sample's Python pass."""
    path = EXAMPLES / "service/turnstile/admission.py"
    run = subprocess.run([sys.executable, "-m", "doctest", str(path)], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, "")


def test_the_notebook_shows_what_its_cells_print() -> None:
    """Run from top to bottom, the cells give the outputs that are kept."""
    notebook = json.loads((EXAMPLES / "notes/kv-cache-arithmetic.ipynb").read_text())
    scope: dict[str, object] = {}
    for cell in (cell for cell in notebook["cells"] if cell["cell_type"] == "code"):
        *body, last = cell["source"]
        printed = io.StringIO()
        for output in cell["outputs"]:
            with contextlib.redirect_stdout(printed):
                exec("".join([*body, last] if output["output_type"] == "stream" else body), scope)
            if output["output_type"] == "stream":
                assert printed.getvalue() == "".join(output["text"])
            else:
                assert repr(eval(last, scope)) == "".join(output["data"]["text/plain"])


def test_binary_documents_are_small() -> None:
    """The PDF and the DOCX do not weigh on a clone."""
    sizes = {name(path): path.stat().st_size for path in tracked("examples/*.pdf", "examples/*.docx")}
    assert len(sizes) == 2
    assert {path: size for path, size in sizes.items() if size > BINARY_BYTES} == {}
