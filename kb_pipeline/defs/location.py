"""The code location: assets, jobs, sensor, schedule and resource, merged."""

from pathlib import Path

import dagster as dg

from kb_pipeline.api import KnowledgeBase, find_root
from kb_pipeline.defs.assets import EXTERNAL, stage_assets
from kb_pipeline.defs.jobs import compile_, sync
from kb_pipeline.defs.resources import KbResource
from kb_pipeline.defs.schedules import nightly
from kb_pipeline.defs.sensors import registry
from kb_pipeline.errors import KbError


def _code_versions() -> dict[str, str]:
    """Recipes, shown as code versions; none where the settings are wrong, which the sensor will report."""
    try:
        with KnowledgeBase(find_root(Path.cwd())) as base:
            return base.recipes()
    except KbError:
        return {}


defs = dg.Definitions(
    assets=[*EXTERNAL, *stage_assets(_code_versions())],
    jobs=[sync, compile_],
    sensors=[registry],
    schedules=[nightly],
    resources={"kb": KbResource()},
)
