"""An embedder without a model: hashed words and character n-grams. Owns the features; knows nothing of caches.

For tests and as a named last resort (``KB_EMBEDDER=hashing``): texts are near when they share words or parts of words,
never because they mean the same. Deterministic on every machine.
"""

import re
import zlib
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from kb_pipeline.world import Vectors

_DIM = 384
# A letter of a script written without spaces stands for a word.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]|\w+")
_GRAMS = (3, 4)
_CHAR_SHARE = 0.5


class HashingEmbedder:
    """Feature hashing with signs (Weinberger et al. 2009) of words, word pairs and character 3- and 4-grams.

    A word weighs ``log2(1 + length)``, since without corpus statistics its length is the best sign of how much it
    tells (Zipf's law of abbreviation). Character n-grams count half as much as words do together.
    """

    name = "hashing-384@1"
    dim = _DIM

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape ``(len(texts), 384)``; a text without letters or digits gives the first unit vector."""
        vectors = np.zeros((len(texts), _DIM), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            row[:] = _unit(_features(text.casefold()))
        return vectors

    def warm(self) -> None:
        """Nothing is loaded."""

    def close(self) -> None:
        """Nothing is held."""


def _features(text: str) -> npt.NDArray[np.float64]:
    words = _WORD.findall(text)
    if not words:
        return np.zeros(_DIM)
    return _unit(_word_features(words)) + _CHAR_SHARE * _unit(_char_features(f" {' '.join(words)} "))


def _word_features(words: list[str]) -> npt.NDArray[np.float64]:
    weights = np.log2(1.0 + np.array([len(w) for w in words]))
    pairs = [f"{a} {b}" for a, b in pairwise(words)]
    pair_weights = np.minimum(weights[:-1], weights[1:]) / 2
    hashes = np.array([zlib.crc32(w.encode("utf-8", "replace")) for w in (*words, *pairs)], dtype=np.uint64)
    return _fold(hashes, np.concatenate([weights, pair_weights]))


def _char_features(text: str) -> npt.NDArray[np.float64]:
    codes = np.frombuffer(text.encode("utf-32-le", "replace"), dtype=np.uint32).astype(np.uint64)
    grams = []
    for n in _GRAMS:
        rolled = np.full(max(len(codes) - n + 1, 0), n, dtype=np.uint64)
        for offset in range(n):
            rolled = rolled * np.uint64(0x100000001B3) + codes[offset : offset + len(rolled)]
        grams.append(rolled)
    hashes = np.concatenate(grams)
    return _fold(hashes, np.ones(len(hashes)))


def _fold(hashes: npt.NDArray[np.uint64], weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Sum ``weights`` into 384 places, each with the sign that its hash gives; repeats count by square root."""
    mixed = hashes * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    unique, first, counts = np.unique(mixed, return_index=True, return_counts=True)
    signs = np.where(unique >> np.uint64(63), 1.0, -1.0)
    places = (unique % np.uint64(_DIM)).astype(np.intp)
    folded = np.zeros(_DIM)
    np.add.at(folded, places, signs * weights[first] * np.sqrt(counts))
    return folded


def _unit(vector: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    length = float(np.linalg.norm(vector))
    if length > 0:
        return vector / length
    first = np.zeros(_DIM)
    first[0] = 1.0
    return first
