"""A generation opened for reading: its rows, vectors and words mapped into memory together. Knows no mask, no scope.

Rows are numbered through all segments (a *position*); rows replaced or removed since are dead.
"""

from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kb_pipeline.errors import KbError, NotFound
from kb_pipeline.rules.columns import SCHEMA, Keys
from kb_pipeline.store.index import generations, rows, scan
from kb_pipeline.store.index.lexical import PASSAGE, PASSAGES, UNITS, Lexicon
from kb_pipeline.store.index.scan import Flags, Positions
from kb_pipeline.world import Vectors

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
        self.lexicons = {family: Lexicon(self.folder / WORDS / family) for family in (UNITS, PASSAGES)}
        self.live = np.ones(int(self.first[-1]), dtype=np.bool_)
        for segment, first in zip(segments, self.first, strict=False):
            if segment.dead:
                self.live[first + np.load(self.folder / DEAD / f"{segment.name}.npy")] = False
        keys = self.column("key").to_numpy().astype(np.uint64)
        alive = np.flatnonzero(self.live)
        order = np.argsort(keys[alive], kind="stable")
        self._keys, self._positions = keys[alive][order], alive[order]
        worded = sum(map(len, self.lexicons.values()))
        if worded != len(alive):
            raise generations.damaged(self.folder, f"{len(alive)} rows, but the words of {worded}")

    @cached_property
    def families(self) -> dict[str, frozenset[str]]:
        """The kinds of row whose words each lexicon holds here."""
        kinds = frozenset(self.manifest.counts)
        return {UNITS: kinds - {PASSAGE}, PASSAGES: kinds & {PASSAGE}}

    def column(self, name: str) -> pa.ChunkedArray:
        """One column over all positions, dead rows included."""
        chunks = [chunk for table in self.tables for chunk in table.column(name).chunks]
        return pa.chunked_array(chunks, SCHEMA.field(name).type)

    def ids(self, positions: Positions) -> list[str]:
        """The ids of the rows at these positions, in order."""
        return list(self._ids[positions].tolist())

    def positions(self, keys: Keys) -> Positions:
        """Where the live rows of these keys stand; -1 where there is none."""
        if not len(self._keys):
            return np.full(len(keys), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[at] == keys, self._positions[at], -1)

    def take(self, positions: Positions) -> pa.Table:
        """The rows at these positions, in order."""
        segments = np.searchsorted(self.first, positions, side="right") - 1
        present = np.unique(segments).tolist()
        parts = [
            self.tables[segment].take(pa.array(positions[segments == segment] - self.first[segment]))
            for segment in present
        ]
        if len(parts) == 1:
            return parts[0]
        table = pa.concat_tables(parts) if parts else SCHEMA.empty_table()
        return table.take(pa.array(np.argsort(np.argsort(segments, kind="stable"), kind="stable")))

    def exact(self, positions: Positions) -> tuple[Vectors, Flags]:
        """The vectors of the rows at these positions ``(n, dim)``, and which of them have one."""
        vectors = np.zeros((len(positions), self.manifest.dim), np.float32)
        found = np.zeros(len(positions), np.bool_)
        for block in self.blocks:
            here = (positions >= block.first) & (positions < block.first + len(block.exact))
            vectors[here] = block.exact[positions[here] - block.first]
            found |= here
        return vectors, found

    @cached_property
    def _ids(self) -> npt.NDArray[np.object_]:
        return np.array(self.column("id").to_pylist(), dtype=np.object_)

    @cached_property
    def cited(self) -> "Citations":
        """Which documents each row cites."""
        return Citations(self.column("docs"), self.column("doc_id"))

    @cached_property
    def originated(self) -> "Citations":
        """Whose own words each row is; a row that names no origin has those of its first document."""
        return Citations(self.column("origins"), self.column("doc_id"))

    @cached_property
    def passages(self) -> Positions:
        """For each row the position of the live chunk in which it begins; -1 where there is none."""
        start, end = (self.column(name).to_numpy().astype(np.int64) for name in ("start", "end"))
        docs = self.column("doc_id").combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
        chunk = np.asarray(pc.equal(self.column("kind"), PASSAGE).to_numpy(), dtype=np.bool_) & self.live
        order = np.lexsort((start, docs))
        order = order[chunk[order]]
        found = np.full(len(start), -1, dtype=np.int64)
        if len(order):
            stride = int(start.max(initial=0)) + 1
            before = np.searchsorted(docs[order] * stride + start[order], docs * stride + start, side="right") - 1
            candidate = order[np.maximum(before, 0)]
            inside = (before >= 0) & (docs[candidate] == docs) & (start < end[candidate]) & ~chunk
            found[inside] = candidate[inside]
        return found


class Citations:
    """A many-to-many relation of positions and documents, for questions about all rows at once."""

    def __init__(self, docs: pa.ChunkedArray, fallback: pa.ChunkedArray) -> None:
        several = [
            names or ([one] if one else []) for names, one in zip(docs.to_pylist(), fallback.to_pylist(), strict=True)
        ]
        self.documents = sorted({name for names in several for name in names})
        numbers = {name: number for number, name in enumerate(self.documents)}
        counts = [len(names) for names in several]
        self._rows = np.repeat(np.arange(len(several)), counts)
        self._docs = np.array([numbers[name] for names in several for name in names], dtype=np.int64)
        self._first = np.cumsum([0, *counts])

    def of(self, position: int) -> list[str]:
        """The documents of one row."""
        return [self.documents[number] for number in self._docs[self._first[position] : self._first[position + 1]]]

    def touching(self, wanted: frozenset[str]) -> Flags:
        """Which rows name at least one of these documents."""
        return self._touching(self._among(wanted))

    def only(self, wanted: frozenset[str]) -> Flags:
        """Which rows name documents, all of them among these."""
        inside = self._among(wanted)
        return self._touching(inside) & ~self._touching(~inside)

    def _among(self, wanted: frozenset[str]) -> Flags:
        return np.fromiter((name in wanted for name in self.documents), np.bool_, len(self.documents))

    def _touching(self, chosen: Flags) -> Flags:
        flags = np.zeros(len(self._first) - 1, dtype=np.bool_)
        flags[self._rows[chosen[self._docs]]] = True
        return flags
