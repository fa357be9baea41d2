"""Vectors computed once: an embedder that remembers. Owns keys, order and counting; knows no model and no disk."""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from kb_pipeline.rules.ids import digest
from kb_pipeline.world import VectorCache, Vectors

# Vectors computed between two visits to the cache: about three seconds of work; a kill can cost two such steps.
_STEP = 2_000


class Model(Protocol):
    """What computes vectors. ``name`` changes whenever the vectors do."""

    name: str
    dim: int

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape ``(len(texts), dim)``, the same for a text whatever stands beside it."""

    def warm(self) -> None:
        """Start loading what the first text would wait for, if anything; never fails."""

    def close(self) -> None:
        """Release what the model holds."""


class MemoryCache:
    """A ``VectorCache`` that lasts as long as the process."""

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._rows: dict[bytes, Vectors] = {}

    def get(self, keys: Sequence[bytes]) -> tuple[Vectors, npt.NDArray[np.bool_]]:
        """Vectors ``(n, dim)`` and which ``keys`` were found."""
        vectors = np.zeros((len(keys), self._dim), dtype=np.float32)
        found = np.zeros(len(keys), dtype=np.bool_)
        for i, key in enumerate(keys):
            row = self._rows.get(key)
            if row is not None:
                vectors[i], found[i] = row, True
        return vectors, found

    def put(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        """Keep ``vectors`` under ``keys``."""
        self._rows.update(zip(keys, np.array(vectors, dtype=np.float32), strict=True))


class CachedEmbedder:
    """A ``world.Embedder`` over ``model``: equal texts are computed once, ever, as far as ``cache`` remembers.

    ``computed`` counts the vectors that this object had to compute, in ``seconds`` of wall time. Safe for threads:
    while one computes, others that need no computing are not held up.
    """

    def __init__(self, model: Model, cache: VectorCache) -> None:
        self.name, self.dim = model.name, model.dim
        self.computed, self.seconds = 0, 0.0
        self._model, self._cache = model, cache
        self._computing = threading.Lock()

    def key(self, text: str) -> bytes:
        """16 bytes of SHA-256 over the model's name and ``text``."""
        return bytes.fromhex(digest(self.name, text.encode("utf-8", "surrogatepass")))

    def recall(self, keys: Sequence[bytes]) -> tuple[Vectors, npt.NDArray[np.bool_]]:
        """Cached vectors ``(n, dim)``, the caller's own, and which were found (rows of the others are zero); computes
        nothing."""
        return self._cache.get(keys)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape ``(len(texts), dim)``, L2-normalised, in the order of ``texts``.

        What is missing is computed and kept in steps of 2,000, so that a killed run loses two of them at most: one is
        written while the next is computed.
        """
        keys = [self.key(text) for text in texts]
        vectors, found = self._cache.get(keys)
        if not found.all():
            with self._computing:
                self._compute(texts, keys, vectors, np.flatnonzero(~found))
        return vectors

    def _compute(
        self, texts: Sequence[str], keys: Sequence[bytes], vectors: Vectors, missing: npt.NDArray[np.intp]
    ) -> None:
        places: dict[bytes, list[int]] = {}
        for i in missing.tolist():
            places.setdefault(keys[i], []).append(i)
        todo = list(places)
        with ThreadPoolExecutor(1) as writer:
            writing: list[Future[None]] = []
            for start in range(0, len(todo), _STEP):
                step = todo[start : start + _STEP]
                began = time.monotonic()
                fresh = self._model.embed([texts[places[key][0]] for key in step])
                self.seconds += time.monotonic() - began
                self.computed += len(step)
                if writing:
                    writing.pop().result()
                writing.append(writer.submit(self._cache.put, step, fresh))
                for key, row in zip(step, fresh, strict=True):
                    vectors[places[key]] = row
            writing.pop().result()

    def warm(self) -> None:
        """Start loading the model, for which there will be work."""
        self._model.warm()

    def close(self) -> None:
        """Release the model; the cache stays with whoever gave it."""
        self._model.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
