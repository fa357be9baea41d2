"""The sensor launches what is stale, once, whatever happened to runs, cursor, files and processes before."""

import json
import os
import shutil
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import dagster as dg
import pytest
from dagster import DagsterInstance, DagsterRunStatus

from kb_pipeline import recipes
from kb_pipeline.api import Listener, listen
from kb_pipeline.defs import runs, sensors
from kb_pipeline.defs.partitions import NAME
from kb_pipeline.defs.run_tags import ASKS, PROCESS
from kb_pipeline.defs.runs import DEATHS, fail_dead, under_way
from kb_pipeline.errors import SettingsError
from kb_pipeline_tests.defs import plugins
from kb_pipeline_tests.defs.plugins import SLOW, WATCHED, install, wait_for
from kb_pipeline_tests.defs.ticking import Daemon
from kb_pipeline_tests.driving import opened, write

PAGING = "notes/paging.md"


def sources(root: Path, *entries: str) -> None:
    """Write ``sources.yaml`` with these entries (flow mappings)."""
    (root / "sources.yaml").write_text("version: 1\nsources:\n" + "".join(f"  - {{{e}}}\n" for e in entries))


NOTES, BOOK = (f"id: {name}, type: local, uri: {name}, license: CC0-1.0" for name in ("notes", "book"))


