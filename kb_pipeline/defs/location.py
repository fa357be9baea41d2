"""The code location: assets, jobs, sensor, schedule and resource, merged."""

from collections.abc import Mapping
from pathlib import Path

import dagster as dg

from kb_pipeline.api import KnowledgeBase, find_root
from kb_pipeline.defs.assets import EXTERNAL, stage_assets
from kb_pipeline.defs.jobs import compile_, reread, sweep, sync
from kb_pipeline.defs.resources import KbResource
from kb_pipeline.defs.schedules import nightly, nightly_sweep
from kb_pipeline.defs.sensors import registry_sensor
from kb_pipeline.errors import KbError
from kb_pipeline.settings import Options


def daemon_definitions() -> dg.Definitions:
    """What Dagster's servers load; they load it also where the settings are wrong, which the sensor then reports."""
    recipes, seconds = _seen()
    return dg.Definitions(
        assets=[*EXTERNAL, *stage_assets(recipes, pools=True)],
        jobs=[sync, compile_, reread, sweep],
        sensors=[registry_sensor(seconds)],
        schedules=[nightly, nightly_sweep],
        resources={"kb": KbResource()},
        executor=dg.in_process_executor,  # what a person launches in the UI too: a process a step costs seconds each
    )


def local_definitions(base: KnowledgeBase) -> dg.Definitions:
    """What ``kb build`` runs. Without pools: it holds the build lease, for which a run that holds a slot may wait."""
    return dg.Definitions(
        assets=[*EXTERNAL, *stage_assets(base.recipes(), pools=False)],
        jobs=[sync, compile_],
        resources={"kb": KbResource(root=str(base.settings.root))},
    )


def _seen() -> tuple[Mapping[str, str], int]:
    """Recipes, shown as code versions, and the seconds between two looks."""
    try:
        with KnowledgeBase(find_root(Path.cwd())) as base:
            return base.recipes(), base.settings.options.sensor_seconds
    except KbError:
        return {}, Options().sensor_seconds
