"""The whole pipeline through the command line over a model behind real sockets, in a process of its own."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from kb_pipeline_tests.driving import Cli, new_root, write
from kb_pipeline_tests.endpoint import FakeEndpoint, serve
from kb_pipeline_tests.project import ROOT
from kb_pipeline_tests.promises.documents import DOCUMENTS, TAXONOMY

MODEL = "gpt-4o-mini"


@dataclass
class Wired:
    """A built knowledge base, and the endpoint that it was built over."""

    cli: Cli
    endpoint: FakeEndpoint
    estimate: list[dict[str, Any]] = field(default_factory=list)
    asked: int = 0


@pytest.fixture(scope="module")
def endpoint() -> Iterator[FakeEndpoint]:
    """An honest model."""
    with serve(["kb_pipeline_tests.honest:honest"]) as found:
        yield found


def command_line(root: Path, endpoint: FakeEndpoint, **environ: str) -> Cli:
    """The command line over ``root`` and ``endpoint``."""
    return Cli(root, KB_LLM_BASE_URL=endpoint.url, KB_LLM_MODEL=MODEL, KB_LLM_API_KEY="sk-secret", **environ)


@pytest.fixture(scope="module")
def first(endpoint: FakeEndpoint, tmp_path_factory: pytest.TempPathFactory) -> Wired:
    """A first build, not to be changed."""
    root = new_root(tmp_path_factory.mktemp("wired") / "base", DOCUMENTS, notes="notes", handbook="handbook")
    (root / "taxonomy.yaml").write_text(TAXONOMY)
    cli = command_line(root, endpoint)
    estimate = cli.json("build", "--estimate")["rows"]
    before = endpoint.count()
    assert before == 0
    cli.build()
    return Wired(cli, endpoint, estimate, endpoint.count())


@pytest.fixture
def wired(first: Wired, tmp_path: Path) -> Wired:
    """A copy of the built knowledge base."""
    root = Path(shutil.copytree(first.cli.root, tmp_path / "base"))
    return replace(first, cli=command_line(root, first.endpoint))


def test_a_build_over_the_wire_publishes_what_is_proven(wired: Wired) -> None:
    """All stages run over the endpoint: items are proven, filed, searchable and evaluated, and the key is nowhere."""
    active = wired.cli.active()
    assert "The gateway drops a request after 30 seconds." in active
    assert {i["engine"] for i in active.values()} == {f"openai:{MODEL}"}
    assert {i["primary_category"] for i in active.values()} >= {"Memory", "Traffic"}
    assert [f for f in wired.cli.json("check") if f["blocking"] and not f["ok"]] == []
    assert wired.cli.hits("gateway drops a request")[0]["kind"] == "item"
    assert wired.cli.json("eval")[-1]["counts"]["questions"] > 0
    assert not [p for p in wired.cli.root.rglob("*") if p.is_file() and b"sk-secret" in p.read_bytes()]


def test_an_estimate_holds_what_is_then_counted(wired: Wired) -> None:
    """Before anything is sent, calls, tokens and price are told by stage as ranges that hold what the server counts."""
    spent = {row["name"]: row for row in wired.cli.json("cost")}
    for row in wired.estimate:
        counted = spent.pop(row["stage"], {"calls": 0, "tokens_in": 0, "tokens_out": 0, "usd": 0.0})
        for name in ("calls", "tokens_in", "tokens_out"):
            assert row[name]["low"] <= counted[name] <= row[name]["high"], (row["stage"], name)
        assert row["usd"][0] <= counted["usd"] <= row["usd"][1]
    assert not spent
    low, high = (sum(row["calls"][end] for row in wired.estimate) for end in ("low", "high"))
    assert low <= wired.asked <= high
    assert wired.cli.json("build", "--estimate")["rows"] == []


def test_costs_and_prompts_are_told(wired: Wired) -> None:
    """What was asked is in the ledger by stage, source, model and day, and every prompt with what it made."""
    rows = {by: wired.cli.json("cost", "--by", by) for by in ("stage", "source", "model", "day")}
    assert {sum(row["calls"] for row in found) for found in rows.values()} == {wired.asked}
    assert {row["name"] for row in rows["model"]} == {MODEL}
    assert {"notes", "handbook"} <= {row["name"] for row in rows["source"]}
    prompts = {row["name"]: row for row in wired.cli.json("prompts")}
    assert prompts["extract"]["artefacts"] == len(DOCUMENTS)
    assert {row["older"] for row in prompts.values()} == {0}
    other = Cli(wired.cli.root, **{**wired.cli.environ, "KB_LLM_MODEL_TAG": "gpt-4o"})
    changed = {row["name"]: row for row in other.json("prompts")}
    assert changed["tag"]["older"] == changed["tag"]["artefacts"] == len(wired.cli.items())
    assert changed["extract"]["older"] == 0
    assert "usage" not in wired.cli.run("cost", "--by", "mood", code=2).stdout


def test_a_rebuild_and_a_clone_call_nobody(wired: Wired, tmp_path: Path) -> None:
    """Neither a rebuild nor a clone with the tracked files asks anything, by the server's own count."""
    calls = wired.endpoint.count()
    wired.cli.build()
    root = wired.cli.root
    for args in (["init", "-q"], ["add", "-A"], ["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "kb"]):
        subprocess.run(["git", "-C", str(root), *args], check=True)
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(root), str(clone)], check=True)
    cloned = command_line(clone, wired.endpoint)
    report = cloned.build()
    assert report["engine"]["calls"] == 0
    assert wired.endpoint.count() == calls
    assert cloned.items() == wired.cli.items()


