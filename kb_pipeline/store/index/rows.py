"""Rows as Arrow: one table schema, and immutable memory-mapped segments of it. Knows no vector and no token."""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kb_pipeline.records import Row
from kb_pipeline.rules.ids import row_hash

Keys = npt.NDArray[np.uint64]

_LONG_TEXT = ("text", "quote")
"""Columns whose values may exceed 2 GiB in one segment."""


def _arrow_type(name: str, annotation: Any) -> pa.DataType:
    if annotation is int:
        return pa.int64()
    if annotation == tuple[str, ...]:
        return pa.list_(pa.string())
    return pa.large_string() if name in _LONG_TEXT else pa.string()


FIELDS = tuple(Row.model_fields)
SCHEMA = pa.schema(
    [(name, _arrow_type(name, field.annotation)) for name, field in Row.model_fields.items()]
    + [("hash", pa.string()), ("key", pa.uint64())]
)

_values = attrgetter(*FIELDS)


@lru_cache(maxsize=1 << 16)  # one search asks for the same ids several times
def key(row_id: str) -> int:
    """64 bits that stand for a row's id where only numbers are fast (a collision in a million rows: 3 in 10⁸)."""
    return int.from_bytes(blake2b(row_id.encode(), digest_size=8).digest())


def keys(row_ids: Sequence[str]) -> Keys:
    """The keys of many ids, in order."""
    return np.fromiter(map(key, row_ids), dtype=np.uint64, count=len(row_ids))


def to_table(rows: Sequence[Row]) -> pa.Table:
    """Rows as a table of ``SCHEMA``, with the hash that a delta is computed from and the key."""
    if not rows:
        return SCHEMA.empty_table()
    columns = [*zip(*map(_values, rows), strict=True), [row_hash(row) for row in rows], keys([row.id for row in rows])]
    arrays = [pa.array(column, type=field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    return pa.table(arrays, schema=SCHEMA)


def to_rows(table: pa.Table) -> list[Row]:
    """The rows of a table of ``SCHEMA``."""
    return [Row(**values) for values in table.select(FIELDS).to_pylist()]


def write_segment(path: Path, table: pa.Table) -> None:
    """Write ``table`` as one Arrow IPC file of one batch, so that a row is found by its number alone."""
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, SCHEMA) as writer:
        writer.write_table(table.combine_chunks(), max_chunksize=max(1, table.num_rows))


def read_segment(path: Path) -> pa.Table:
    """Map a segment into memory; raises ``pyarrow.ArrowInvalid`` or ``OSError`` where it is damaged."""
    table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    if table.schema != SCHEMA:
        raise pa.ArrowInvalid(f"{path.name} has other columns than this version writes.")
    return table