def dead_process() -> int:
    """The id of a process that is gone."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_fresh_root_compiles_by_itself(daemon: Daemon) -> None:
    """The first look adds a partition a source and syncs each, the second compiles, the third has nothing to do."""
    assert daemon.tick() == ["notes", "book"]
    assert set(daemon.instance.get_dynamic_partitions(NAME)) == {"notes", "book"}
    assert daemon.tick() == ["compile"]
    assert daemon.tick() == []
    assert daemon.skipped == "2 sources looked at, nothing is stale"


def test_a_change_and_its_return_are_both_synced(daemon: Daemon) -> None:
    """A → B → A ends with A: no run key is refused because its content was seen before."""
    page = daemon.root / PAGING
    first = page.read_bytes()
    stat = page.stat()
    daemon.settle()
    page.write_bytes(first.replace(b"16 tokens", b"32 tokens"))
    assert daemon.settle() == ["notes", "compile"]
    page.write_bytes(first)
    os.utime(page, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert daemon.settle() == ["notes", "compile"]
    with opened(daemon.root) as base:
        assert "16 tokens" in base.search("default block size").hits[0].text


def test_a_removed_source_takes_its_items_along(daemon: Daemon) -> None:
    """A source that leaves sources.yaml loses its partition, and after the compile it has no hit."""
    daemon.settle()
    sources(daemon.root, NOTES)
    assert daemon.settle() == ["compile"]
    assert daemon.instance.get_dynamic_partitions(NAME) == ["notes"]
    with opened(daemon.root) as base:
        assert [h for h in base.search("requests a minute").hits if h.doc_id.startswith("book/")] == []


def test_a_source_that_returns_is_synced_again(daemon: Daemon) -> None:
    """A source id that was removed and comes back is read anew, though Dagster shows it as materialized."""
    daemon.settle()
    sources(daemon.root, NOTES)
    daemon.settle()
    sources(daemon.root, NOTES, BOOK)
    assert daemon.settle() == ["book", "compile"]
    with opened(daemon.root) as base:
        assert base.search("requests a minute").hits[0].doc_id == "book/quotas.md"


def test_a_source_that_never_materializes_blocks_no_other(daemon: Daemon) -> None:
    """Where a source cannot be read, the others are compiled, and it is not asked again before it changed."""
    sources(daemon.root, NOTES, "id: gone, type: local, uri: nowhere")
    assert daemon.settle() == ["notes", "gone", "compile"]
    with opened(daemon.root) as base:
        assert base.search("block size").hits
    write(daemon.root, {"nowhere/a.md": "# There\n\nThe directory exists now and holds one document.\n"})
    assert daemon.settle() == ["gone", "compile"]


def test_a_source_that_never_rests_starves_nobody(daemon: Daemon) -> None:
    """Where one source changes before every look, the compile still gets its turn."""
    daemon.settle()
    ran = []
    for n in range(4):
        write(daemon.root, {PAGING: f"# Paging\n\nThe default block size is {n + 17} tokens.\n"})
        ran += daemon.tick()
    assert ran == ["notes", "compile", "notes", "compile"]


def test_output_that_is_equal_stops_the_chain(daemon: Daemon) -> None:
    """A change that conversion evens out is synced, and launches no compile."""
    daemon.settle()
    page = daemon.root / PAGING
    page.write_bytes(page.read_bytes().replace(b"\n", b"\r\n") + b"\r\n\r\n")
    assert daemon.settle() == ["notes"]


def test_a_change_during_a_compile_is_not_lost(daemon: Daemon) -> None:
    """What is written while a compile runs is synced and compiled by the looks after it."""
    daemon.tick()
    during = {PAGING: "# Paging\n\nThe default block size is 48 tokens since the last release.\n"}

    def change(stage: str, *_: object) -> None:
        if stage == "tags":
            write(daemon.root, during)

    with listen(Listener(progress=change)):
        assert daemon.tick() == ["compile"]
    during.clear()
    assert daemon.settle() == ["notes", "compile"]
    with opened(daemon.root) as base:
        assert "48 tokens" in base.search("default block size").hits[0].text


@pytest.mark.parametrize("status", [DagsterRunStatus.NOT_STARTED, DagsterRunStatus.STARTED])
def test_a_dead_build_blocks_nothing(daemon: Daemon, status: DagsterRunStatus) -> None:
    """A run of a `kb build` whose process was killed is failed at the next look, which then compiles."""
    daemon.tick()
    run = daemon.instance.create_run_for_job(
        daemon.defs.resolve_job_def("compile"), tags={PROCESS: str(dead_process())}, status=status
    )
    assert daemon.settle() == ["compile"]
    assert daemon.instance.get_run_by_id(run.run_id).status is DagsterRunStatus.FAILURE  # type: ignore[union-attr]


def test_a_dead_worker_blocks_nothing(daemon: Daemon) -> None:
    """A run of the daemon whose worker is gone is failed at the next look, which then compiles."""
    daemon.tick()
    run = daemon.instance.create_run_for_job(daemon.defs.resolve_job_def("compile"))
    start = dg.DagsterEvent("PIPELINE_START", "compile", pid=dead_process())
    daemon.instance.report_dagster_event(start, run.run_id)
    assert under_way(daemon.instance)
    assert daemon.settle() == ["compile"]


def test_a_process_that_took_a_dead_ones_number_is_another(instance: DagsterInstance, daemon: Daemon) -> None:
    """A process born after a run began is not the run's, whatever its number."""
    run = instance.create_run_for_job(daemon.defs.resolve_job_def("compile"))
    later = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    long_ago = dg.DagsterEvent("PIPELINE_START", "compile", pid=later.pid)
    instance.report_dagster_event(long_ago, run.run_id, timestamp=1_000_000_000.0)
    assert fail_dead(instance) == ([run.run_id] if Path("/proc/uptime").exists() else [])
    later.communicate()


def test_a_living_run_is_left_alone(daemon: Daemon) -> None:
    """While a sync runs, neither that source nor the compile is asked again."""
    requests = daemon.look()
    job = daemon.defs.resolve_job_def("sync")
    for request in requests:
        tags = {**request.tags, "dagster/partition": str(request.partition_key), PROCESS: str(os.getpid())}
        daemon.instance.create_run_for_job(job, tags=tags, status=DagsterRunStatus.STARTED)
    assert daemon.tick() == []
    assert daemon.skipped.endswith("2 runs are under way")


