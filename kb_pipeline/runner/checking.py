"""Checks over what is on disk. After a build only what changed since the last pass is looked at again."""

from kb_pipeline.checks import CHECKS, Check
from kb_pipeline.recipes import recipe
from kb_pipeline.records import Finding
from kb_pipeline.runner.context import Run
from kb_pipeline.runner.whole import Upstream, changed, saw


def check(run: Run, row: Check) -> Finding:
    """Run one check; what passed is not looked at again until it, or the check, changes."""
    name = f"check.{row.stage}"
    inputs = Upstream(run, row.needs, views={})
    how = recipe((row.run.__module__,), (), {})
    found = row.run(changed(run, name, inputs, how, ""), inputs, run.world)
    if found.ok:
        saw(run, name, inputs, how, "")
    return found


def checks_of(stage: str) -> tuple[Check, ...]:
    """The checks that judge ``stage``."""
    return tuple(row for row in CHECKS if row.stage == stage)
