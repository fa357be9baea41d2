"""A real `kb dev` on loopback, asked as its UI asks: by GraphQL."""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kb_pipeline_tests.driving import Cli

PATIENCE = 240.0  # seconds until a wait counts as hung; nothing here is asserted to be fast
NOTHING_STALE = "nothing is stale"

RUNS = "{runsOrError{... on Runs{results{runId jobName status tags{key value}}}}}"
ASSETS = "{assetNodes{assetKey{path} assetMaterializations(limit: 100){partition}}}"
PARTITIONS = '{assetNodeOrError(assetKey: {path: ["raw"]}){... on AssetNode{partitionKeys}}}'
TICK = """query($sensor: SensorSelector!){sensorOrError(sensorSelector: $sensor){... on Sensor{sensorState{
  ticks(limit: 1){timestamp status skipReason error{message}}}}}}"""
LOGS = """query($run: ID!){logsForRun(runId: $run){... on EventConnection{events{
  ... on MessageEvent{message level stepKey}}}}}"""
BACKFILL = """mutation($params: LaunchBackfillParams!){launchPartitionBackfill(backfillParams: $params){
  ... on LaunchBackfillSuccess{backfillId} ... on PythonError{message}}}"""
BACKFILL_STATE = "query($id: String!){partitionBackfillOrError(backfillId: $id){... on PartitionBackfill{status}}}"
SENSOR = {
    "repositoryName": "__repository__",
    "repositoryLocationName": "kb_pipeline.definitions",
    "sensorName": "registry",
}


class Served:
    """A running server over the root of ``cli``."""

    def __init__(self, cli: Cli, port: int) -> None:
        self.cli, self._url = cli, f"http://127.0.0.1:{port}/graphql"

    def ask(self, query: str, **variables: Any) -> Any:
        """The data that GraphQL answers."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(self._url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as reply:
            answer = json.load(reply)
        assert "errors" not in answer, answer["errors"]
        return answer["data"]

    def runs(self) -> list[dict[str, Any]]:
        """All runs, newest first, with their tags as a mapping."""
        found = self.ask(RUNS)["runsOrError"]["results"]
        return [{**run, "tags": {tag["key"]: tag["value"] for tag in run["tags"]}} for run in found]

    def materialized(self) -> dict[str, int]:
        """How often each asset, or ``asset:partition``, was materialized."""
        counts: dict[str, int] = {}
        for node in self.ask(ASSETS)["assetNodes"]:
            for event in node["assetMaterializations"]:
                key = ":".join(filter(None, (node["assetKey"]["path"][0], event["partition"])))
                counts[key] = counts.get(key, 0) + 1
        return counts

    def partitions(self) -> set[str]:
        """The partitions that the UI offers."""
        return set(self.ask(PARTITIONS)["assetNodeOrError"]["partitionKeys"])

    def tick(self) -> dict[str, Any]:
        """The last look of the sensor."""
        ticks = self.ask(TICK, sensor=SENSOR)["sensorOrError"]["sensorState"]["ticks"]
        return dict(ticks[0]) if ticks else {"timestamp": 0.0, "status": "", "skipReason": ""}

    def settle(self) -> None:
        """Until a look that began from now on finds nothing stale."""
        since = time.time()

        def settled() -> bool:
            last = self.tick()
            return last["timestamp"] > since and NOTHING_STALE in (last["skipReason"] or "")

        until(settled, lambda: f"never settled; last look: {self.tick()}, runs: {self.runs()}")

    def messages(self, run: str) -> list[str]:
        """What the log of a run says at level INFO."""
        events = self.ask(LOGS, run=run)["logsForRun"]["events"]
        return [event["message"] for event in events if event.get("level") == "INFO"]

    def backfill(self, assets: tuple[str, ...], partition: str) -> None:
        """Launch a backfill as the UI does, and wait for its end."""
        params = {"assetSelection": [{"path": [name]} for name in assets], "partitionNames": [partition]}
        launched = self.ask(BACKFILL, params=params)["launchPartitionBackfill"]
        state = ""

        def ended() -> bool:
            nonlocal state
            state = self.ask(BACKFILL_STATE, id=launched["backfillId"])["partitionBackfillOrError"]["status"]
            return state not in {"REQUESTED", "COMPLETING"}

        until(ended, lambda: f"the backfill is {state}")
        assert state == "COMPLETED_SUCCESS"


def until(done: Callable[[], bool], why: Callable[[], str]) -> None:
    """Ask again and again until ``done``; after a long time give up and say ``why``."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if done():
            return
        time.sleep(0.5)
    raise AssertionError(why())


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def processes_in(folder: Path) -> list[str]:
    """The command lines of the processes, zombies among them, that work in ``folder`` or are our children."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        if place.name == str(os.getpid()):
            continue
        try:
            state = (place / "stat").read_text().rpartition(")")[2].split()
            if (place / "cwd").resolve() == folder or (state[0] == "Z" and int(state[1]) == os.getpid()):
                found.append((place / "cmdline").read_text().replace("\0", " ") or place.name)
        except OSError:
            continue  # it ended, or is another user's
    return found


@contextmanager
def served(root: Path) -> Iterator[Served]:
    """`kb dev` over ``root``, looking every few seconds; stopped as a service manager would, and gone afterwards."""
    port = free_port()
    cli = Cli(root, KB_SENSOR_SECONDS="3", DAGSTER_GRPC_TIMEOUT_SECONDS="180")
    with (root.parent / "dev.log").open("w") as log:
        process = subprocess.Popen(
            cli.command("dev", "--port", str(port)), env=cli.environ, stdout=log, stderr=log, start_new_session=True
        )
        try:
            server = Served(cli, port)
            until(lambda: answers(server, process), lambda: (root.parent / "dev.log").read_text()[-4000:])
            yield server
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=120)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def answers(server: Served, process: "subprocess.Popen[bytes]") -> bool:
    """Whether the webserver answers; fails at once where the server ended."""
    assert process.poll() is None, "kb dev ended"
    try:
        return bool(server.ask("{version}"))
    except OSError:
        return False
