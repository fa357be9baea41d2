"""SQL over a table of rows: one SELECT, in memory, cut off from files, network and settings. Knows no generation."""

import threading
from typing import Any

import pyarrow as pa

from kb_pipeline.errors import KbError

SECONDS = 30.0
ROWS = 100_000
"""Limits of one query; what wants more is an export, not a question."""

_CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "memory_limit": "1GB",
    "temp_directory": "",
    "threads": "2",
}


def run(
    query: str, table: pa.Table, *, seconds: float = SECONDS, limit: int = ROWS
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Column names and rows of ``query`` over ``table``, named ``rows``.

    Raises ``KbError`` (code ``sql``) for anything but one SELECT (also WITH, FROM, VALUES, DESCRIBE, SUMMARIZE), for a
    mistake in it, and beyond ``seconds`` or ``limit`` rows.
    """
    import duckdb  # 60 ms that a search need not pay

    with duckdb.connect(":memory:", config=_CLOSED) as connection:
        connection.register("rows", table)
        connection.execute("SET lock_configuration = true")
        timer = threading.Timer(seconds, connection.interrupt)
        try:
            statements = connection.extract_statements(query)
            if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
                raise _refused("is not a single SELECT.", "Ask one question of the table rows; nothing can be changed.")
            timer.start()
            result = connection.execute(statements[0])
            found = result.fetchmany(limit + 1)
        except duckdb.InterruptException as error:
            raise _refused(f"took longer than {seconds:g} s.", "Narrow it with WHERE or LIMIT.") from error
        except duckdb.Error as error:
            raise _refused(str(error).strip(), "`DESCRIBE rows` lists the columns.") from error
        finally:
            timer.cancel()
        if len(found) > limit:
            raise _refused(f"gives more than {limit} rows.", "Add LIMIT, or aggregate.")
        return [column[0] for column in result.description], found


def _refused(what: str, cure: str) -> KbError:
    return KbError(what, where="sql", cure=cure, code="sql")