def test_a_source_that_is_slow_to_answer_keeps_no_other_waiting(daemon: Daemon) -> None:
    """While one source is read for long, the others are synced and compiled; it is not asked a second time."""
    install(daemon.root, "slow", SLOW)
    sources(daemon.root, "id: slow, type: slow, uri: 'slow:1'", NOTES)
    requests = {r.partition_key: r for r in daemon.look()}
    job = daemon.defs.resolve_job_def("sync")
    tags = {**requests["slow"].tags, "dagster/partition": "slow"}
    run = daemon.instance.create_run_for_job(job, tags=tags)
    code = "import sys; from pathlib import Path; from kb_pipeline.api import shared\n"
    code += "shared(Path(sys.argv[1])).build_stage('raw', 'slow')"
    with subprocess.Popen([sys.executable, "-c", code, str(daemon.root)]) as reader:
        began = dg.DagsterEvent("PIPELINE_START", "sync", pid=reader.pid)
        wait_for(daemon.root / "began")
        daemon.instance.report_dagster_event(began, run.run_id)
        daemon.run(requests["notes"])
        assert daemon.tick() == []
        assert "1 runs are under way" in daemon.skipped
        with pytest.MonkeyPatch.context() as later:
            later.setattr(runs, "PATIENCE", -1.0)
            assert daemon.tick() == ["compile"]
            assert daemon.tick() == []
        with opened(daemon.root) as base:
            assert base.search("block size").hits
        reader.kill()


