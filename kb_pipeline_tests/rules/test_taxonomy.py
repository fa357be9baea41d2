"""Categories have folders, tags a normal form, and the vocabulary is found however it is written."""

import pytest

from kb_pipeline.records import UNCLASSIFIED
from kb_pipeline.rules.taxonomy import category_folder, phrase, tag_form, vocabulary


@pytest.mark.parametrize(
    ("name", "folder"),
    [("KV Cache", "kv-cache"), ("Limits & Retries", "limits-retries"), (UNCLASSIFIED, "unclassified")],
)
def test_category_folder(name: str, folder: str) -> None:
    """A category's folder is its name in lower case, hyphenated."""
    assert category_folder(name) == folder


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("KV caches", "kv-cache"),
        ("PagedAttention", "paged-attention"),
        ("vLLM", "vllm"),
        ("FastAPI", "fastapi"),
        ("GitHub", "github"),
        ("GPUs", "gpu"),
        ("CORS", "cors"),
        ("Little's law", "little-law"),
        ("matrices", "matrix"),
        ("policies", "policy"),
        ("max_seq_len", "max-seq-len"),
        ("C++", "c++"),
        ("kubernetes", "kubernetes"),
        ("!?", ""),
    ],
)
def test_tag_form(name: str, tag: str) -> None:
    """A tag is lower case, singular and hyphenated; acronyms are no plurals."""
    assert tag_form(name) == tag


def test_vocabulary_finds_names_and_aliases() -> None:
    """Plural, case, hyphen and camel case do not matter; longer and shorter phrases are both found, in order."""
    book = vocabulary(
        {"kv-cache": ("key-value cache",), "cache": (), "paged-attention": ("PagedAttention",), "cors": ()}
    )
    found = book.find(phrase("Paged attention fills Key-Value Caches and the KV cache under cors."))
    assert list(found) == ["paged-attention", "kv-cache", "cache", "cors"]
    assert len(found["kv-cache"]) == 2


def test_vocabulary_finds_nothing_within_words() -> None:
    """A phrase is found as whole words only."""
    assert vocabulary({"art": (), "kv": ()}).find(phrase("Start the kvass party.")) == {}


def test_vocabulary_finds_cjk_within_a_run() -> None:
    """CJK text has no spaces: an alias is found inside a run."""
    assert list(vocabulary({"cache": ("缓存",)}).find(phrase("键值缓存占用显存"))) == ["cache"]
