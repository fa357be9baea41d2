"""One sensor, one question: what is stale? It launches exactly that."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import dagster as dg
from dagster import DagsterRunStatus, RunRecord

from kb_pipeline.api import Stale
from kb_pipeline.defs.jobs import compile_, sync
from kb_pipeline.defs.partitions import SOURCES
from kb_pipeline.defs.registry import moves
from kb_pipeline.defs.resources import KbResource
from kb_pipeline.defs.run_tags import asked, signature
from kb_pipeline.defs.runs import fail_dead, holds_up, refused, under_way

MOST_QUEUED = 25  # a first load of thousands of sources must not flood the queue


def registry_sensor(seconds: int) -> dg.SensorDefinition:
    """The sensor that looks every ``seconds`` at most."""

    @dg.sensor(
        jobs=[sync, compile_],
        minimum_interval_seconds=seconds,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Launches what is stale: a sync a source, then one compile. Partitions follow sources.yaml.",
    )
    def registry(context: dg.SensorEvaluationContext, kb: KbResource) -> dg.SensorResult | dg.SkipReason:
        base, instance = kb.open(), context.instance
        fail_dead(instance)
        if changed := base.outdated():
            cure = "reload it under Deployment, or restart `kb dev`"
            return dg.SkipReason(f"{', '.join(changed[:5])} changed since this code location was loaded: {cure}")
        if builder := base.builder():
            return dg.SkipReason(f"{builder} is under way and does the same work")
        running = under_way(instance)  # before what is stale: a run that ends in between must count as under way
        asking = _Asking(context, running, base.stale(), round(base.world.clock.now().timestamp() * 1000))
        requests = list(asking.requests())
        found = moves(instance, base)
        partitions: list[Any] = [SOURCES.build_add_request(found.added)] if found.added else []
        partitions += [SOURCES.build_delete_request(found.removed)] if found.removed else []
        if not requests and not found:
            return dg.SkipReason(asking.silence(len(base.settings.sources)))
        return dg.SensorResult(
            run_requests=requests,
            dynamic_partitions_requests=partitions,
            asset_events=found.events,
            cursor=asking.cursor(),
        )

    return registry


class _Asking:
    """One tick: what is stale against what runs, and what was asked before."""

    def __init__(
        self, context: dg.SensorEvaluationContext, running: list[RunRecord], stale: Stale, now_ms: int
    ) -> None:
        self._instance, self._running, self._stale = context.instance, running, stale
        state: dict[str, Any] = json.loads(context.cursor or "{}")
        # A content hash alone would be refused for ever once seen: A → B → A would never sync back. After a lost
        # cursor the counter must not fall back to keys that were used.
        self._seq = max(int(state.get("seq", 0)), now_ms)
        self._synced: list[str] = state.get("synced", [])

    def cursor(self) -> str:
        """What the next tick must know."""
        return json.dumps({"seq": self._seq, "synced": self._synced})

    def requests(self) -> Iterator[dg.RunRequest]:
        """A sync a stale source; else, or where these had their turn since the last one, a compile."""
        wanted = self._wanted()
        if self._compile_is_due(wanted):
            self._synced = []
            names = [dg.AssetKey(name) for name in self._stale.stages]
            yield self._request("compile", "compile", asset_selection=names)
            return
        for source in wanted:
            self._synced.append(source)
            yield self._request("sync", source, partition_key=source)

    def _wanted(self) -> list[str]:
        runs = [record.dagster_run for record in self._running]
        syncing = {run.tags.get("dagster/partition") for run in runs}
        queued = sum(run.status is DagsterRunStatus.QUEUED for run in runs)
        # Those that had no turn since the last compile go first, so that a source that never rests starves no other.
        waiting = sorted((s for s in self._stale.sources if s not in syncing), key=self._synced.__contains__)
        welcome = (s for s in waiting if not refused(self._instance, signature(self._stale, s)))
        return list(islice(welcome, max(0, MOST_QUEUED - queued)))

    def _compile_is_due(self, wanted: list[str]) -> bool:
        if any(map(holds_up, self._running)) or not self._stale.stages or not set(wanted) <= set(self._synced):
            return False
        return not refused(self._instance, signature(self._stale, "compile"), waits=self._stale.waits)

    def _request(self, job: str, what: str, **target: Any) -> dg.RunRequest:
        self._seq += 1
        return dg.RunRequest(job_name=job, run_key=f"{what}:{self._seq}", tags=asked(self._stale, what), **target)

    def silence(self, sources: int) -> str:
        """Why nothing was requested."""
        if not self._stale:
            holding = "".join(
                f"; {stage} holds back what is below it: {why}" for stage, why in self._stale.held.items()
            )
            return f"{sources} sources looked at, nothing is stale{holding}"
        names = ", ".join((*self._stale.sources, *self._stale.stages))
        if self._running:
            return f"stale: {names}; {len(self._running)} runs are under way"
        return f"stale: {names}; the last run failed on the same inputs. Change them, or launch a run by hand."
