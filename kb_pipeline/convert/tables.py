"""Grids of cells → Markdown tables. Knows neither HTML nor CSV."""

from collections.abc import Sequence
from typing import NamedTuple

MAX_COLUMNS = 200
MAX_ROWSPAN = 1_000


class Cell(NamedTuple):
    """One cell's text and how many columns and rows it covers."""

    text: str
    columns: int = 1
    rows: int = 1


def spread(rows: Sequence[Sequence[Cell]]) -> list[list[str]]:
    """A plain grid: a cell over several rows stands in each of them (a row must be understood alone), one over
    several columns in the first, the others blank. Spans are bounded (200 columns, 1,000 rows)."""
    grid: list[list[str]] = []
    pending: dict[int, tuple[str, int]] = {}
    for row in rows:
        line: list[str] = []
        for cell in [*row, None]:
            while len(line) in pending:
                text, left = pending.pop(len(line))
                if left > 1:
                    pending[len(line)] = (text, left - 1)
                line.append(text)
            if cell is None or len(line) >= MAX_COLUMNS:
                break
            for extra in range(min(cell.columns, MAX_COLUMNS - len(line))):
                text = "" if extra else cell.text
                if cell.rows > 1:
                    pending[len(line)] = (text, min(cell.rows, MAX_ROWSPAN) - 1)
                line.append(text)
        grid.append(line)
    return grid


def markdown_table(grid: Sequence[Sequence[str]]) -> str:
    """A pipe table whose header is the first row; short rows are filled up, blank rows and columns left out."""
    rows = [row for row in grid if any(cell.strip() for cell in row)]
    width = max((len(row) for row in rows), default=0)
    used = [i for i in range(width) if any(i < len(row) and row[i].strip() for row in rows)]
    lines = ["| " + " | ".join(_escaped(row[i]) if i < len(row) else "" for i in used) + " |" for row in rows]
    return "\n".join([*lines[:1], "|" + " --- |" * len(used), *lines[1:]])


def _escaped(cell: str) -> str:
    return " ".join(cell.split()).replace("|", "\\|")
