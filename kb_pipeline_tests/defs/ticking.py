"""The daemon's part, played in this process: ticks of the sensor, and the runs that they request."""

from pathlib import Path
from typing import Any

import dagster as dg
from dagster import DagsterInstance

from kb_pipeline.defs.location import daemon_definitions
from kb_pipeline.defs.partitions import NAME
from kb_pipeline.defs.resources import KbResource


class Daemon:
    """A daemon over one root: it keeps the cursor, drops a run key that it ever saw, and runs what is requested."""

    def __init__(self, root: Path, instance: DagsterInstance) -> None:
        self.root, self.instance = root, instance
        self.defs = daemon_definitions()
        self.cursor: str | None = None
        self.skipped = ""
        self._keys: set[str] = set()

    def look(self) -> list[dg.RunRequest]:
        """One tick of the sensor, its partitions and events applied; the runs that it requests."""
        resources = {"kb": KbResource()}
        with dg.build_sensor_context(instance=self.instance, cursor=self.cursor, resources=resources) as context:
            found: Any = self.defs.resolve_sensor_def("registry")(context)
        if isinstance(found, dg.SkipReason):
            self.skipped = str(found.skip_message)
            return []
        self.cursor, self.skipped = found.cursor, ""
        for change in found.dynamic_partitions_requests or []:
            if isinstance(change, dg.AddDynamicPartitionsRequest):
                self.instance.add_dynamic_partitions(NAME, change.partition_keys)
            else:
                for key in change.partition_keys:
                    self.instance.delete_dynamic_partition(NAME, key)
        for event in found.asset_events:
            assert isinstance(event, dg.AssetMaterialization)
            self.instance.report_runless_asset_event(event)
        fresh = [r for r in found.run_requests or [] if r.run_key not in self._keys]
        self._keys |= {str(r.run_key) for r in fresh}
        return fresh

    def run(self, request: dg.RunRequest) -> dg.ExecuteInProcessResult:
        """Run what was requested, here and now."""
        job = self.defs.resolve_job_def(str(request.job_name))
        target: dict[str, Any] = {"partition_key": request.partition_key, "asset_selection": request.asset_selection}
        tags = {**request.tags, "dagster/run_key": str(request.run_key)}
        return job.execute_in_process(instance=self.instance, tags=tags, raise_on_error=False, **target)

    def tick(self) -> list[str]:
        """One tick and its runs, each by what it was for: a source, or ``compile``."""
        requests = self.look()
        for request in requests:
            self.run(request)
        return [name(r) for r in requests]

    def settle(self, most: int = 12) -> list[str]:
        """Ticks until two in a row request nothing; all that ran."""
        ran: list[str] = []
        quiet = 0
        for _ in range(most):
            now = self.tick()
            ran += now
            quiet = 0 if now else quiet + 1
            if quiet == 2:
                return ran
        raise AssertionError(f"never settled: {ran}")


def name(request: dg.RunRequest) -> str:
    """What a request is for."""
    return request.partition_key or str(request.job_name)
