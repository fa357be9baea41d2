"""``kb build``: the same question and the same jobs, in this process, on the same Dagster instance."""

import os
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from typing import Any

import dagster as dg
from dagster import DagsterInstance
from dagster._core.instance import InstanceRef

from kb_pipeline.api import KnowledgeBase, Stale, share
from kb_pipeline.defs import registry
from kb_pipeline.defs.location import local_definitions
from kb_pipeline.defs.run_tags import ACCEPT_DELETIONS, FULL, PROCESS, asked
from kb_pipeline.defs.runs import fail_dead
from kb_pipeline.defs.serving import needed
from kb_pipeline.defs.storage import kept_open
from kb_pipeline.errors import MODEL_FAILED, UNAVAILABLE, RunStopped

_NO_CAPTURE = {  # what stages print goes to the terminal, where a person watches; capturing starts a process a stream
    "compute_logs": {"module": "dagster._core.storage.noop_compute_log_manager", "class": "NoOpComputeLogManager"}
}
_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}  # the build report speaks instead
_GATE = "eval"  # its check holds the candidate back: that is an outcome, which the report tells, and no failure
_CHECK_FAILED = "DagsterAssetCheckFailedError"


def build(
    base: KnowledgeBase, stale: Stale, *, full: bool = False, accept_deletions: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """Run a sync of each stale source, then one compile of the stale whole stages; what failed, in words.

    A source that fails blocks no other. The caller holds the build lease, so that nothing is paid twice. Raises
    ``KeyboardInterrupt`` where a person stops it.
    """
    failed: list[str] = []
    share(base)  # what it has read of the knowledge base is not read again
    with _instance(base) as instance:
        fail_dead(instance)
        registry.apply(instance, registry.moves(instance, base))
        jobs = _Jobs(local_definitions(base), instance, {FULL: "true"} if full else {})
        for source in stale.sources:
            accepted = {ACCEPT_DELETIONS: source} if source in accept_deletions else {}
            failed += jobs.run("sync", {**accepted, **asked(stale, source)}, partition_key=source)
            if jobs.stopped:
                return tuple(failed)
        compile_ = base.stale_stages(full=full)
        if compile_.stages:
            stages = [dg.AssetKey(name) for name in compile_.stages]
            failed += jobs.run("compile", asked(compile_, "compile"), asset_selection=stages)
    return tuple(failed)


@contextmanager
def _instance(base: KnowledgeBase) -> Iterator[DagsterInstance]:
    """The instance that ``kb dev`` uses too: that of ``DAGSTER_HOME`` where one is set, else the one which
    ``dagster.yaml`` in the root describes, whose relative paths are those of the working folder."""
    root = base.settings.root
    home = os.environ.get("DAGSTER_HOME")
    if not home:
        needed(root, "dagster.yaml")
    with chdir(root):
        described = InstanceRef.from_dir(home or str(root), overrides=_NO_CAPTURE)
        with DagsterInstance.from_ref(kept_open(described)) as instance:
            yield instance


@dataclass
class _Jobs:
    """The jobs, on an instance, each run tagged as this process's. ``stopped`` when no model can be asked any more."""

    defs: dg.Definitions
    instance: DagsterInstance
    tags: Mapping[str, str]
    stopped: bool = False

    def run(self, name: str, tags: Mapping[str, str], **target: Any) -> list[str]:
        """Run a job; each of its failures in words. A gate that held back what is below it is none."""
        result = self.defs.resolve_job_def(name).execute_in_process(
            run_config=_QUIET,
            instance=self.instance,
            tags={**self.tags, **tags, PROCESS: str(os.getpid())},
            raise_on_error=False,
            **target,
        )
        if result.success:
            return []
        if _interrupted(result):
            raise KeyboardInterrupt
        codes = _codes(result)
        self.stopped = not codes.isdisjoint(RunStopped.codes())
        what = target.get("partition_key") or name
        told = f"{MODEL_FAILED} {what}" if self.stopped or UNAVAILABLE in codes else what
        return [f"{told}: {message}" for message in _messages(result)]


def _interrupted(result: dg.ExecuteInProcessResult) -> bool:
    ends = (event.job_failure_data for event in result.all_events if event.is_job_failure)
    return any(end.failure_reason and end.failure_reason.value == "UNEXPECTED_TERMINATION" for end in ends)


def _codes(result: dg.ExecuteInProcessResult) -> set[str]:
    """The codes of the errors of ours that failed steps."""
    failures = (e.step_failure_data.user_failure_data for e in result.all_events if e.is_step_failure)
    return {str(found.metadata["code"].value) for found in failures if found and "code" in found.metadata}


def _messages(result: dg.ExecuteInProcessResult) -> Iterator[str]:
    """Why steps failed: in the words of the error, or of the checks that failed."""
    checks = result.get_asset_check_evaluations()
    for event in result.all_events:
        if not event.is_step_failure:
            continue
        data = event.step_failure_data
        if data.error and data.error.cls_name == _CHECK_FAILED:
            failed = [c for c in checks if c.asset_key.to_user_string() == event.step_key and not c.passed]
            yield from (f"{c.asset_key.to_user_string()}: {c.description}" for c in failed if event.step_key != _GATE)
        elif data.user_failure_data and data.user_failure_data.description:
            yield data.user_failure_data.description
        else:
            cause = data.error.cause if data.error and data.error.cause else data.error
            yield cause.message.strip() if cause else str(event.message)
