"""Checks over what is on disk. After a build only what changed since the last pass is looked at again.

A blocking check that fails holds back what lies below its stage, until the stage made something else or the check
passes: a gate that opens at the second knock is none.
"""

from contextlib import suppress

from kb_pipeline.checks import CHECKS, Check
from kb_pipeline.errors import StoreError
from kb_pipeline.recipes import recipe
from kb_pipeline.records import Finding
from kb_pipeline.runner.context import Run
from kb_pipeline.runner.upstream import Upstream, changed, saw
from kb_pipeline.stages import WHOLE

_FAILING = "failing"  # the state that maps a blocking check to the version of its stage on which it failed


def check(run: Run, row: Check, source: str | None = None) -> Finding:
    """Run one check (of one source: no other's fault fails its run); what passed is not looked at again until it, or
    the check, changes."""
    look = _Look(run, row, source)
    found = look.found()
    with suppress(StoreError):  # who may only read can look too
        if found.ok and (source or row.stage in WHOLE):
            saw(run, look.name, look.inputs, look.recipe, "")
        if row.blocking and row.stage in WHOLE:
            _remember(run, row, found)
    return found


def held(run: Run) -> dict[str, str]:
    """Whole stages of which a blocking check fails on what they made last, each with what it found."""
    failing = run.kb.state(_FAILING) or {}
    rows = [row for row in CHECKS if row.name in failing and failing[row.name] == run.version(row.stage)]
    findings = [_Look(run, row, None).found() for row in rows]
    return {found.stage: found.message for found in findings if not found.ok}


def _remember(run: Run, row: Check, found: Finding) -> None:
    known: dict[str, str | None] = run.kb.state(_FAILING) or {}
    others = {name: version for name, version in known.items() if name != row.name}
    failing = others if found.ok else {**others, row.name: run.version(row.stage)}
    if failing != known:
        run.kb.keep_state(_FAILING, failing)


class _Look:
    """One look of a check at what it reads."""

    def __init__(self, run: Run, row: Check, source: str | None) -> None:
        self._run, self._row = run, row
        self.name = f"check.{row.name}{f'.{source}' if source else ''}"
        self.inputs = Upstream(run, row.needs, views={}, source=source)
        self.recipe = recipe((row.run.__module__,), (), {})

    def found(self) -> Finding:
        changes = changed(self._run, self.name, self.inputs, self.recipe, "")
        return self._row.run(changes, self.inputs, self._run.world)


def checks_of(name: str) -> tuple[Check, ...]:
    """The checks that judge the stage of that name, or the one of that name."""
    return tuple(row for row in CHECKS if name in (row.stage, row.name))
