"""A generation opened for reading: its rows, vectors and words mapped into memory together. Knows no mask, no scope.

Rows are numbered through all segments (a *position*); rows replaced or removed since are dead.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kb_pipeline.errors import KbError, NotFound
from kb_pipeline.store.index import generations, rows, scan
from kb_pipeline.store.index.lexical import Lexicon
from kb_pipeline.store.index.scan import Flags, Positions

SEGMENTS, WORDS, DEAD = "seg", "lex", "dead"


class Generation:
    """All of one generation. Raises ``NotFound`` where it is gone, ``StoreError`` where it is damaged."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.name = folder, folder.name
        self.manifest = generations.read_manifest(folder)
        try:
            self._open()
        except KbError:
            raise
        except (OSError, ValueError, pa.ArrowException) as error:
            if not folder.is_dir():
                raise NotFound(
                    "no such generation.", where=self.name, cure="`kb status` lists those there are."
                ) from error
            raise generations.damaged(folder, str(error)) from error

    def _open(self) -> None:
        segments, dim = self.manifest.segments, self.manifest.dim
        stems = [self.folder / SEGMENTS / segment.name for segment in segments]
        self.first = np.cumsum([0, *(segment.rows for segment in segments)])
        self.tables = [rows.read_segment(stem.with_suffix(".arrow")) for stem in stems]
        self.blocks = [
            scan.read_block(stem, int(first), segment.vectors, dim)
            for stem, segment, first in zip(stems, segments, self.first, strict=False)
            if segment.vectors
        ]
        self.lexicon = Lexicon(self.folder / WORDS)
        self.live = np.ones(int(self.first[-1]), dtype=np.bool_)
        for segment, first in zip(segments, self.first, strict=False):
            if segment.dead:
                self.live[first + np.load(self.folder / DEAD / f"{segment.name}.npy")] = False
        keys = self.column("key").to_numpy().astype(np.uint64)
        alive = np.flatnonzero(self.live)
        order = np.argsort(keys[alive], kind="stable")
        self._keys, self._positions = keys[alive][order], alive[order]
        if len(self.lexicon) != len(alive):
            raise generations.damaged(self.folder, f"{len(alive)} rows, but the words of {len(self.lexicon)}")

    def column(self, name: str) -> pa.ChunkedArray:
        """One column over all positions, dead rows included."""
        chunks = [chunk for table in self.tables for chunk in table.column(name).chunks]
        return pa.chunked_array(chunks, rows.SCHEMA.field(name).type)

    def ids(self, positions: Positions) -> list[str]:
        """The ids of the rows at these positions, in order."""
        return list(self._ids.take(pa.array(positions)).to_pylist())

    def positions(self, keys: rows.Keys) -> Positions:
        """Where the live rows of these keys stand; -1 where there is none."""
        if not len(self._keys):
            return np.full(len(keys), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[at] == keys, self._positions[at], -1)

    def take(self, positions: Positions, columns: Sequence[str] = rows.SCHEMA.names) -> pa.Table:
        """The rows at these positions, in order."""
        segments = np.searchsorted(self.first, positions, side="right") - 1
        order = np.argsort(segments, kind="stable")
        parts = [
            self.tables[segment].select(columns).take(pa.array(positions[segments == segment] - self.first[segment]))
            for segment in np.unique(segments)
        ]
        table = pa.concat_tables(parts) if parts else rows.SCHEMA.empty_table().select(columns)
        return table.take(pa.array(np.argsort(order, kind="stable")))

    @cached_property
    def _ids(self) -> pa.Array:
        return self.column("id").combine_chunks()

    @cached_property
    def cited(self) -> "Citations":
        """Which documents each row cites."""
        return Citations(self.column("docs"), self.column("doc_id"))

    @cached_property
    def originated(self) -> "Citations":
        """Whose own words each row is; a row that names no origin has those of all documents it cites."""
        return Citations(self.column("origins"), self.column("doc_id"))


class Citations:
    """A many-to-many relation of positions and documents, for questions about all rows at once."""

    def __init__(self, docs: pa.ChunkedArray, fallback: pa.ChunkedArray) -> None:
        lists = docs.to_pylist()
        pairs = [
            (position, doc)
            for position, (several, one) in enumerate(zip(lists, fallback.to_pylist(), strict=True))
            for doc in (several or ([one] if one else []))
        ]
        self._count = len(lists)
        self._documents = sorted({doc for _, doc in pairs})
        numbers = {doc: number for number, doc in enumerate(self._documents)}
        self._rows = np.array([position for position, _ in pairs], dtype=np.int64)
        self._docs: npt.NDArray[np.int64] = np.array([numbers[doc] for _, doc in pairs], dtype=np.int64)

    def touching(self, wanted: frozenset[str]) -> Flags:
        """Which rows name at least one of these documents."""
        return self._touching(np.fromiter((doc in wanted for doc in self._documents), np.bool_, len(self._documents)))

    def only(self, wanted: frozenset[str]) -> Flags:
        """Which rows name documents, all of them among these."""
        inside = np.fromiter((doc in wanted for doc in self._documents), np.bool_, len(self._documents))
        return self._touching(inside) & ~self._touching(~inside)

    def documents(self) -> list[str]:
        """Every document that a row names, sorted."""
        return self._documents

    def _touching(self, chosen: Flags) -> Flags:
        flags = np.zeros(self._count, dtype=np.bool_)
        flags[self._rows[chosen[self._docs]]] = True
        return flags
