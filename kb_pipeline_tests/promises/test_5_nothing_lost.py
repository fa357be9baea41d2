"""Promise 5, nothing lost: what differs in a number, version, unit or negation never merges silently; merges unite
citations; supersede and delete are status changes with history; a person's edit survives every rebuild; a crash at any
instant leaves the last good state readable."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kb_pipeline_tests.driving import Cli, compile_all, opened, write
from kb_pipeline_tests.promises.documents import GUIDE, LIMITS

KILLS = 5


def test_what_differs_in_what_counts_stays_apart(cli: Cli) -> None:
    """Two figures, two units, a sentence and its negation are items of their own, and the record says why."""
    active = cli.active()
    for statement in (
        "The gateway accepts at most 512 connections at once.",
        "The gateway accepts at most 640 connections at once.",
        "A replica needs 12 GB of disk.",
        "A replica needs 12 MB of disk.",
        "The scheduler retries a failed export job.",
        "The scheduler does not retry a failed export job.",
    ):
        assert statement in active
    decisions = [json.loads(line) for line in (cli.root / "kb/dedup/decisions.jsonl").read_text().splitlines()]
    assert {d["guard"] for d in decisions} >= {"numbers", "units"}
    assert all(d["reason"] and d["cosine"] and d["ratio"] for d in decisions)
    assert not [d for d in decisions if d["decision"] == "merge" and d.get("guard")]


def test_a_merge_unites_citations(cli: Cli) -> None:
    """One fact in two sources is one item that cites both."""
    (item,) = (i for i in cli.items().values() if i["statement"].startswith("The block cache keeps 16 pages"))
    assert {c["doc_id"] for c in item["sources"]} == {"notes/cache.md", "handbook/guide.md"}
    assert item["confirmations"] == 2


def test_supersede_and_delete_are_changes_of_status(cli: Cli) -> None:
    """The older of two versions is kept as superseded, what nobody states any more as retired, each with its proof."""
    by_statement = {i["statement"]: i for i in cli.items().values()}
    old = by_statement["The relay holds 64 messages in its queue by default."]
    new = by_statement["The relay holds 256 messages in its queue by default."]
    assert (old["status"], old["superseded_by"], new["status"]) == ("superseded", new["id"], "active")
    write(cli.root, {"notes/limits.md": LIMITS.replace("The export job writes at most 900 rows per second.", "")})
    with opened(cli.root) as base:
        compile_all(base)
        assert base.show(old["id"]).passages[0].proven  # type: ignore[union-attr]
    gone = next(i for i in cli.items().values() if "900 rows" in i["statement"])
    assert (gone["status"], bool(gone["valid_to"]), len(gone["sources"])) == ("retired", True, 1)


def test_a_persons_edit_survives_every_rebuild(cli: Cli) -> None:
    """An edited item outlives edits of its document, full builds and a lost cache, stays proven and is served."""
    path = next(p for p in (cli.root / "kb/items").rglob("*.json") if "A page is evicted" in p.read_text())
    path.write_text(path.read_text().replace("A page is evicted after", "A cached page is evicted after"))
    cli.build()
    assert cli.hits("cached page evicted")[0]["text"].startswith("A cached page is evicted after")
    cache = cli.root / "notes/cache.md"
    for losing_the_cache in (False, True, False):
        cache.write_text(f"# More\n\nThe cache is empty at start.\n\n{cache.read_text()}")
        if losing_the_cache:
            shutil.rmtree(cli.root / "kb/cache")
        with opened(cli.root) as base:
            compile_all(base, full=True)
        item = json.loads(path.read_text())
        text = (cli.root / "kb/normalized/notes/cache.md.md").read_text()
        assert item["statement"].startswith("A cached page is evicted after")
        assert [text[c["start"] : c["end"]] for c in item["sources"]] == [c["source_span"] for c in item["sources"]]
    assert cli.hits("cached page evicted")[0]["text"].startswith("A cached page is evicted after")


def test_a_broken_edit_is_named_and_its_last_version_serves(cli: Cli) -> None:
    """An item file that cannot be read is a warning by name; readers keep its last valid version; mended, it serves."""
    path = next(p for p in (cli.root / "kb/items").rglob("*.json") if "A page is evicted" in p.read_text())
    valid = path.read_text()
    path.write_text(valid[:-40])
    report = cli.build()
    assert any(path.stem in warning for warning in report["warnings"])
    assert cli.hits("page evicted without a read")[0]["id"] == path.stem
    shown = cli.run("show", path.stem).stdout
    assert "A page is evicted after 20 minutes" in shown
    assert path.name in shown
    assert "Invalid JSON" in shown
    path.write_text(valid.replace("20 minutes", "20 whole minutes"))
    cli.build()
    assert "20 whole minutes" in cli.hits("page evicted without a read")[0]["text"]


def kill(cli: Cli, after: float) -> bool:
    """Start a build and kill its whole process group after so many seconds; whether it was still running."""
    build = cli.start("build")
    try:
        build.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        os.killpg(build.pid, signal.SIGKILL)
        build.communicate()
        return True
    return False


def told(cli: Cli) -> dict[str, tuple[str, str, int]]:
    """What is known: each item's statement, status and number of proofs by id."""
    return {key: (i["statement"], i["status"], len(i["sources"])) for key, i in cli.items().items()}


EDITS = {"notes/limits.md": LIMITS.replace("900", "950"), "handbook/new.md": GUIDE.replace("640", "700")}


@pytest.fixture
def undisturbed(cli: Cli, tmp_path: Path) -> Cli:
    """Where ``cli`` would be after ``EDITS`` and a build that nothing disturbed."""
    there = Cli(Path(shutil.copytree(cli.root, tmp_path / "undisturbed")))
    write(there.root, EDITS)
    with opened(there.root) as base:
        compile_all(base)
    return there


