"""Rows of the index as columns: the Arrow schema that they have, rows that are columns until they are asked for, and
the bytes as which they travel. Pure; knows no segment and no generation."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from operator import attrgetter
from typing import Any, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kb_pipeline.records import Row
from kb_pipeline.rules.ids import row_hash

Keys = npt.NDArray[np.uint64]

_LONG_TEXT = ("text", "quote")
"""Columns whose values may exceed 2 GiB in one segment."""
_AT_ONCE = 4_096  # rows taken out of Arrow


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


class Rows(Sequence[Row]):
    """The rows of ``table``, which has the columns of ``SCHEMA``: each is made when it is asked for."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @overload
    def __getitem__(self, at: int) -> Row: ...

    @overload
    def __getitem__(self, at: slice) -> "Rows": ...

    def __getitem__(self, at: int | slice) -> "Row | Rows":
        places = range(len(self))[at]
        return self.take(places) if isinstance(places, range) else to_rows(self.table.slice(places, 1))[0]

    def __iter__(self) -> Iterator[Row]:
        for start in range(0, len(self), _AT_ONCE):
            yield from to_rows(self.table.slice(start, _AT_ONCE))

    def take(self, places: Sequence[int]) -> "Rows":
        """The rows at these places; itself where these are all."""
        everything = len(places) == len(self) and all(n == place for n, place in enumerate(places))
        return self if everything else Rows(self.table.take(pa.array(places, pa.int64())))

    def values(self, column: str) -> list[Any]:
        """One column."""
        return list(self.table.column(column).to_pylist())


@lru_cache(maxsize=1 << 16)  # one search asks for the same ids several times
def key(row_id: str) -> int:
    """64 bits that stand for a row's id where only numbers are fast (a collision in a million rows: 3 in 10⁸)."""
    return int.from_bytes(blake2b(row_id.encode(), digest_size=8).digest())


def keys(row_ids: Sequence[str]) -> Keys:
    """The keys of many ids, in order."""
    return np.fromiter(map(key, row_ids), dtype=np.uint64, count=len(row_ids))


def to_table(rows: Sequence[Row]) -> pa.Table:
    """Rows as a table of ``SCHEMA``, with the hash that a delta is computed from and the key."""
    if isinstance(rows, Rows):
        return rows.table
    if not rows:
        return SCHEMA.empty_table()
    columns = [*zip(*map(_values, rows), strict=True), [row_hash(row) for row in rows], keys([row.id for row in rows])]
    arrays = [pa.array(column, type=field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    return pa.table(arrays, schema=SCHEMA)


def to_rows(table: pa.Table) -> list[Row]:
    """The rows of a table of ``SCHEMA``."""
    return [Row(**values) for values in table.select(FIELDS).to_pylist()]


def packed(rows: Sequence[Row]) -> bytes:
    """Rows as bytes: between processes they travel a hundred times faster so than as records."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, SCHEMA) as stream:
        stream.write_table(to_table(rows))
    return bytes(sink.getvalue())


def unpacked(data: bytes) -> pa.Table:
    """The table of ``packed`` rows, which keeps ``data``."""
    return pa.ipc.open_stream(data).read_all()


def joined(tables: Iterable[pa.Table]) -> Rows:
    """The rows of several tables."""
    return Rows(pa.concat_tables([SCHEMA.empty_table(), *tables]))
