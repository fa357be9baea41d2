"""How a generation lies on disk, as one name: its columns, its words and its vectors. Reads no generation."""

from importlib.metadata import version

from kb_pipeline.rules.columns import SCHEMA
from kb_pipeline.rules.ids import digest

_VECTORS = "int8 and float32, row after row"
_DIGITS = 12

LAYOUT = digest(str(SCHEMA), version("tantivy"), _VECTORS)[:_DIGITS]
"""A generation of another layout is not opened: its columns would be missing, or its words unreadable."""
