"""The gate in Dagster: a failed check stops the run, is retried by nothing, and holds until the inputs change."""

import json
from pathlib import Path

import dagster as dg
import pytest
from dagster import DagsterInstance, DagsterRunStatus

from kb_pipeline.api import PIPELINE
from kb_pipeline_tests.defs.ticking import Daemon
from kb_pipeline_tests.driving import opened, write

# Statements that compete for the questions about those of the first generation, so that its measures fall.
COMPETING = {
    f"notes/model-{n}.md": f"# Paging {n}\n\nThe default block size of model {n} is {16 * n} tokens. "
    f"The default block size is {n} tokens. A table maps logical to physical blocks of model {n}.\n"
    for n in range(17, 35)
}


def live(root: Path) -> tuple[str | None, str | None]:
    """The live generation and the newest."""
    with opened(root) as base:
        return base.world.index.live(), base.world.index.candidate()


@pytest.fixture
def failed(daemon: Daemon) -> Daemon:
    """A daemon whose second compile was stopped by the gate."""
    daemon.settle()
    write(daemon.root, COMPETING)
    assert daemon.tick() == ["notes"]
    assert daemon.tick() == ["compile"]
    return daemon


def last_run(instance: DagsterInstance) -> dg.DagsterRun:
    """The newest run."""
    return instance.get_runs(limit=1)[0]


def test_a_failed_gate_stops_the_run(failed: Daemon) -> None:
    """The check fails the step of eval once, without a retry; live does not run, and readers keep what they had."""
    run = last_run(failed.instance)
    events = [e.dagster_event for e in failed.instance.all_logs(run.run_id) if e.dagster_event]
    assert run.status is DagsterRunStatus.FAILURE
    assert [e.step_key for e in events if e.is_step_failure] == ["eval"]
    assert [e.event_type_value for e in events if "RETRY" in e.event_type_value] == []
    assert "live" not in {e.step_key for e in events if e.is_step_start}
    assert live(failed.root) == ("g00000001", "g00000002")


def test_a_failed_check_is_shown_with_its_reason(failed: Daemon) -> None:
    """The evaluation of the check says in words and severity why the candidate is held back."""
    key = dg.AssetCheckKey(dg.AssetKey("eval"), "candidate_may_go_live")
    record = failed.instance.event_log_storage.get_latest_asset_check_execution_by_key([key])[key]
    assert record.event
    evaluation = record.event.dagster_event.asset_check_evaluation_data  # type: ignore[union-attr]
    assert (evaluation.passed, evaluation.severity, evaluation.blocking) == (False, dg.AssetCheckSeverity.ERROR, True)
    assert "fell from" in str(evaluation.description)


def test_a_failed_gate_is_not_retried_until_the_inputs_change(failed: Daemon) -> None:
    """After it nothing is stale and the sensor says why; when the inputs change, the next generation goes live."""
    assert failed.settle() == []
    assert "eval holds back what is below it" in failed.skipped
    for name in COMPETING:
        (failed.root / name).unlink()
    assert failed.settle() == ["notes", "compile"]
    assert failed.skipped == "2 sources looked at, nothing is stale"
    assert live(failed.root) == ("g00000003", "g00000003")


def test_a_lower_bar_lets_the_same_candidate_pass(failed: Daemon) -> None:
    """When a person lowers the gate, what was held back goes live without being made again."""
    settings = failed.root / "sources.yaml"
    settings.write_text(f"{settings.read_text()}settings: {{eval_tolerance: 1, eval_floor_recall10: 0}}\n")
    assert failed.settle() == ["compile"]
    assert live(failed.root) == ("g00000002", "g00000002")


def test_a_check_that_holds_is_not_passed_by_a_second_try(daemon: Daemon) -> None:
    """Where an item's proof is broken, no later run carries it further; once it holds again, the rest runs."""
    daemon.tick()
    with opened(daemon.root) as base:
        for name in ("dedup", "tags"):
            base.build_stage(name)
        texts = list((daemon.root / "kb/normalized").rglob("paging*.md"))
        whole = texts[0].read_text()
        texts[0].write_text(whole.replace("16 tokens", "99 tokens"))
        found = {finding.check: finding for finding in base.check("tags", full=False)}["items_are_proven"]
        assert (found.ok, found.blocking) == (False, True)
        assert not set(base.stale().stages) & {"pages", "wiki", "index", "eval", "live"}
        assert "tags" in base.stale().held
        texts[0].write_text(whole)
        assert list(base.stale().stages) == ["pages", "wiki", "index", "eval", "live"]
        assert base.stale().held == {}


def test_a_rollback_stands(daemon: Daemon) -> None:
    """What a person rolled back to stays live while nothing changes, and gives way to the next generation."""
    daemon.settle()
    write(daemon.root, {"notes/paging.md": "# Paging\n\nThe default block size is 32 tokens.\n"})
    daemon.settle()
    with opened(daemon.root) as base:
        assert base.rollback() == "g00000001"
    assert daemon.settle() == []
    assert live(daemon.root) == ("g00000001", "g00000002")
    write(daemon.root, {"notes/paging.md": "# Paging\n\nThe default block size is 64 tokens.\n"})
    assert daemon.settle() == ["notes", "compile"]
    assert live(daemon.root) == ("g00000003", "g00000003")


def test_versions_tell_what_was_made_from_what(daemon: Daemon) -> None:
    """Each materialization carries the version of what it made, and those of what it read."""
    daemon.settle()
    versions = {}
    for name, stage in PIPELINE.items():
        event = daemon.instance.get_latest_materialization_event(dg.AssetKey(name))
        assert event
        assert event.asset_materialization
        tags = event.asset_materialization.tags or {}
        versions[name] = tags["dagster/data_version"]
        read = {key.rpartition("/")[2] for key in tags if key.startswith("dagster/input_data_version/")}
        assert set(stage.needs) <= read, name
        for need in stage.needs:
            if not PIPELINE[need].per_source:
                assert tags[f"dagster/input_data_version/{need}"] == versions[need]
    with opened(daemon.root) as base:
        assert versions["live"] == versions["index"] == base.world.index.live()
        stamps = json.loads((daemon.root / "kb/cache/stamps.json").read_text())
        assert versions["dedup"] == stamps["dedup"]["version"]
