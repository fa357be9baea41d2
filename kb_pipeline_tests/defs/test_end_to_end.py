"""`kb dev` as its users meet it: the real daemon and webserver on loopback."""

import os
from collections import Counter
from pathlib import Path

import pytest

from kb_pipeline.api import PER_SOURCE, WHOLE
from kb_pipeline_tests.defs.serving import Served, processes_in, served, until
from kb_pipeline_tests.driving import Cli, write

EXTERNAL = ("source_registry", "taxonomy")


def added(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """What was materialized between two counts. A compile counts once: it waits for no source that is slow to answer,
    so that on a busy machine it may run again when the source is done."""
    return {name: 1 if name in WHOLE else n for name, n in (Counter(after) - Counter(before)).items()}


def source(name: str) -> dict[str, int]:
    """One materialization of each stage of a source."""
    return {f"{stage}:{name}": 1 for stage in PER_SOURCE}


COMPILE = dict.fromkeys(WHOLE, 1)


def first_compile(server: Served) -> None:
    """Both sources are synced and compiled by themselves, with this root and this environment."""
    server.settle()
    assert server.partitions() == {"notes", "book"}
    expected = {**source("notes"), **source("book"), **COMPILE, **dict.fromkeys(EXTERNAL, 1)}
    assert added({}, server.materialized()) == expected
    assert server.cli.hits("block size")[0]["doc_id"] == "notes/paging.md"
    assert " + hashing-" in (server.cli.root / "kb/eval/results.jsonl").read_text()


def logs_are_readable(server: Served) -> None:
    """The log of a run says in a line a stage what was done, and its tags why."""
    run = next(r for r in server.runs() if r["tags"].get("dagster/partition") == "notes")
    assert any(m.startswith("raw of source 'notes': 1 made") for m in server.messages(run["runId"]))
    assert run["tags"]["kb/reason"] == "it was never read here"


def unchanged_content_launches_nothing(server: Served) -> None:
    """Neither a further look nor a `kb build` beside the daemon runs anything."""
    before = (len(server.runs()), server.materialized())
    assert server.cli.build()["files_written"] == 0
    server.settle()
    assert (len(server.runs()), server.materialized()) == before


def one_change_touches_its_source_alone(server: Served) -> None:
    """Its partition and what is downstream are materialized again, nothing else."""
    before = server.materialized()
    write(server.cli.root, {"notes/paging.md": "# Paging\n\nThe default block size is 32 tokens.\n"})
    server.settle()
    assert added(before, server.materialized()) == {**source("notes"), **COMPILE}
    assert "32 tokens" in server.cli.hits("default block size")[0]["text"]


def a_new_source_is_backfilled_by_hand(server: Served) -> None:
    """A source with `refresh: manual` shows as a partition, waits, and a backfill from the UI brings it in."""
    before = server.materialized()
    write(server.cli.root, {"talks/keys.md": "# Keys\n\nAn access key expires after 90 days without use.\n"})
    with (server.cli.root / "sources.yaml").open("a") as file:
        file.write("  - {id: talks, type: local, uri: talks, refresh: manual}\n")
    server.settle()
    assert server.partitions() == {"notes", "book", "talks"}
    middle = server.materialized()
    assert added(before, middle) == {**COMPILE, "source_registry": 1}  # dedup sees the set
    server.backfill(PER_SOURCE, "talks")
    server.settle()
    assert added(middle, server.materialized()) == {**source("talks"), **COMPILE}
    assert server.cli.hits("access key expires")[0]["doc_id"] == "talks/keys.md"


def a_build_beside_the_daemon_is_no_conflict(server: Served) -> None:
    """Where a person builds what the daemon is about to, both end well."""
    write(server.cli.root, {"book/quotas.md": "# Quotas\n\nThe gateway allows 700 requests a minute.\n"})
    server.cli.build()
    server.settle()
    assert {run["status"] for run in server.runs()} == {"SUCCESS"}
    assert "700 requests" in server.cli.hits("requests a minute")[0]["text"]


@pytest.mark.e2e
@pytest.mark.skipif("KB_E2E" not in os.environ, reason="minutes of real servers, which a busy machine fails: make e2e")
@pytest.mark.timeout(900)
def test_the_daemon_compiles_what_changes(root: Path) -> None:
    """From a fresh root to a served knowledge base, through edits, a new source and a build beside it; nothing of it
    is left running."""
    assert not (root / "kb/index").exists()
    with served(root) as server:
        first_compile(server)
        logs_are_readable(server)
        unchanged_content_launches_nothing(server)
        one_change_touches_its_source_alone(server)
        a_new_source_is_backfilled_by_hand(server)
        a_build_beside_the_daemon_is_no_conflict(server)
        assert "runs over this knowledge base already" in Cli(root).run("dev", "--port", "1", code=1).stderr
    until(lambda: not processes_in(root.resolve()), lambda: f"left running: {processes_in(root.resolve())}")
