"""``kb build`` runs the same jobs on the instance of ``dagster.yaml``, so that daemon and build know of each other."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from dagster import DagsterInstance, DagsterRunStatus
from dagster._core.instance.ref import InstanceRef
from dagster._core.storage.event_log import SqliteEventLogStorage
from sqlalchemy import event
from sqlalchemy.pool import Pool

from kb_pipeline.api import PER_SOURCE, WHOLE, Listener, shared
from kb_pipeline.defs.storage import kept_open
from kb_pipeline.faces import building
from kb_pipeline.records import BuildReport
from kb_pipeline_tests.defs.plugins import SLOW, install, wait_for
from kb_pipeline_tests.defs.test_gate import COMPETING
from kb_pipeline_tests.defs.ticking import Daemon
from kb_pipeline_tests.driving import Cli, write


@pytest.fixture
def cli(root: Path) -> Cli:
    """The command line over ``root``."""
    return Cli(root)


def build(root: Path) -> BuildReport:
    """What `kb build` does, in this process."""
    everything = {"only": frozenset[str](), "accept_deletions": frozenset[str]()}
    return building.build(shared(root), full=False, listener=Listener(), **everything)


@contextmanager
def opened_instance(root: Path) -> Iterator[DagsterInstance]:
    """The instance of ``dagster.yaml``; the working folder is the root."""
    with DagsterInstance.from_config(str(root)) as instance:
        yield instance


def runs(root: Path) -> list[tuple[str, str, str]]:
    """Job, partition and status of every run, oldest first."""
    with opened_instance(root) as instance:
        found = [(r.job_name, r.tags.get("dagster/partition", ""), r.status.value) for r in instance.get_runs()]
    return found[::-1]


def materializations(instance: DagsterInstance) -> dict[str, int]:
    """How often each asset was materialized."""
    keys = instance.all_asset_keys()
    return {key.to_user_string(): len(instance.fetch_materializations(key, limit=100).records) for key in keys}


def test_a_build_is_known_to_the_daemon(root: Path) -> None:
    """Runs, partitions and external assets stand in the instance; a look right after a build launches nothing."""
    build(root)
    assert runs(root) == [
        ("sync", "notes", "SUCCESS"),
        ("sync", "book", "SUCCESS"),
        ("compile", "", "SUCCESS"),
    ]
    with opened_instance(root) as instance:
        assert set(instance.get_dynamic_partitions("source")) == {"notes", "book"}
        daemon = Daemon(root, instance)
        before = materializations(instance)
        assert daemon.settle() == []
        once = {"source_registry": 1, "taxonomy": 1, **dict.fromkeys(WHOLE, 1)}
        assert before == materializations(instance) == {**dict.fromkeys(PER_SOURCE, 2), **once}


def test_a_build_runs_only_what_is_stale(root: Path) -> None:
    """After an edit one source is synced and one compile runs; where nothing is stale there is no run at all."""
    build(root)
    write(root, {"notes/paging.md": "# Paging\n\nThe default block size is 32 tokens.\n"})
    build(root)
    assert runs(root)[3:] == [("sync", "notes", "SUCCESS"), ("compile", "", "SUCCESS")]
    build(root)
    assert len(runs(root)) == 5


def test_a_build_with_nothing_to_do_does_not_import_dagster(cli: Cli) -> None:
    """Nothing stale costs no orchestrator."""
    cli.build()
    code = (
        "import sys; from kb_pipeline.faces.cli import app\n"
        "try: app()\n"
        "finally: print('dagster' in sys.modules, file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, "build", "--root", str(cli.root)]
    done = subprocess.run(command, env=cli.environ, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "False"


def test_a_removed_source_leaves_no_partition(root: Path) -> None:
    """A build takes partitions away as the sensor does."""
    build(root)
    entry = "{id: notes, type: local, uri: notes, license: CC0-1.0}"
    (root / "sources.yaml").write_text(f"version: 1\nsources:\n  - {entry}\n")
    build(root)
    with opened_instance(root) as instance:
        assert instance.get_dynamic_partitions("source") == ["notes"]


def test_one_source_that_fails_is_told_and_blocks_nothing(root: Path) -> None:
    """The others are compiled, the report says what failed and why, and the build as a whole succeeds."""
    with (root / "sources.yaml").open("a") as file:
        file.write("  - {id: gone, type: local, uri: nowhere}\n")
    report = build(root)
    assert [line.partition(":")[0] for line in report.failed] == ["gone"]
    assert "'nowhere' cannot be read" in report.failed[0]
    assert report.live == "g00000001"
    assert build(root).failed == ()


def test_a_gate_that_holds_is_told_by_every_build(root: Path) -> None:
    """What the gate holds back is a warning with its reason, in the build that made it and in those after it."""
    build(root)
    write(root, COMPETING)
    for _ in range(2):
        report = build(root)
        assert (report.live, report.generation, report.failed) == ("g00000001", "g00000002", ())
        assert [w for w in report.warnings if w.startswith("held back by the check of eval: g00000002")]
    assert runs(root)[-1] == ("compile", "", "FAILURE")


def slow(root: Path) -> None:
    """Put a source first that never ends by itself."""
    install(root, "slow", SLOW)
    entries = ("{id: slow, type: slow, uri: 'slow:1'}", "{id: notes, type: local, uri: notes}")
    (root / "sources.yaml").write_text("version: 1\nsources:\n" + "".join(f"  - {e}\n" for e in entries))


def test_a_person_can_stop_a_build(cli: Cli) -> None:
    """Ctrl-C ends the build: no retry, no next source, exit 130, and the run is no verdict on its inputs."""
    slow(cli.root)
    process = cli.start("build")
    wait_for(cli.root / "began")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert runs(cli.root) == [("sync", "slow", "FAILURE")]


def test_a_killed_build_blocks_nobody(cli: Cli) -> None:
    """The run of a build that was killed is failed by the next build, which finishes the work."""
    slow(cli.root)
    process = cli.start("build")
    wait_for(cli.root / "began")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    with opened_instance(cli.root) as instance:
        (run,) = instance.get_runs()
        assert run.status is DagsterRunStatus.STARTED
    entry = "{id: notes, type: local, uri: notes}"
    (cli.root / "sources.yaml").write_text(f"version: 1\nsources:\n  - {entry}\n")
    cli.build()
    assert [status for _, _, status in runs(cli.root)] == ["FAILURE", "SUCCESS", "SUCCESS"]


def test_dagster_home_is_honoured(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where DAGSTER_HOME is set, builds stand in that instance, as those of `kb dev` would."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    build(root)
    assert runs(home)[-1] == ("compile", "", "SUCCESS")
    assert not (root / ".dagster").exists()


def test_a_root_without_dagster_yaml_says_so(cli: Cli) -> None:
    """The error names the file and the cure."""
    (cli.root / "dagster.yaml").unlink()
    told = cli.run("build", code=1).stderr
    assert "dagster.yaml: is missing. Copy it from a folder that `kb init DIR` made." in told


def test_a_build_keeps_dagsters_databases_open(root: Path) -> None:
    """Its hundred events take a dozen connections, those with which Dagster looks for its tables included."""
    build(root)
    write(root, {"notes/paging.md": "# Paging\n\nThe default block size is 32 tokens.\n"})
    opened: Counter[str] = Counter()

    def count(_: object, record: object) -> None:
        opened["connections"] += 1

    event.listen(Pool, "connect", count)
    try:
        build(root)
    finally:
        event.remove(Pool, "connect", count)
    assert 0 < opened["connections"] < 25


def test_the_file_of_a_run_is_the_one_that_dagster_makes(root: Path, tmp_path: Path) -> None:
    """Its tables and its revision are those of a file that Dagster's own storage made."""
    build(root)
    ours = next(path for path in (root / ".dagster/state/history/runs").glob("*.db") if path.stem != "index")
    with SqliteEventLogStorage(str(tmp_path / "theirs")).run_connection("run"):
        assert described(ours) == described(tmp_path / "theirs" / "run.db")


def described(path: Path) -> list[tuple[str, ...]]:
    """The tables and indexes of a database, spacing aside, and its revision."""
    with closing(sqlite3.connect(path)) as connection:
        made = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        revision = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    return sorted((kind, name, " ".join(sql.split())) for kind, name, sql in made) + revision


def test_another_storage_than_sqlite_is_left_as_it_is(root: Path) -> None:
    """Only what ``storage: sqlite`` names is kept open."""
    described = InstanceRef.from_dir(str(root))
    assert described.storage_data
    other = described._replace(storage_data=described.storage_data._replace(class_name="DagsterPostgresStorage"))
    assert kept_open(other) == other
    assert kept_open(described) != described
