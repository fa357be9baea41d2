"""Vectors on disk by 16-byte key: append-only segments, read through the page cache. Knows no model and no text.

A segment is a pair of files: ``00000001-384.rows`` holds float32 rows one after the other, ``00000001-384.keys``
their keys. Rows are on disk before their keys are written, and a row without a key does not count, so that a process
killed or a machine stopped at any instant leaves a readable cache that lacks at most the last rows. The next writer
cuts such a tail off. Losing all of it costs time only.
"""

import fcntl
import os
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from kb_pipeline.errors import StoreError
from kb_pipeline.world import Vectors

_KEY = 16
_SEGMENT_ROWS = 65_536  # 100 MB of 384-d rows: what a growing segment costs to look over again stays small
_COPIED_ROWS = 4_096  # at a time, so that a large answer is not held twice


@dataclass(frozen=True)
class _Segment:
    """The first ``count`` rows of a pair of files, found by key through a sorted list of the keys' first halves."""

    keys_file: Path
    identity: tuple[int, int, int]
    rows: Vectors
    heads: npt.NDArray[np.uint64]
    tails: npt.NDArray[np.uint64]
    order: npt.NDArray[np.intp]

    @property
    def count(self) -> int:
        return len(self.order)

    @classmethod
    def read(cls, keys_file: Path, dim: int) -> Self:
        """Map the rows that have a key and are whole."""
        rows_file = keys_file.with_suffix(".rows")
        data = keys_file.read_bytes()
        status = rows_file.stat()
        count = min(len(data) // _KEY, status.st_size // (4 * dim))
        halves = np.frombuffer(data, dtype="<u8", count=2 * count).reshape(count, 2)
        order = np.argsort(halves[:, 0], kind="stable")
        rows = np.memmap(rows_file, dtype="<f4", mode="r", shape=(count, dim)) if count else np.empty((0, dim), "<f4")
        identity = (status.st_ino, status.st_size, len(data))
        return cls(keys_file, identity, rows, halves[order, 0], halves[order, 1], order)

    def named(self) -> list[bytes]:
        """The keys, in no order."""
        halves = np.stack([self.heads, self.tails], axis=1).astype("<u8")
        return [row.tobytes() for row in halves]

    @staticmethod
    def identify(keys_file: Path) -> tuple[int, int, int]:
        """What changes with every append; the mapping keeps the inode from being given to another file."""
        status = keys_file.with_suffix(".rows").stat()
        return status.st_ino, status.st_size, keys_file.stat().st_size

    def find(self, wanted: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Which of ``wanted`` (n, 2) stand here, and at which rows."""
        if not self.count:
            return np.empty(0, np.intp), np.empty(0, np.intp)
        at = np.minimum(np.searchsorted(self.heads, wanted[:, 0]), self.count - 1)
        hits = np.flatnonzero((self.heads[at] == wanted[:, 0]) & (self.tails[at] == wanted[:, 1]))
        return hits, self.order[at[hits]]


class VectorCache:
    """A ``world.VectorCache`` of ``dim`` floats a row under ``folder``, which is made by the first ``put``.

    Several processes may read while one writes; writers take turns. With ``read_only`` a ``put`` keeps nothing, for
    readers that must leave no trace. Reading raises ``StoreError`` where the files cannot be read, writing where they
    cannot be written.
    """

    def __init__(self, folder: Path, dim: int = 384, *, read_only: bool = False) -> None:
        self._folder, self._dim, self._read_only = folder, dim, read_only
        self._segments: list[_Segment] = []
        self._guard = threading.RLock()

    def get(self, keys: Sequence[bytes]) -> tuple[Vectors, npt.NDArray[np.bool_]]:
        """Vectors ``(n, dim)`` and which of the 16-byte ``keys`` were found (rows of the others are zero)."""
        vectors = np.zeros((len(keys), self._dim), dtype=np.float32)
        found = np.zeros(len(keys), dtype=np.bool_)
        wanted = _halves(keys)
        with self._guard, _reporting("read", self._folder):
            self._fill(wanted, vectors, found, self._segments)
            if not found.all():
                self._fill(wanted, vectors, found, self._refresh())
        return vectors, found

    def put(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        """Keep ``vectors``, shape ``(n, dim)``, under ``keys``; a key that is here already stays as it is."""
        if self._read_only or not len(keys):
            return
        with self._guard, _reporting("written", self._folder), self._writing():
            _, found = self.get(keys)
            fresh = {key: i for i, key in enumerate(keys) if not found[i]}
            rows = np.ascontiguousarray(vectors[list(fresh.values())], dtype="<f4")
            self._append(list(fresh), rows)

    def retain(self, keys: Collection[bytes]) -> int:
        """Forget every vector but those of ``keys``; how many went. Readers find the rest throughout, or compute it."""
        with self._guard, _reporting("written", self._folder), self._writing():
            self._refresh()
            kept = sorted({key for segment in self._segments for key in segment.named()}.intersection(keys))
            before = sum(segment.count for segment in self._segments)
            if len(kept) == before:
                return 0
            vectors, _ = self.get(kept)
            for segment in self._segments:
                segment.keys_file.unlink(missing_ok=True)
                segment.keys_file.with_suffix(".rows").unlink(missing_ok=True)
            self._segments = []
            self._append(kept, np.ascontiguousarray(vectors, dtype="<f4"))
            return before - len(kept)

    def __len__(self) -> int:
        with self._guard, _reporting("read", self._folder):
            self._refresh()
            return sum(segment.count for segment in self._segments)

    def _fill(
        self,
        wanted: npt.NDArray[np.uint64],
        vectors: Vectors,
        found: npt.NDArray[np.bool_],
        segments: Sequence[_Segment],
    ) -> None:
        for segment in segments:
            missing = np.flatnonzero(~found)
            hits, rows = segment.find(wanted[missing])
            places = missing[hits]
            for start in range(0, len(places), _COPIED_ROWS):
                step = slice(start, start + _COPIED_ROWS)
                vectors[places[step]] = segment.rows[rows[step]]
            found[places] = True

    def _refresh(self) -> list[_Segment]:
        """Look for what others wrote; the segments that are new or have grown."""
        known = {segment.keys_file: segment for segment in self._segments}
        self._segments, news = [], []
        for keys_file in sorted(self._folder.glob(f"*-{self._dim}.keys")):
            try:
                segment = known.get(keys_file)
                if segment is None or segment.identity != _Segment.identify(keys_file):
                    segment = _Segment.read(keys_file, self._dim)
                    news.append(segment)
            except FileNotFoundError:  # somebody clears the cache
                continue
            self._segments.append(segment)
        return news

    def _append(self, keys: list[bytes], rows: Vectors) -> None:
        done = 0
        while done < len(keys):
            last = self._segments[-1] if self._segments else None
            if last is None or last.count >= _SEGMENT_ROWS:
                number = int(last.keys_file.name.split("-")[0]) + 1 if last else 1
                keys_file, count = self._folder / f"{number:08}-{self._dim}.keys", 0
            else:
                keys_file, count = last.keys_file, last.count
            step = slice(done, done + _SEGMENT_ROWS - count)
            _extend(keys_file.with_suffix(".rows"), count * 4 * self._dim, rows[step].tobytes())
            _extend(keys_file, count * _KEY, b"".join(keys[step]))
            done = step.stop
            self._refresh()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / "lock").open("a") as lock:
            fcntl.flock(lock.fileno(), fcntl.LOCK_EX)  # the kernel frees it when this file is closed
            yield


def _halves(keys: Sequence[bytes]) -> npt.NDArray[np.uint64]:
    return np.frombuffer(b"".join(keys), dtype="<u8").reshape(len(keys), 2)


def _extend(path: Path, keep: int, data: bytes) -> None:
    """Write ``data`` after the first ``keep`` bytes of ``path``, and have it on disk before returning."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    with os.fdopen(descriptor, "r+b") as file:
        file.truncate(keep)
        file.seek(keep)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _reporting(what: str, folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"the cached vectors cannot be {what}: {error.strerror or error}.",
            where=str(error.filename or folder),
            cure="Free space or check permissions; the folder may be deleted, which costs time only.",
        ) from error