def test_an_edit_is_paid_by_what_it_changes(wired: Wired) -> None:
    """One edited paragraph costs the calls of its chunk and of what is new in it, as the report says."""
    before = wired.endpoint.count()
    write(wired.cli.root, {"notes/limits.md": DOCUMENTS["notes/limits.md"].replace("900 rows", "950 rows")})
    report = wired.cli.build()
    assert report["engine"]["calls"] == wired.endpoint.count() - before
    assert report["stages"]["atomic_items"]["made"] == 1
    assert 2 <= report["engine"]["calls"] <= 6
    assert report["engine"]["tokens"] > 0
    assert report["engine"]["cost_usd"] > 0


def test_half_the_estimate_stops_the_build_and_the_next_one_goes_on(endpoint: FakeEndpoint, tmp_path: Path) -> None:
    """A build of the sample under half of the least that was estimated ends below it with exit 1 and the way to go on;
    the next one asks the rest, nothing twice, and what both spent lies within the estimate."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for file in ("sources.yaml", "taxonomy.yaml", "dagster.yaml", "workspace.yaml"):
        shutil.copy(ROOT / file, tmp_path / file)
    cli = command_line(tmp_path, endpoint)
    estimate = cli.json("build", "--estimate")["rows"]
    least, most = (sum(row["usd"][end] for row in estimate) for end in (0, 1))
    answered = endpoint.answered()
    small = command_line(tmp_path, endpoint, KB_LLM_BUDGET_USD=f"{least / 2:.6f}")
    done = small.run("build", code=1)
    assert "KB_LLM_BUDGET_USD" in done.stdout + done.stderr
    assert 0 < spent(cli) <= least / 2
    cli.build()
    again = endpoint.answered() - answered
    assert again
    assert set(again.values()) == {1}
    assert least <= spent(cli) <= most


def spent(cli: Cli) -> float:
    """Dollars on the ledger."""
    return float(sum(row["usd"] for row in cli.json("cost")))


def test_an_endpoint_that_is_down_fails_the_build_and_keeps_what_is_live(wired: Wired) -> None:
    """Readers are served as before, the build says whom it could not reach, and the next one makes it good."""
    write(wired.cli.root, {"notes/limits.md": DOCUMENTS["notes/limits.md"].replace("900 rows", "950 rows")})
    gone = Cli(wired.cli.root, KB_LLM_BASE_URL="http://127.0.0.1:9/v1", KB_LLM_MODEL=MODEL)
    done = gone.run("build", code=1)
    assert "127.0.0.1:9" in done.stdout + done.stderr
    assert wired.cli.hits("export job writes rows")
    wired.cli.build()
    assert "The export job writes at most 950 rows per second." in wired.cli.active()


def test_a_reply_that_was_refused_is_kept_for_a_look(endpoint: FakeEndpoint, tmp_path: Path) -> None:
    """What could not be used is in the log of rejects with the reply, and shown with its document."""
    root = new_root(tmp_path / "base", {"notes/limits.md": DOCUMENTS["notes/limits.md"]})
    cli = command_line(root, endpoint)
    endpoint.fault("refusal", match="Limits", times=1)
    cli.build()
    lines = [json.loads(line) for line in (root / "kb/logs/rejects.jsonl").read_text().splitlines()]
    assert [line["outcome"] for line in lines] == ["refused"]
    shown = cli.json("show", "notes/limits.md")
    assert any(r["reason"] == "model-refused" for r in shown["rejects"])
    assert [(r["task"], r["outcome"]) for r in shown["refused"]] == [("extract", "refused")]
    assert "model-refused" in cli.run("show", "notes/limits.md").stdout
