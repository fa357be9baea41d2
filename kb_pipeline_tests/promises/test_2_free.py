"""Promise 2, free when nothing changed: a rebuild over unchanged input makes no model call, no embedding and no file
write; a fresh clone without the originals deletes nothing and serves the same items."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from kb_pipeline_tests.driving import Cli, compile_all, opened, tree
from kb_pipeline_tests.promises.documents import CACHE

LOCKS = ("cache/build.lock", "cache/commit.lock", "index/.lock")


def files(root: Path) -> dict[str, tuple[str, int]]:
    """Hash and mtime of every file below ``kb/`` but the locks, which name their last holder."""
    return {path: state for path, state in tree(root / "kb").items() if path not in LOCKS}


def cost(report: Any) -> tuple[float, float, int]:
    """Model calls, embeddings and files written."""
    return report["engine"]["calls"], report["engine"]["embeddings"], report["files_written"]


def test_a_second_build_costs_nothing(cli: Cli) -> None:
    """Nothing is stale, no call is made, no byte and no time of change moves, from the first repetition on."""
    before = files(cli.root)
    assert [cost(cli.build()), cost(cli.build())] == [(0, 0, 0)] * 2
    assert files(cli.root) == before
    with opened(cli.root) as base:
        assert not base.stale()


def test_reading_leaves_no_trace(cli: Cli) -> None:
    """Search, status, show, check, eval and SQL write nothing, but for the line in the log of queries."""
    before = files(cli.root)
    item = cli.hits("block cache pages")[0]["id"]
    for command in (("status",), ("show", item), ("check",), ("eval",), ("sql", "select count(*) from rows")):
        cli.run(*command)
    after = files(cli.root)
    assert [path for path in after if path not in before and not path.startswith("logs/queries/")] == []
    assert {path: after[path] for path in before} == before


def test_a_touched_file_costs_nothing(cli: Cli) -> None:
    """A new time of change without a new byte is looked at once and makes nothing."""
    before = tree(cli.root / "kb", tracked_only=True)
    for path in cli.root.glob("notes/*.md"):
        os.utime(path)
    assert cost(cli.build()) == (0, 0, 0)
    assert tree(cli.root / "kb", tracked_only=True) == before
    with opened(cli.root) as base:
        assert not base.stale()


def test_a_full_check_computes_nothing_anew(cli: Cli) -> None:
    """`--full` reads everything again and finds that nothing changed."""
    before = tree(cli.root / "kb", tracked_only=True)
    assert cost(cli.build("--full")) == (0, 0, 0)
    assert tree(cli.root / "kb", tracked_only=True) == before


def test_there_and_back_publishes_what_stood_before(cli: Cli) -> None:
    """A → B → A leaves the items, with their ids and dates of birth, as A had them; a full check makes nothing anew."""
    path = cli.root / "notes/cache.md"

    def published() -> dict[str, tuple[str, str, str]]:
        return {i["id"]: (i["statement"], i["created_at"], i["status"]) for i in cli.items().values()}

    before = published()
    for text in (CACHE.replace("16 pages", "32 pages"), CACHE):
        path.write_text(text)
        with opened(cli.root) as base:
            compile_all(base)
    after = published()
    assert {key: value for key, value in after.items() if value[2] != "retired"} == before
    with opened(cli.root) as base:
        reports, _ = compile_all(base, full=True)
    assert sum(report.embeddings + report.files_written for report in reports) == 0


def clone(root: Path, target: Path) -> Cli:
    """What git would give another machine: the tracked files alone."""
    git = ("git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "state"]):
        subprocess.run([*git, *command], cwd=root, check=True, capture_output=True)
    subprocess.run([*git, "clone", "-q", str(root), str(target)], check=True, capture_output=True)
    return Cli(target)


def test_a_fresh_clone_needs_no_model(cli: Cli, tmp_path: Path) -> None:
    """On a clone with its originals nothing but embeddings is made anew, and no tracked file differs but the record of
    evaluations, to which that of the clone's own index is added."""
    there = clone(cli.root, tmp_path / "clone")
    before = {path: state[0] for path, state in tree(there.root / "kb", tracked_only=True).items()}
    report = there.build()
    assert (report["engine"]["calls"], report["documents"]["deleted"]) == (0, 0)
    assert there.active() == cli.active()
    after = {path: state[0] for path, state in tree(there.root / "kb", tracked_only=True).items()}
    evaluations = {"eval/results.jsonl", "eval/manifest.jsonl"}
    assert {path for path in before if after.get(path) != before[path]} <= evaluations
    told, told_there = ((of.root / "kb/eval/results.jsonl").read_text() for of in (cli, there))
    assert told_there.startswith(told)


def test_a_fresh_clone_without_originals_loses_nothing(cli: Cli, tmp_path: Path) -> None:
    """Originals that are missing there are an unavailable source; its documents are compiled from what is tracked."""
    there = clone(cli.root, tmp_path / "clone")
    for source in ("notes", "handbook"):
        shutil.rmtree(there.root / source)
    report = there.build()
    assert (report["engine"]["calls"], report["documents"]["deleted"]) == (0, 0)
    assert there.active() == cli.active()
    assert there.hits("block cache pages of memory")[0]["text"].startswith("The block cache keeps 16 pages")
    assert all(source["failed"] for source in there.json("status")["sources"])
    with opened(there.root, KB_CONVERT_SECONDS="31", KB_CHUNK_MAX="2300") as base:  # other recipes than here
        compile_all(base)
    assert there.active() == cli.active()
