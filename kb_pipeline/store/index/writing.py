"""A new generation from an earlier one and changed rows: tombstones, compaction. Knows no pointer, lock or reader."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kb_pipeline.rules.columns import Keys
from kb_pipeline.store.index import generations, lexical, rows, scan
from kb_pipeline.store.index.generations import Manifest, Segment
from kb_pipeline.store.index.opened import DEAD, SEGMENTS, WORDS, Generation
from kb_pipeline.store.index.scan import Flags, Positions
from kb_pipeline.world import Pool, Vectors

MOST_SEGMENTS, FEWER_SEGMENTS = 16, 8
"""Above the first number the smallest segments are merged down to the second: one small merge in eight updates."""

MOST_DEAD = 0.2
"""Above this share of dead rows the segments that hold some are rewritten, and the words of all rows."""


@dataclass(frozen=True, eq=False)
class Part:
    """Rows on their way into a segment: those with a vector first, ``len(vectors)`` of them."""

    table: pa.Table
    vectors: Vectors


@dataclass(frozen=True, eq=False)
class _Held:
    """A segment of the base and which of its rows are still live."""

    stem: Path
    segment: Segment
    table: pa.Table
    vectors: Vectors
    live: Flags

    def surviving(self) -> Part:
        """The live rows."""
        return Part(self.table.filter(pa.array(self.live)), self.vectors[self.live[: len(self.vectors)]])

    def share(self, folder: Path) -> Segment:
        """The segment within the generation in ``folder``: the same files, and its own list of dead rows."""
        for suffix in (".arrow", ".i8", ".f32") if self.segment.vectors else (".arrow",):
            generations.share(self.stem.with_suffix(suffix), folder / SEGMENTS / f"{self.segment.name}{suffix}")
        dead = np.flatnonzero(~self.live)
        if len(dead):
            np.save(folder / DEAD / f"{self.segment.name}.npy", dead)
        return self.segment.model_copy(update={"dead": len(dead)})


def write(
    folder: Path, name: str, stamp: Manifest, base: Generation | None, added: Part, gone: Keys, pool: Pool
) -> Manifest:
    """Write into the empty ``folder`` what ``base`` holds, less ``gone``, plus ``added``; returns the manifest.

    ``stamp`` carries analyser, embedder and dimension. Files that stay as they are become hard links.
    """
    (folder / SEGMENTS).mkdir()
    (folder / DEAD).mkdir()
    gone = np.union1d(gone, added.table.column("key").to_numpy())
    held = [segment for segment in _held(base, gone) if segment.live.any()]
    thin = _thin(held)
    merged = [segment for segment in held if not segment.live.all()] if thin else _smallest(held)
    kept = [segment for segment in held if segment not in merged]
    parts = [part for part in (*(segment.surviving() for segment in merged), added) if part.table.num_rows]
    whole = thin or base is None
    tables = [*(segment.table for segment in kept), *(part.table for part in parts)] if whole else [added.table]
    words = [lexical.worded(table, pool) for table in tables]
    segments = [segment.share(folder) for segment in kept]
    if parts:
        segments.append(_write_segment(folder, name, parts))
    _write_words(folder, None if whole else base, gone, words)
    kinds = [segment.table.column("kind").filter(pa.array(segment.live)) for segment in kept]
    counts = _counts([*kinds, *(part.table.column("kind") for part in parts)])
    return stamp.model_copy(update={"segments": tuple(segments), "counts": counts})


def _held(base: Generation | None, gone: Keys) -> Iterable[_Held]:
    if base is None:
        return
    live = base.live.copy()
    live[_found(base, gone)] = False
    vectors = {block.first: block.exact for block in base.blocks}
    none = np.empty((0, base.manifest.dim), np.float32)
    for segment, table, first in zip(base.manifest.segments, base.tables, base.first.tolist(), strict=False):
        stem = base.folder / SEGMENTS / segment.name
        exact = vectors.get(first, none) if segment.vectors else none
        yield _Held(stem, segment, table, exact, live[first : first + segment.rows])


def _thin(held: Sequence[_Held]) -> bool:
    dead = sum(int(np.count_nonzero(~segment.live)) for segment in held)
    return dead > MOST_DEAD * sum(len(segment.live) for segment in held)


def _smallest(held: Sequence[_Held]) -> Sequence[_Held]:
    if len(held) < MOST_SEGMENTS:
        return ()
    return sorted(held, key=lambda segment: int(np.count_nonzero(segment.live)))[: len(held) + 1 - FEWER_SEGMENTS]


def _write_words(
    folder: Path, base: Generation | None, gone: Keys, added: Sequence[Mapping[str, lexical.Worded]]
) -> None:
    """The words of ``base``, if any, less ``gone``, plus those ``added``: an index a family."""
    removed = lexical.families(base.take(_found(base, gone))) if base else {}
    for family in (lexical.UNITS, lexical.PASSAGES):
        lexical.write(
            folder / WORDS / family,
            base.folder / WORDS / family if base else None,
            removed[family].column("key").to_numpy() if base else gone,
            [part[family] for part in added],
        )


def _found(base: Generation, keys: Keys) -> Positions:
    positions = base.positions(keys)
    return positions[positions >= 0]


def _write_segment(folder: Path, name: str, parts: Sequence[Part]) -> Segment:
    """One segment of all parts, vectored rows first."""
    stem = folder / SEGMENTS / name
    vectored = [part.table.slice(0, len(part.vectors)) for part in parts]
    table = pa.concat_tables([*vectored, *(part.table.slice(len(part.vectors)) for part in parts)])
    rows.write_segment(stem.with_suffix(".arrow"), table)
    vectors = parts[0].vectors if len(parts) == 1 else np.concatenate([part.vectors for part in parts])
    if len(vectors):
        scan.write_block(stem, vectors)
    return Segment(name=name, rows=table.num_rows, vectors=len(vectors))


def _counts(kinds: Iterable[pa.ChunkedArray]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for column in kinds:
        total.update({entry["values"]: entry["counts"] for entry in pc.value_counts(column).to_pylist()})
    return dict(sorted(total.items()))
