"""Rows on disk: immutable memory-mapped segments of an Arrow table. Knows no vector and no token."""

from pathlib import Path

import pyarrow as pa

from kb_pipeline.rules.columns import SCHEMA


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
