"""The embedder that remembers."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from kb_pipeline.errors import SettingsError, StoreError
from kb_pipeline.services.caching import CachedEmbedder, MemoryCache
from kb_pipeline.services.embedder import open_embedder
from kb_pipeline.services.hashing import HashingEmbedder
from kb_pipeline.store.vectors import VectorCache
from kb_pipeline.world import Embedder, Vectors


class Recorder(HashingEmbedder):
    """A hashing model that records what it was asked, and may break after so many texts."""

    def __init__(self, limit: int = 10**9) -> None:
        self.asked: list[str] = []
        self.limit = limit

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Record and compute."""
        if len(self.asked) + len(texts) > self.limit:
            raise KeyboardInterrupt
        self.asked += texts
        return super().embed(texts)


def test_equal_texts_are_computed_once() -> None:
    """A text asked twice, in one call or in two, costs one computation, and order is kept."""
    model = Recorder()
    embedder: Embedder = CachedEmbedder(model, MemoryCache(384))
    texts = ["b", "a", "b", "c", "a"]
    vectors = embedder.embed(texts)
    assert model.asked == ["b", "a", "c"]
    assert np.array_equal(vectors, HashingEmbedder().embed(texts))
    assert np.array_equal(embedder.embed(["c", "d"]), HashingEmbedder().embed(["c", "d"]))
    assert model.asked == ["b", "a", "c", "d"]
    assert isinstance(embedder, CachedEmbedder)
    assert embedder.computed == 4


def test_a_vector_is_recalled_by_key_without_its_text() -> None:
    """``recall`` finds what was embedded, leaves the others zero and computes nothing."""
    embedder = open_embedder("hashing")
    vector = embedder.embed(["known"])[0]
    vectors, found = embedder.recall([embedder.key("unknown"), embedder.key("known")])
    assert found.tolist() == [False, True]
    assert not vectors[0].any()
    assert np.array_equal(vectors[1], vector)
    assert embedder.computed == 1


def test_keys_tell_models_and_texts_apart() -> None:
    """A key has 16 bytes and differs by model and by text."""
    hashing, minilm = open_embedder("hashing"), open_embedder("minilm")
    keys = {hashing.key("a"), hashing.key("b"), minilm.key("a"), hashing.key("\udce9")}
    assert len(keys) == 4
    assert {len(key) for key in keys} == {16}


def test_an_interrupted_run_keeps_its_finished_steps() -> None:
    """What was computed before an interrupt is not computed again."""
    cache = MemoryCache(384)
    texts = [f"text {n}" for n in range(5_000)]
    with pytest.raises(KeyboardInterrupt):
        CachedEmbedder(Recorder(limit=4_500), cache).embed(texts)
    again = CachedEmbedder(Recorder(), cache)
    again.embed(texts)
    assert again.computed == 1_000


@pytest.mark.parametrize("fine", [0, 1, 2])
def test_a_cache_that_cannot_be_written_stops_the_work(fine: int) -> None:
    """Whichever step cannot be kept, while the next is computed or after the last, the caller is told."""

    class Full(MemoryCache):
        def put(self, keys: Sequence[bytes], vectors: Vectors) -> None:
            if len(self._rows) >= fine * 2_000:
                raise StoreError("the disk is full.")
            super().put(keys, vectors)

    with pytest.raises(StoreError, match="the disk is full"):
        CachedEmbedder(Recorder(), Full(384)).embed([f"text {n}" for n in range(5_000)])


def test_what_is_cached_needs_no_model() -> None:
    """With every text in the cache the model is never loaded."""
    cache = MemoryCache(384)
    minilm = open_embedder("minilm", cache)
    cache.put([minilm.key("text")], np.eye(1, 384, dtype=np.float32))
    assert minilm.embed(["text"])[0, 0] == 1.0
    assert minilm.computed == 0


def test_vectors_outlive_the_process_in_a_folder(tmp_path: Path) -> None:
    """Over a cache on disk a second embedder computes nothing."""
    with open_embedder("hashing", VectorCache(tmp_path)) as first:
        vectors = first.embed(["a", "b"])
    with open_embedder("hashing", VectorCache(tmp_path)) as second:
        assert np.array_equal(second.embed(["b", "a"]), vectors[::-1])
        assert second.computed == 0


def test_an_unknown_name_lists_the_known_ones() -> None:
    """A wrong setting is an error with the cure."""
    with pytest.raises(SettingsError, match="Known embedders: minilm, hashing"):
        open_embedder("minilm2")