def test_a_kill_at_any_instant_loses_nothing(cli: Cli, undisturbed: Cli) -> None:
    """Builds killed at random leave readers served, and the next build ends where an undisturbed one does."""
    write(cli.root, EDITS)
    chance, killed, longest = random.Random(7), 0, 4.0
    for after in sorted(chance.uniform(0.5, longest) for _ in range(KILLS)):  # the first before any build is done
        killed += kill(cli, after)
        assert cli.hits("block cache pages")[0]["text"].startswith("The block cache keeps")
    cli.build()
    assert killed
    assert told(cli) == told(undisturbed)
    assert all(finding["ok"] for finding in cli.json("check") if finding["blocking"])


@pytest.mark.parametrize("share", [0.07, 0.25, 0.5, 0.63, 0.76, 0.79, 0.85, 0.95])
def test_a_kill_between_two_writes_loses_nothing(cli: Cli, undisturbed: Cli, changes: int, share: float) -> None:
    """A process that dies between two changes of the file system, wherever, leaves what the next one completes."""
    write(cli.root, EDITS)
    assert dying(cli.root, int(changes * share)).returncode == -signal.SIGKILL
    with opened(cli.root) as base:
        assert base.search("block cache pages").hits
        reports, _ = compile_all(base)
        assert all(finding.ok for finding in base.check() if finding.blocking)
        assert not base.stale()
    assert not [warning for report in reports for warning in report.warnings]
    assert told(cli) == told(undisturbed)
    assert not list((cli.root / "kb").rglob(".tmp-*"))


def dying(root: Path, change: int) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "kb_pipeline_tests.dying", str(root), str(change)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def changes(pristine: Path, tmp_path_factory: pytest.TempPathFactory) -> int:
    """How many changes of the file system the build of ``EDITS`` makes."""
    root = Path(shutil.copytree(pristine, tmp_path_factory.mktemp("counted") / "base"))
    write(root, EDITS)
    return int(dying(root, 0).stdout)


def test_two_builds_at_once_tear_nothing(cli: Cli, undisturbed: Cli) -> None:
    """Of two builds one waits and says for whom; what is published is what one build would have made."""
    write(cli.root, EDITS)
    builds = [cli.start("build") for _ in range(2)]
    ends = [(*build.communicate(), build.returncode) for build in builds]
    assert [code for _, _, code in ends] == [0, 0]
    assert sum("another build is under way" in err for _, err, _ in ends) == 1
    assert told(cli) == told(undisturbed)
    assert all(finding["ok"] for finding in cli.json("check") if finding["blocking"])


MINE = "We decided that every replica keeps two copies of its log."


def by_hand(root: Path) -> tuple[str, str]:
    """What a person did between two builds: one item worded better, one deleted, one written, two figures decided on;
    the ids of the first two."""
    edited, deleted = (
        next(p for p in (root / "kb/items").rglob("*.json") if words in p.read_text())
        for words in ("A page is evicted", "drops a request after 30 seconds")
    )
    edited.write_text(edited.read_text().replace('"A page is evicted', '"A cached page is evicted'))
    deleted.unlink()
    (root / "kb/items/mine.json").write_text(json.dumps({"statement": MINE}))
    ids = {i["statement"]: i["id"] for i in Cli(root).items().values() if "connections at once" in i["statement"]}
    with opened(root) as base:
        base.decide(f"pair:{':'.join(sorted(ids.values()))}", "keep", "two gateways")
    return edited.stem, deleted.stem


def held(cli: Cli, edited: str, deleted: str) -> None:
    """Require that all of it is so."""
    items = cli.items()
    assert items[edited]["statement"].startswith("A cached page is evicted")
    assert deleted not in items
    (mine,) = (i for i in items.values() if i["statement"] == MINE)
    assert mine["sources"][0]["doc_id"] == f"human/{mine['id']}"
    assert not [c for c in cli.json("conflicts") if "connections" in c["quotes"][0]["text"]]


def test_what_people_said_and_did_survives_every_rebuild(cli: Cli) -> None:
    """By the command line: an edit, a deletion, an item of one's own and a decision, through builds of every kind."""
    edited, deleted = by_hand(cli.root)
    report = cli.build()
    assert any(f"kb restore {deleted}" in warning for warning in report["warnings"])
    held(cli, edited, deleted)
    assert cli.build()["files_written"] == 0
    cli.build("--full")
    held(cli, edited, deleted)
    shutil.rmtree(cli.root / "kb/cache")
    cli.build()
    held(cli, edited, deleted)
    assert cli.hits("replica copies of its log")[0]["text"] == MINE
    assert f"kb restore {deleted}" in cli.run("show", deleted, code=1).stderr
    cli.run("restore", deleted)
    cli.build()
    assert cli.items()[deleted]["status"] == "active"


@pytest.mark.parametrize("share", [0.02, 0.06, 0.2, 0.4, 0.6, 0.8])
def test_a_kill_loses_nothing_that_people_said_and_did(cli: Cli, share: float) -> None:
    """Wherever the build dies that takes note of it, the next one completes it."""
    edited, deleted = by_hand(cli.root)
    counted = Path(shutil.copytree(cli.root, cli.root.parent / "counted"))
    assert dying(cli.root, int(int(dying(counted, 0).stdout) * share)).returncode == -signal.SIGKILL
    with opened(cli.root) as base:
        compile_all(base)
        assert all(finding.ok for finding in base.check() if finding.blocking)
        assert not base.stale()
    held(cli, edited, deleted)
    assert not list((cli.root / "kb").rglob(".tmp-*"))
