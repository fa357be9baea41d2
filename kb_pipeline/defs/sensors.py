"""One sensor, one question: what is stale? It launches exactly that."""

import json
from collections.abc import Iterator
from typing import Any

import dagster as dg

from kb_pipeline.api import KnowledgeBase, Stale
from kb_pipeline.defs.jobs import compile_, sync
from kb_pipeline.defs.partitions import SOURCES
from kb_pipeline.defs.resources import KbResource
from kb_pipeline.defs.runs import ASKS, fail_dead, refused, under_way

MOST_RUNS = 25  # requests a tick: a first load of thousands of sources must not flood the queue


@dg.sensor(jobs=[sync, compile_], minimum_interval_seconds=15, default_status=dg.DefaultSensorStatus.RUNNING)
def registry(context: dg.SensorEvaluationContext, kb: KbResource) -> dg.SensorResult | dg.SkipReason:
    """Launch a sync of each stale source, then one compile of the stale whole stages."""
    base = kb.open()
    fail_dead(context.instance)
    stale = base.stale()
    partitions, events, state = _registry(context, base)
    requests = list(_requests(context, stale, state))
    if not (requests or partitions or events):
        waits = _waits(context, stale)
        return dg.SkipReason(waits or f"{len(base.settings.sources)} sources looked at, nothing is stale")
    return dg.SensorResult(
        run_requests=requests,
        dynamic_partitions_requests=partitions,
        asset_events=events,
        cursor=json.dumps(state),
    )


def _requests(context: dg.SensorEvaluationContext, stale: Stale, state: dict[str, Any]) -> Iterator[dg.RunRequest]:
    running = under_way(context.instance)
    syncing = {run.tags.get("dagster/partition") for run in running}
    wanted = [s for s in stale.sources if s not in syncing and not refused(context.instance, stale.asks[s])]
    for source in wanted[:MOST_RUNS]:
        state["seq"] += 1
        yield dg.RunRequest(
            job_name="sync",
            partition_key=source,
            # A content hash alone would be refused for ever once seen: A → B → A would never sync back.
            run_key=f"{source}:{state['seq']}",
            tags={ASKS: stale.asks[source], "kb/reason": stale.sources[source]},
        )
    if wanted or running or not stale.stages or refused(context.instance, stale.asks["compile"]):
        return
    state["seq"] += 1
    yield dg.RunRequest(
        job_name="compile",
        asset_selection=[dg.AssetKey(name) for name in stale.stages],
        run_key=f"compile:{state['seq']}",
        tags={ASKS: stale.asks["compile"], "kb/reason": next(iter(stale.stages.values()))},
    )


def _waits(context: dg.SensorEvaluationContext, stale: Stale) -> str:
    """Why nothing was requested though something is stale."""
    if not stale:
        return ""
    running = len(under_way(context.instance))
    if running:
        return f"{running} runs are under way"
    names = ", ".join((*stale.sources, *stale.stages))
    return f"stale, but the last run failed on the same inputs: {names}. Change them, or launch a run by hand."


def _registry(
    context: dg.SensorEvaluationContext, base: KnowledgeBase
) -> tuple[list[Any], list[dg.AssetMaterialization], dict[str, Any]]:
    """Partitions to add and remove, versions of the external assets that moved, and the cursor's next value."""
    state: dict[str, Any] = {"seq": 0, "versions": {}, **json.loads(context.cursor or "{}")}
    now = {s.id for s in base.settings.sources}
    have = set(context.instance.get_dynamic_partitions(str(SOURCES.name)))
    partitions: list[Any] = []
    if now - have:
        partitions.append(SOURCES.build_add_request(sorted(now - have)))
    if have - now:
        partitions.append(SOURCES.build_delete_request(sorted(have - now)))
    moved = {name: v for name, v in base.versions().items() if state["versions"].get(name) != v}
    state["versions"] = {**state["versions"], **moved}
    # After a lost cursor the counter must not fall back to keys that were used.
    state["seq"] = max(state["seq"], int(base.world.clock.now().timestamp()))
    events = [dg.AssetMaterialization(name, tags={"dagster/data_version": v}) for name, v in moved.items()]
    return partitions, events, state
