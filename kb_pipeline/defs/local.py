"""``kb build``: the same question and the same jobs, in this process, on the same Dagster instance."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager

import dagster as dg
from dagster import DagsterInstance

from kb_pipeline.api import KnowledgeBase, Stale
from kb_pipeline.defs.location import defs
from kb_pipeline.defs.partitions import ACCEPT_DELETIONS, FULL, SOURCES
from kb_pipeline.defs.runs import ASKS, fail_dead

_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}  # the build report speaks instead


def build(
    base: KnowledgeBase, stale: Stale, *, full: bool = False, accept_deletions: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """Run a sync of each stale source, then one compile of the stale whole stages; what failed, in words.

    A source that fails blocks no other. The caller holds the build lease, so that nothing is paid twice.
    """
    failed: list[str] = []
    with _instance(base) as instance:
        fail_dead(instance)
        _partitions(instance, base)
        tags = {FULL: "true"} if full else {}
        for source in stale.sources:
            accepted = {ACCEPT_DELETIONS: source} if source in accept_deletions else {}
            asks = {ASKS: stale.asks[source]}
            failed += _execute(instance, "sync", {**tags, **accepted, **asks}, partition=source)
        compile_ = base.stale(full=full)
        if compile_.stages:
            asks = {ASKS: compile_.asks["compile"]}
            failed += _execute(instance, "compile", {**tags, **asks}, selection=list(compile_.stages))
    return tuple(failed)


@contextmanager
def _instance(base: KnowledgeBase) -> Iterator[DagsterInstance]:
    """The instance of ``dagster.yaml`` in the root, whose relative paths are those of the working folder."""
    with chdir(base.settings.root), DagsterInstance.from_config(str(base.settings.root)) as instance:
        yield instance


def _partitions(instance: DagsterInstance, base: KnowledgeBase) -> None:
    name = str(SOURCES.name)
    have, now = set(instance.get_dynamic_partitions(name)), {s.id for s in base.settings.sources}
    instance.add_dynamic_partitions(name, sorted(now - have))
    for gone in sorted(have - now):
        instance.delete_dynamic_partition(name, gone)
    for asset, version in base.versions().items():
        last = instance.get_latest_materialization_event(dg.AssetKey(asset))
        known = last.asset_materialization.tags if last and last.asset_materialization else {}
        if (known or {}).get("dagster/data_version") != version:
            instance.report_runless_asset_event(dg.AssetMaterialization(asset, tags={"dagster/data_version": version}))


def _execute(
    instance: DagsterInstance,
    job: str,
    tags: Mapping[str, str],
    *,
    partition: str | None = None,
    selection: Sequence[str] | None = None,
) -> list[str]:
    result = defs.resolve_job_def(job).execute_in_process(
        run_config=_QUIET,
        instance=instance,
        partition_key=partition,
        asset_selection=[dg.AssetKey(name) for name in selection] if selection else None,
        tags=dict(tags),
        raise_on_error=False,
    )
    if result.success:
        return []
    return [f"{partition or job}: {message}" for message in _messages(result)] or [f"{partition or job} failed"]


def _messages(result: dg.ExecuteInProcessResult) -> Iterator[str]:
    for event in result.all_events:
        if event.is_step_failure and (data := event.step_failure_data):
            described = data.user_failure_data.description if data.user_failure_data else None
            yield described or (data.error.message.strip() if data.error else event.message or "")
