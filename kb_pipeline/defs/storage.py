"""Dagster's SQLite state with its connections kept open, for one process that works through a build. Knows no run.

Dagster opens a connection for each event and each question, 400 in a small build, and closes it at once: each opening
compiles its statements anew, each closing folds the write-ahead log back into the database. For the file of each run
it reads all revisions of its tables, twice, to learn which is the newest.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from dagster._core.instance.ref import InstanceRef
from dagster._core.storage.event_log import SqlEventLogStorageMetadata, SqliteEventLogStorage
from dagster._core.storage.event_log.sqlite import sqlite_event_log
from dagster._core.storage.runs import SqliteRunStorage
from dagster._core.storage.sql import get_alembic_config
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster._serdes import ConfigurableClassData
from sqlalchemy import Column, Connection, Engine, MetaData, PrimaryKeyConstraint, String, Table, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DatabaseError

_REVISION = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32)),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)


def kept_open(described: InstanceRef) -> InstanceRef:
    """``described`` with its SQLite state kept open; any other storage as it is."""
    storage = described.storage_data
    if storage is None or storage.class_name != DagsterSqliteStorage.__name__:
        return described
    ours = ConfigurableClassData(__name__, KeptStorage.__name__, storage.config_yaml)
    return described._replace(storage_data=ours)


class KeptStorage(DagsterSqliteStorage):
    """The state that ``storage: sqlite`` names, in the same files."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        super().__init__(base_dir, inst_data)
        self._run_storage = _Runs(self._run_storage._conn_string)  # noqa: SLF001 - where Dagster keeps it
        self._event_log_storage = _Events(self._event_log_storage._base_dir)  # noqa: SLF001 - as above

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Any) -> Self:
        """As Dagster makes it from its configuration."""
        return cls.from_local(inst_data=inst_data, **config_value)


class _Runs(SqliteRunStorage):
    def __init__(self, conn_string: str) -> None:
        super().__init__(conn_string)
        self._engine = _engine(conn_string)

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        with self._engine.begin() as connection:
            yield connection

    def dispose(self) -> None:
        self._engine.dispose()
        super().dispose()


class _Events(SqliteEventLogStorage):
    def __init__(self, base_dir: str) -> None:
        self._engines: dict[str, Engine] = {}
        self._tables: set[str] = set()
        super().__init__(base_dir)

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        with self._db_lock:
            if shard not in self._engines:
                self._engines[shard] = self._opened(shard)
            with self._engines[shard].begin() as connection:
                yield connection

    def _opened(self, shard: str) -> Engine:
        """A file that is ready: a new one is made at the newest revision, what else has none is Dagster's to mend."""
        is_new = not Path(self.path_for_shard(shard)).exists()
        engine = _engine(self.conn_string_for_shard(shard))
        if is_new:
            with suppress(DatabaseError), engine.begin() as connection:  # the daemon may look at the run just now
                SqlEventLogStorageMetadata.create_all(connection)
                _REVISION.create(connection)
                connection.execute(_REVISION.insert().values(version_num=self._newest))
        with engine.connect() as connection:
            ready = MigrationContext.configure(connection).get_current_revision()
        if not ready:
            self._initdb(engine)
        return engine

    @cached_property
    def _newest(self) -> str | None:
        return ScriptDirectory.from_config(get_alembic_config(sqlite_event_log.__file__)).get_current_head()

    def has_table(self, table_name: str) -> bool:
        """Asked at every event, of tables that do not go."""
        if table_name not in self._tables and super().has_table(table_name):
            self._tables.add(table_name)
        return table_name in self._tables

    def dispose(self) -> None:
        for engine in self._engines.values():
            engine.dispose()
        super().dispose()


def _engine(address: str) -> Engine:
    """An engine whose commits wait for no disk: the file stays whole, a power loss takes the last events at most.

    Dagster turns to the write-ahead log too, but only once each statement that makes the tables of a run has waited.
    """
    engine = create_engine(address, connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS})
    event.listen(engine, "connect", _unhurried)
    return engine


def _unhurried(connection: DBAPIConnection, _: object) -> None:
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL"):
        connection.cursor().execute(f"PRAGMA {pragma}")
