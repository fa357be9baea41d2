"""Where the terminal's words go, and what all of them share: a table."""

import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

_PIPED = 200  # columns where nobody looks: a pipe must not be cut at the width of a terminal
OUT = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else _PIPED)
ERR = Console(stderr=True, highlight=False)


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Rows in columns."""
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        shown.add_column(column, overflow="fold")
    for row in rows:
        shown.add_row(*(Text("" if value is None else str(value)) for value in row))
    OUT.print(shown, soft_wrap=False)
