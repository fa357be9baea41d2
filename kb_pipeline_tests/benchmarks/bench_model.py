"""What asking costs beyond the model itself, and whether a long, faulty, killed run loses or repeats anything.

``python -m kb_pipeline_tests.benchmarks.bench_model [--calls N] [--chunks N]`` asks a fake endpoint that answers at
once: first ``calls`` questions at 8 side by side (the overhead a call), then a soak of ``chunks`` at 64 side by side,
of which every 20th request fails in one of twelve ways, hanging and dripping among them, killed with ``kill -9``
halfway and started again.
"""

import argparse
import json
import os
import platform
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kb_pipeline.errors import ModelError
from kb_pipeline.records import Ask
from kb_pipeline.services.endpoint import open_endpoint
from kb_pipeline.settings import Endpoint
from kb_pipeline.store.logs import Log
from kb_pipeline.store.replies import Replies
from kb_pipeline_tests.endpoint import FakeEndpoint, serve
from kb_pipeline_tests.fakes import FixedClock
from kb_pipeline_tests.services.asking import Echo, Kept

FAULTS = (
    "429", "500", "503", "reset", "hang", "drip", "truncated_body", "truncated_json", "wrong_schema", "fenced",
    "empty_choice", "no_usage",
)  # fmt: skip
ONE_IN = 20
LINE = "The queue of service {n} holds at most {n} jobs, and a job waits {n} ms before it is tried again. "


def asks(count: int) -> list[Ask]:
    """Questions of about the size of a chunk with its prompt."""
    system = "Read the text and reply with one JSON object that says it again. " * 30
    texts = [f"chunk {n:05}: {LINE.format(n=n) * 8}" for n in range(count)]
    return [
        Ask(task="extract", version="v1", system=system, user=text, max_tokens=1024, doc_id=text[:11]) for text in texts
    ]


# --- the process that asks ---------------------------------------------------------------------------------------


def work(url: str, folder: Path, count: int, concurrency: int) -> dict[str, Any]:
    """Ask ``count`` questions and say what came of them, with the largest resident size in MB after three fifths and
    at the end.
    """
    opened = open_endpoint(
        Endpoint(base_url=url, model="gpt-4o-mini", concurrency=concurrency, timeout=2),
        replies=Replies(folder / "replies"),
        memory=Kept(),
        clock=FixedClock(),
        ledger=Log(folder / "ledger.jsonl").append,
        rejects=Log(folder / "rejects.jsonl").append,
    )
    came: Counter[str] = Counter()
    sizes = []
    began, cpu = time.perf_counter(), time.process_time()
    questions = asks(count)
    for n, (ask, result) in enumerate(zip(questions, opened.client.ask(questions, Echo), strict=True)):
        right = isinstance(result, Echo) and result.text == ask.user
        came[result.code if isinstance(result, ModelError) else "right" if right else "wrong"] += 1
        if n in {count * 3 // 5, count - 1}:
            sizes.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    calls = opened.spent().calls
    opened.close()
    return {"came": dict(came), "mb": sizes, "calls": calls, "seconds": seconds, "cpu": cpu}


def start(url: str, folder: Path, count: int, concurrency: int) -> "subprocess.Popen[bytes]":
    """``work`` in a process of its own."""
    arguments = ["--work", json.dumps([url, str(folder), count, concurrency])]
    command = [sys.executable, "-m", "kb_pipeline_tests.benchmarks.bench_model", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def finish(process: "subprocess.Popen[bytes]") -> dict[str, Any]:
    """What the process says at its end."""
    output, _ = process.communicate()
    return dict(json.loads(output))


# --- the soak ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Soak:
    """What a soak showed. ``repeated`` are questions whose reply was kept at the kill and that were sent again,
    ``paid_twice`` those that the server had answered by then and was asked again.
    """

    chunks: int
    concurrency: int
    kept_at_kill: int
    repeated: int
    paid_twice: int
    faults: Counter[str]
    requests: int
    lines: int
    kept: int
    last: dict[str, Any]


def soak(chunks: int, concurrency: int, folder: Path) -> Soak:
    """Ask ``chunks`` questions, kill the process halfway with ``kill -9``, and let another one finish."""
    with serve() as endpoint:
        for fault in FAULTS:
            endpoint.fault(fault, every=ONE_IN, seconds=0.02 if fault == "429" else 0.0)
        killed = start(endpoint.url, folder, chunks, concurrency)
        while endpoint.count() < chunks // 2:
            time.sleep(0.1)
        os.kill(killed.pid, signal.SIGKILL)
        killed.communicate()
        before = endpoint.calls()
        held = set(kept_texts(folder))
        last = finish(start(endpoint.url, folder, chunks, concurrency))
        calls = endpoint.calls()
    asked_again = {call["user"][:11] for call in calls[len(before) :]}
    answered = {call["user"][:11] for call in before if call["status"] == 200 and not call["fault"]}
    return Soak(
        chunks,
        concurrency,
        kept_at_kill=len(held),
        repeated=len(asked_again & held),
        paid_twice=len(asked_again & answered),
        faults=Counter(call["fault"] for call in calls if call["fault"]),
        requests=len(calls),
        lines=sum(1 for _ in Log(folder / "ledger.jsonl")),
        kept=len(list(kept_texts(folder))),
        last=last,
    )


def kept_texts(folder: Path) -> Iterator[str]:
    """The beginning of each text whose reply is kept."""
    for path in sorted((folder / "replies").glob("??/*.json")):
        yield json.loads(path.read_text())["reply"]["text"][:11]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the machine and both measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=2_000)
    parser.add_argument("--chunks", type=int, default=5_000)
    parser.add_argument("--work", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.work:
        url, folder, count, concurrency = given.work
        print(json.dumps(work(url, Path(folder), count, concurrency)))
        return
    load = os.getloadavg()[0]
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {load:.1f}, Python {platform.python_version()}\n")
    with tempfile.TemporaryDirectory() as place, serve() as endpoint:
        show_overhead(endpoint, Path(place), given.calls)
    with tempfile.TemporaryDirectory() as place:
        show(soak(given.chunks, 64, Path(place)))


def show_overhead(endpoint: FakeEndpoint, folder: Path, calls: int) -> None:
    """Wall and processor time a call, first asked and then replayed."""
    for what in ("asked", "replayed"):
        done = finish(start(endpoint.url, folder, calls, 8))
        wall, cpu = done["seconds"] / calls * 1000, done["cpu"] / calls * 1000
        print(f"{calls} calls at 8 side by side, {what}: {wall:.2f} ms a call, {cpu:.2f} ms of them CPU")


def show(found: Soak) -> None:
    """The soak in words."""
    print(f"\nsoak: {found.chunks} chunks at {found.concurrency} side by side, killed halfway")
    print(f"  came of the second run: {found.last['came']}, in {found.last['seconds']:.0f} s")
    print(f"  kept: {found.kept}; at the kill {found.kept_at_kill}, of which asked again {found.repeated}")
    print(f"  answered before the kill and asked again: {found.paid_twice} (at most {found.concurrency} in flight)")
    print(
        f"  {found.requests} requests, {found.lines} lines in the ledger; faults: {dict(sorted(found.faults.items()))}"
    )
    first, end = found.last["mb"]
    print(f"  largest resident size: {first:.1f} MB after three fifths, {end:.1f} MB at the end")


if __name__ == "__main__":
    main()
