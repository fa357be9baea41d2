"""What Dagster's servers load: it is PIPELINE, it tells people what it is, and it loads whatever the settings say."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from kb_pipeline.api import CHECKS, PER_SOURCE, PIPELINE
from kb_pipeline.defs.assets import ENGINE_POOL
from kb_pipeline.defs.location import daemon_definitions, local_definitions
from kb_pipeline_tests.driving import opened
from kb_pipeline_tests.project import ROOT

EXTERNAL = {"source_registry", "taxonomy"}
TEMPLATE = ROOT / "kb_pipeline" / "api" / "template"


def keys(defs: dg.Definitions) -> set[str]:
    """The names of all assets."""
    return {key.to_user_string() for key in defs.resolve_asset_graph().get_all_asset_keys()}


@pytest.fixture
def specs(root: Path) -> dict[str, dg.AssetSpec]:
    """The assets of the code location, by name."""
    return {spec.key.to_user_string(): spec for spec in daemon_definitions().resolve_all_asset_specs()}


def test_assets_are_the_pipeline(root: Path) -> None:
    """There is an asset a stage, two external ones, and nothing else; `kb build` runs the same."""
    assert keys(daemon_definitions()) == PIPELINE.keys() | EXTERNAL
    with opened(root) as base:
        assert keys(local_definitions(base)) == PIPELINE.keys() | EXTERNAL


def test_checks_are_the_table(root: Path) -> None:
    """There is an asset check a row of CHECKS, blocking where the row is."""
    checks = daemon_definitions().resolve_asset_graph().asset_check_keys
    assert {(k.asset_key.to_user_string(), k.name) for k in checks} == {(c.stage, c.name) for c in CHECKS}


def test_every_asset_says_what_it_is(specs: dict[str, dg.AssetSpec]) -> None:
    """Each has a group, an owner, a kind and a description; a stage's is the docstring of its ``run``."""
    assert [name for name, s in specs.items() if not (s.group_name and s.owners and s.kinds and s.description)] == []
    for name, stage in PIPELINE.items():
        assert str(specs[name].description).startswith(stage.description)
        assert {str(dep.asset_key.path[0]) for dep in specs[name].deps} - EXTERNAL == set(stage.needs)
        assert specs[name].group_name == ("ingest" if stage.per_source else "compile")


def test_partitions_are_the_sources(specs: dict[str, dg.AssetSpec]) -> None:
    """Stages of one source are partitioned by source, the others are not."""
    partitioned = {name for name, spec in specs.items() if spec.partitions_def}
    assert partitioned == set(PER_SOURCE)


def test_code_versions_are_recipes(root: Path, specs: dict[str, dg.AssetSpec]) -> None:
    """What Dagster shows as the code version is the hash that decides staleness."""
    with opened(root) as base:
        assert {name: specs[name].code_version for name in PIPELINE} == base.recipes()


def test_columns_are_readable(specs: dict[str, dg.AssetSpec]) -> None:
    """Columns are the fields of the record, in words that are no Python."""
    schema: Any = specs["tags"].metadata["dagster/column_schema"]
    found = {column.name: (column.type, column.constraints.nullable) for column in schema.columns}
    assert found["item_type"] == ("fact | definition | procedure | tradeoff | metric", False)
    assert found["tags"] == ("list of str", False)
    assert found["superseded_by"] == ("str", True)
    kinds = [c.type for s in specs.values() if (t := s.metadata.get("dagster/column_schema")) for c in t.columns]
    assert [kind for kind in kinds if set(kind) & set("[]<>'.")] == []


def test_stages_that_ask_the_engine_share_a_pool(root: Path) -> None:
    """Steps that call a model are bounded together; `kb build`, which holds the lease, waits for no slot."""

    def pooled(defs: dg.Definitions) -> set[str]:
        jobs = [defs.resolve_job_def(name) for name in ("sync", "compile")]
        return {node.name for job in jobs for node in job.nodes if ENGINE_POOL in node.definition.pools}

    assert pooled(daemon_definitions()) == {name for name, stage in PIPELINE.items() if stage.tasks}
    with opened(root) as base:
        assert pooled(local_definitions(base)) == set()


def test_definitions_load_where_the_settings_are_wrong(root: Path) -> None:
    """With an invalid sources.yaml all is there but the code versions: the sensor must live to report it."""
    (root / "sources.yaml").write_text("version: 1\nsources:\n  - {id: A, type: pfd}\n")
    defs = daemon_definitions()
    assert keys(defs) == PIPELINE.keys() | EXTERNAL
    dg.Definitions.validate_loadable(defs)


def test_what_a_person_launches_runs_in_one_process(root: Path) -> None:
    """Backfills from the UI, too, pay no process a step."""
    job = daemon_definitions().get_repository_def().get_implicit_global_asset_job_def()
    assert job.executor_def.name == "in_process"


def test_the_code_location_is_valid(root: Path) -> None:
    """`dagster definitions validate` passes from a root, without any KB_ variable or key."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("KB_", "DAGSTER_"))}
    command = [sys.executable, "-W", "ignore", "-m", "dagster", "definitions", "validate"]
    done = subprocess.run(command, cwd=root, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "All code locations passed validation" in done.stderr + done.stdout


@pytest.mark.parametrize("name", ["dagster.yaml", "workspace.yaml"])
def test_a_new_root_has_the_same_dagster(name: str) -> None:
    """What `kb init` gives is what this project itself runs with."""
    assert (TEMPLATE / name).read_bytes() == (ROOT / name).read_bytes()


def test_dagster_phones_nobody(root: Path) -> None:
    """Telemetry and its dialog are off, and all state lies in .dagster/ below the root."""
    config = yaml.safe_load((root / "dagster.yaml").read_text())
    assert (config["telemetry"]["enabled"], config["nux"]["enabled"]) == (False, False)
    places = [
        config["storage"]["sqlite"]["base_dir"],
        config["local_artifact_storage"]["config"]["base_dir"],
        config["compute_logs"]["config"]["base_dir"],
    ]
    assert all(place.startswith(".dagster/") for place in places)
    assert "run_retries" not in config  # the sensor alone launches again, and knows what failed on the same inputs
