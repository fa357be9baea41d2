"""The nightly distrusts time stamps; by day each remote source is asked when its ``refresh`` says so."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest

from kb_pipeline_tests.defs.plugins import FEED, install
from kb_pipeline_tests.defs.ticking import Daemon
from kb_pipeline_tests.driving import opened, write

PAGING = "notes/paging.md"


def edit_unseen(page: Path, old: bytes, new: bytes) -> None:
    """Edit a page so that neither its size nor its time of change tells."""
    state = page.stat()
    page.write_bytes(page.read_bytes().replace(old, new))
    os.utime(page, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert page.stat().st_size == state.st_size


def reread(daemon: Daemon) -> dg.ExecuteInProcessResult:
    """What the schedule launches, run here."""
    return daemon.run(dg.RunRequest(job_name="reread", run_key="nightly"))


def age(root: Path, source: str, **moments: str) -> None:
    """Make a source's last reading lie in the past."""
    path = root / "kb/cache/stamps.json"
    stamps = json.loads(path.read_text())
    stamps[f"raw:{source}"].update(moments)
    path.write_text(json.dumps(stamps))


def test_the_nightly_asks_once_a_night(daemon: Daemon) -> None:
    """At 02:00 one run of `reread` is requested, under the date's key."""
    schedule = daemon.defs.resolve_schedule_def("nightly")
    assert (schedule.cron_schedule, schedule.job_name) == ("0 2 * * *", "reread")
    context = dg.build_schedule_context(scheduled_execution_time=datetime(2026, 3, 1, 2, tzinfo=UTC))
    request = schedule(context)
    assert isinstance(request, dg.RunRequest)
    assert request.run_key == "nightly:2026-03-01"


def test_an_edit_that_keeps_size_and_time_is_found_at_night(daemon: Daemon) -> None:
    """The sensor cannot see it; the nightly hashes, and the sensor then compiles what differs, and that alone."""
    daemon.settle()
    edit_unseen(daemon.root / PAGING, b"16 tokens", b"64 tokens")
    assert daemon.settle() == []
    assert reread(daemon).success
    assert daemon.settle() == ["notes", "compile"]
    with opened(daemon.root) as base:
        assert "64 tokens" in base.search("default block size").hits[0].text


def test_the_nightly_tells_what_moved_and_what_did_not(daemon: Daemon) -> None:
    """A source with a change is a materialization of its partition, one without an observation."""
    daemon.settle()
    edit_unseen(daemon.root / PAGING, b"16 tokens", b"64 tokens")
    result = reread(daemon)
    materialized = [e.partition for e in result.all_events if e.event_type_value == "ASSET_MATERIALIZATION"]
    observed = [
        e.asset_observation_data.asset_observation.partition
        for e in result.all_events
        if e.event_type_value == "ASSET_OBSERVATION"
    ]
    assert (materialized, observed) == (["notes"], ["book"])
    assert daemon.settle() == ["notes", "compile"]
    assert reread(daemon).success
    assert daemon.settle() == []


def test_one_source_that_fails_at_night_stops_no_other(daemon: Daemon) -> None:
    """Those after it are read; the run fails at its end and names it."""
    daemon.settle()
    (daemon.root / "notes").rename(daemon.root / "away")
    edit_unseen(daemon.root / "book/quotas.md", b"600", b"700")
    result = reread(daemon)
    assert not result.success
    (failure,) = (e.step_failure_data for e in result.all_events if e.is_step_failure)
    assert failure.user_failure_data
    assert "notes" in str(failure.user_failure_data.description)
    assert daemon.settle() == ["book", "compile"]


@pytest.fixture
def feed(daemon: Daemon) -> Daemon:
    """A daemon over one remote source that is due every hour."""
    install(daemon.root, "feed", FEED)
    write(daemon.root, {"feed.txt": "The feed has been served from port 8080 since the start.\n"})
    entry = "{id: feed, type: feed, uri: 'feed:1', refresh: 1h}"
    (daemon.root / "sources.yaml").write_text(f"version: 1\nsources:\n  - {entry}\n")
    assert daemon.settle() == ["feed", "compile"]
    return daemon


def asked(daemon: Daemon) -> int:
    """How often the remote source was fetched."""
    return len((daemon.root / "asked").read_text().splitlines())


def test_a_remote_source_is_asked_when_it_is_due(feed: Daemon) -> None:
    """Before its hour is over it is left alone; afterwards it is asked once, and unchanged content compiles nothing."""
    write(feed.root, {"feed.txt": "The feed has been served from port 9090 since the start.\n"})
    assert (feed.settle(), asked(feed)) == ([], 1)
    age(feed.root, "feed", at="2026-01-01T00:00:00Z")
    assert (feed.settle(), asked(feed)) == (["feed", "compile"], 2)
    age(feed.root, "feed", at="2026-01-01T00:00:00Z")
    assert (feed.settle(), asked(feed)) == (["feed"], 3)


def test_a_remote_source_that_fails_is_asked_again_when_it_is_due(feed: Daemon) -> None:
    """An outage is tried again after the refresh, not at each look, and its documents stay."""
    (feed.root / "feed.txt").unlink()
    age(feed.root, "feed", at="2026-01-01T00:00:00Z")
    assert (feed.settle(), asked(feed)) == (["feed"], 2)
    assert (feed.settle(), asked(feed)) == ([], 2)
    age(feed.root, "feed", failed_at="2026-01-01T00:00:00Z")
    assert (feed.settle(), asked(feed)) == (["feed"], 3)
    with opened(feed.root) as base:
        assert base.search("served from port").hits


def test_a_manual_source_is_left_alone_at_night(feed: Daemon) -> None:
    """`refresh: manual` is asked by a person only."""
    text = (feed.root / "sources.yaml").read_text()
    (feed.root / "sources.yaml").write_text(text.replace("1h", "manual"))
    assert reread(feed).success
    assert (feed.settle(), asked(feed)) == ([], 1)


def test_a_full_build_finds_it_too(daemon: Daemon) -> None:
    """`kb build --full` asks for everything, so that an edit that keeps size and time is read."""
    daemon.settle()
    edit_unseen(daemon.root / PAGING, b"16 tokens", b"64 tokens")
    with opened(daemon.root) as base:
        assert not base.stale()
        assert set(base.stale(full=True).sources) == {"notes", "book"}
        assert base.build_stage("raw", "notes", full=True).made == 1