def test_a_run_that_ends_during_a_look_is_not_asked_again(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a sync ends after its source was judged stale, the look still knows that it was under way."""
    install(daemon.root, "watched", WATCHED)
    sources(daemon.root, NOTES, "id: watched, type: watched, uri: 'watched:1'")
    daemon.settle()
    write(daemon.root, {PAGING: "# Paging\n\nThe default block size is 64 tokens.\n"})
    (request,) = daemon.look()
    tags = {**request.tags, "dagster/partition": "notes", PROCESS: str(os.getpid())}
    job = daemon.defs.resolve_job_def("sync")
    run = daemon.instance.create_run_for_job(job, tags=tags, status=DagsterRunStatus.STARTED)

    def end() -> None:
        monkeypatch.setattr(plugins, "LOOKED", lambda: None)
        daemon.run(request)
        daemon.instance.delete_run(run.run_id)

    monkeypatch.setattr(plugins, "LOOKED", end)
    assert daemon.tick() == []
    assert daemon.settle() == ["compile"]


def failed_run(daemon: Daemon, request: dg.RunRequest, **reason: str) -> None:
    """Play a run of ``request`` that failed."""
    tags = {**request.tags, **{f"dagster/{name}": value for name, value in reason.items()}}
    job = daemon.defs.resolve_job_def(str(request.job_name))
    daemon.instance.create_run_for_job(job, tags=tags, status=DagsterRunStatus.FAILURE)


def test_what_failed_is_asked_again_only_after_a_change(daemon: Daemon) -> None:
    """A run that failed by its own fault is not launched again on the same inputs, and is on others."""
    daemon.tick()
    (request,) = daemon.look()
    failed_run(daemon, request, failure_reason="STEP_FAILURE")
    assert daemon.tick() == []
    assert "failed on the same inputs" in daemon.skipped
    write(daemon.root, {"notes/new.md": "# Eviction\n\nBlocks are evicted in order of last use.\n"})
    assert daemon.settle() == ["notes", "compile"]


def test_a_failure_is_no_answer_for_ever(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a day the same inputs are tried once more: what was full may have been emptied."""
    daemon.tick()
    (request,) = daemon.look()
    failed_run(daemon, request, failure_reason="STEP_FAILURE")
    monkeypatch.setattr(runs, "MEMORY", timedelta(seconds=-1))
    assert daemon.settle() == ["compile"]


def test_what_died_is_tried_again_but_not_for_ever(daemon: Daemon) -> None:
    """A run that was killed says nothing of its inputs; a few that died on the same ones do."""
    daemon.tick()
    for _ in range(DEATHS):
        (request,) = daemon.look()
        failed_run(daemon, request)
    assert daemon.tick() == []


def test_nothing_is_launched_beside_a_build(daemon: Daemon) -> None:
    """While `kb build` works on the same knowledge base the sensor waits, and afterwards finds nothing stale."""
    with opened(daemon.root) as base, base.lease("kb build (process 1)"):
        assert daemon.tick() == []
        assert daemon.skipped == "kb build (process 1) is under way and does the same work"
    assert daemon.settle() == ["notes", "book", "compile"]


def test_a_server_with_older_code_launches_nothing(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where code changed on disk, its workers would call done what this process calls stale, for ever: it asks to be
    loaded anew."""
    daemon.settle()
    write(daemon.root, {PAGING: "# Paging\n\nThe default block size is 64 tokens.\n"})
    name = "kb_pipeline.rules.chunking"
    loaded = recipes._TREES[name]._replace(mtime=0, hash="of the code that was loaded")
    with monkeypatch.context() as older:
        older.setitem(recipes._TREES, name, loaded)
        assert daemon.tick() == []
    assert daemon.skipped.startswith(f"{name} changed since this code location was loaded")
    assert daemon.settle() == ["notes", "compile"]


def test_a_lost_cursor_repeats_nothing(daemon: Daemon) -> None:
    """After a reset of the cursor nothing runs again, and what changes then is launched under new keys."""
    daemon.settle()
    daemon.cursor = None
    assert daemon.settle() == []
    daemon.cursor = None
    write(daemon.root, {PAGING: "# Paging\n\nThe default block size is 64 tokens.\n"})
    assert daemon.settle() == ["notes", "compile"]


def test_a_manual_source_waits_for_a_person(daemon: Daemon) -> None:
    """With `refresh: manual` the partition is there, and a run only where a person launches it."""
    sources(daemon.root, NOTES, f"{BOOK}, refresh: manual")
    assert daemon.settle() == ["notes", "compile"]
    assert set(daemon.instance.get_dynamic_partitions(NAME)) == {"notes", "book"}
    daemon.run(dg.RunRequest(job_name="sync", partition_key="book", run_key="by hand"))
    assert daemon.settle() == ["compile"]
    with opened(daemon.root) as base:
        assert base.search("requests a minute").hits[0].doc_id == "book/quotas.md"


def test_mistakes_fail_the_look_and_change_nothing(daemon: Daemon) -> None:
    """An invalid sources.yaml fails the tick with every mistake; partitions, runs and files stay as they are."""
    daemon.settle()
    before = (daemon.instance.get_runs_count(), daemon.instance.get_dynamic_partitions(NAME), daemon.cursor)
    sources(daemon.root, "id: notes, type: pfd, uri: notes", "id: notes, type: local, uri: notes, refresh: often")
    with pytest.raises(SettingsError) as told:
        daemon.tick()
    assert len(str(told.value).splitlines()) >= 3
    assert (daemon.instance.get_runs_count(), daemon.instance.get_dynamic_partitions(NAME), daemon.cursor) == before


def test_a_first_load_does_not_flood_the_queue(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more is queued than a bound, and the rest follows as the queue empties; one compile comes at the end."""
    monkeypatch.setattr(sensors, "MOST_QUEUED", 2)
    names = [f"s{n}" for n in range(5)]
    write(daemon.root, {f"{n}/a.md": f"# Part\n\nThe part {n} weighs {len(n) + 3} kilograms.\n" for n in names})
    sources(daemon.root, *(f"id: {n}, type: local, uri: {n}" for n in names))
    assert [len(daemon.tick()) for _ in range(5)] == [2, 2, 1, 1, 0]


def test_editing_the_taxonomy_compiles_without_a_sync(daemon: Daemon) -> None:
    """A new category re-tags; no source is read for it, and the external asset shows a new version."""
    daemon.settle()
    taxonomy = daemon.root / "taxonomy.yaml"
    category = "{name: Paging, description: Memory in blocks., keywords: [block, page]}"
    taxonomy.write_text(f"version: 1\ncategories:\n  - {category}\n")
    assert daemon.settle() == ["compile"]
    event = daemon.instance.get_latest_materialization_event(dg.AssetKey("taxonomy"))
    assert event
    assert event.asset_materialization
    assert "Paging" in str(event.asset_materialization.metadata["categories"].value)


def test_a_lost_cache_is_rebuilt(daemon: Daemon) -> None:
    """Where everything that git does not keep is removed, the looks after it make it again."""
    daemon.settle()
    for name in ("cache", "index", "chunks", "atomic_items"):
        shutil.rmtree(daemon.root / "kb" / name)
    assert daemon.settle() == ["notes", "book", "compile"]


def test_every_request_says_why(daemon: Daemon) -> None:
    """A run tells in its tags what was stale, and what exactly was asked."""
    requests = [*daemon.look()]
    assert {r.tags["kb/reason"] for r in requests} == {"it was never read here"}
    assert len({r.tags[ASKS] for r in requests}) == 2
    assert json.loads(str(daemon.cursor))["synced"] == ["notes", "book"]
