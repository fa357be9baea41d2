"""The served knowledge base under load: readers during rebuilds, an agent's search, two tokens apart, odd requests.

Run ``python -m kb_pipeline_tests.benchmarks.bench_serve [rebuilds] [agent] [apart] [odd] [--root DIR]``: all four by
default, about eight minutes. Traffic goes to servers of its own on loopback. The model that embeds is the real one.
"""

import argparse
import asyncio
import json
import platform
import re
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import httpx2
import numpy as np
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from kb_pipeline_tests import two_projects
from kb_pipeline_tests.driving import Cli
from kb_pipeline_tests.faces.test_projects_apart import names
from kb_pipeline_tests.faces.web.test_openapi import probe
from kb_pipeline_tests.mixed import betrayed
from kb_pipeline_tests.project import ROOT

SECONDS, CLIENTS, AGENT, APART, EXAMPLES = 60, 8, 300, 5_000, 150
SAMPLE = ("examples", "sources.yaml", "taxonomy.yaml", "dagster.yaml", "workspace.yaml")
REAL = {"KB_EMBEDDER": "minilm"}
NOTE = "select min(uri) from rows where kind = 'chunk' and uri like '%.md'"


@contextmanager
def sample() -> Iterator[Cli]:
    """The sample, compiled in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for name in SAMPLE:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, Path(folder) / name)
        cli = Cli(Path(folder), **REAL)
        cli.build()
        yield cli


def rebuilds(cli: Cli) -> None:
    """Search over HTTP with eight clients while one document is edited and compiled again and again, niced."""
    gold = [json.loads(line) for line in (cli.root / "kb/eval/qa_gold.jsonl").read_text().splitlines()]
    questions = [entry["question"] for entry in gold if entry["question"]]
    stop, built = threading.Event(), list[float]()
    spent: list[float] = []
    faults: list[str] = []

    def build() -> None:
        ((first,),) = (row.values() for row in cli.json("sql", NOTE))  # one row of one column
        note = cli.root / first
        text = note.read_text()
        while not stop.is_set():
            note.write_text(f"{text}\nEdition {len(built)} of this note counts {len(built) + 100} pages.\n")
            began = time.perf_counter()
            command = ["nice", "-n", "10", *cli.command("build", "--json")]
            done = subprocess.run(command, env=cli.environ, capture_output=True, text=True, check=False)
            built.append(time.perf_counter() - began)
            if done.returncode:
                faults.append(f"build: {done.stdout[-300:]} {done.stderr[-300:]}")

    def ask(number: int, url: str) -> None:
        with httpx2.Client(base_url=url, timeout=30) as client:
            for turn in range(number, 10**9, CLIENTS):
                if stop.is_set():
                    return
                began = time.perf_counter()
                reply = client.get("/api/search", params={"q": questions[turn % len(questions)]})
                spent.append((time.perf_counter() - began) * 1000)
                if reply.status_code != 200 or not reply.json()["hits"]:
                    faults.append(f"{reply.status_code} {reply.text[:200]}")

    with two_projects.serving(cli.root, **REAL) as url:
        httpx2.get(f"{url}/api/search", params={"q": "warm"}, timeout=60)
        threads = [threading.Thread(target=build)]
        threads += [threading.Thread(target=ask, args=(n, url)) for n in range(CLIENTS)]
        for thread in threads:
            thread.start()
        time.sleep(SECONDS)
        stop.set()
        for thread in threads:
            thread.join()
    p50, p95, longest = np.percentile(spent, [50, 95, 100])
    print(f"search over HTTP, {CLIENTS} clients, {SECONDS} s, {len(built)} rebuilds of {statistics.mean(built):.1f} s")
    print(f"  {len(spent) / SECONDS:.0f} a second, {p50:.0f} ms p50, {p95:.0f} p95, {longest:.0f} at most", end=", ")
    print(f"{len(faults)} errors {faults[:3]}", flush=True)


def agent(cli: Cli) -> None:
    """Search over MCP on standard streams, warm."""
    command, *args = cli.command("mcp")
    transport = stdio_client(StdioServerParameters(command=command, args=args, env={**cli.environ}))

    async def talk() -> None:
        async with Client(transport) as client:
            spent = []
            for n in range(AGENT + 20):
                began = time.perf_counter()
                reply = await client.call_tool("search", {"query": f"block size of pool {n % 50}"})
                spent.append((time.perf_counter() - began) * 1000)
                assert not reply.is_error
            p50, p95 = np.percentile(spent[20:], [50, 95])
            print(f"MCP search over stdio, warm, {AGENT} calls: {p50:.1f} ms p50, {p95:.1f} p95", flush=True)

    asyncio.run(talk())


def apart() -> None:
    """Ten thousand mixed requests of two tokens: whether either meets anything of the other's."""
    with tempfile.TemporaryDirectory() as folder:
        root = two_projects.build(Path(folder) / "base")
        sources = root / "sources.yaml"
        sources.write_text(f"{sources.read_text()}settings: {{token_rpm: 1000000}}\n")
        ids = names(root)
        with two_projects.served(root, ajar=False) as client:
            for mine, theirs in (("red", "blue"), ("blue", "red")):
                token, forbidden = two_projects.bearer(root, mine, mine), two_projects.betrayals(root, theirs)
                found = betrayed(client, token, forbidden, ids, APART)
                print(f"{APART:,} mixed requests of '{mine}': {len(found)} betrayals {found[:3]}", flush=True)


def odd() -> None:
    """Some thousand requests made of the description, allowed and not."""
    with tempfile.TemporaryDirectory() as folder:
        root = two_projects.build(Path(folder) / "base")
        with two_projects.serving(root) as url:
            done = probe(url, EXAMPLES)
        cases = re.search(r"(\d+) generated.*", done.stdout)
        print(f"schemathesis: {cases[0] if cases else done.stdout[-2000:]}, exit {done.returncode}", flush=True)


def main() -> None:
    """Print the figures that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wanted", nargs="*", default=["rebuilds", "agent", "apart", "odd"])
    parser.add_argument("--root", type=Path, help="a knowledge base to serve in place of the sample; it is edited")
    chosen = parser.parse_args()
    wanted = chosen.wanted
    print(f"{platform.platform()}, Python {platform.python_version()}")
    if {"rebuilds", "agent"} & set(wanted):
        with nullcontext(Cli(chosen.root.absolute(), **REAL)) if chosen.root else sample() as cli:
            for run in (rebuilds, agent):
                if run.__name__ in wanted:
                    run(cli)
    for check in (apart, odd):
        if check.__name__ in wanted:
            check()


if __name__ == "__main__":
    main()
