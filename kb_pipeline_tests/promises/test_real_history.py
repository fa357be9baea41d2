"""Promises 1 to 4 and 6 over a real history: four releases of a library's documentation, played in order."""

import shutil
from pathlib import Path

from kb_pipeline_tests.driving import Cli, compile_all, new_root, opened, tree
from kb_pipeline_tests.promises.lifecycle_state import knowledge
from kb_pipeline_tests.promises.test_1_proven import unproven

RELEASES = ("0.13.0", "0.20.0", "0.37.0", "0.47.3")


def play(root: Path, release: Path) -> tuple[set[str], set[str]]:
    """Put a release in place of the one before; the documents that changed or came, and those that went."""
    before = {p: s[0] for p, s in tree(root / "docs").items()}
    shutil.rmtree(root / "docs", ignore_errors=True)
    shutil.copytree(release, root / "docs")
    after = {p: s[0] for p, s in tree(root / "docs").items()}
    return {p for p in after if before.get(p) != after[p]}, before.keys() - after.keys()


def test_promises_hold_through_four_releases(corpus: Path, tmp_path: Path) -> None:
    """After each release quotes are proven, what is gone is gone, work follows the difference, nothing is left to do;
    in the end the history knows what a build from scratch knows."""
    root = new_root(tmp_path / "history", {}, docs="docs")
    for release in RELEASES:
        old = set(Cli(root).active())
        changed, gone = play(root, corpus / "starlette-docs" / release)
        with opened(root) as base:
            reports, _ = compile_all(base)
            assert [
                finding
                for finding in base.check()
                if finding.blocking and not finding.ok and finding.stage not in {"eval", "live"}
            ] == []
            assert not base.stale()
            again, _ = compile_all(base, full=True)
        made = {report.stage: report for report in reports}
        assert (made["raw"].made, made["raw"].deleted) == (len(changed), len(gone))
        assert made["normalized"].made <= len(changed)
        new = set(Cli(root).active()) - old
        questions = 4 * 100  # of the sample of items that the evaluation asks about
        assert sum(report.embeddings for report in reports) <= 2 * len(new) + questions
        assert sum(report.embeddings + report.files_written for report in again) == 0
        assert unproven(root, "active") == unproven(root, "superseded") == unproven(root, "retired") == []
        cited = {c["doc_id"] for item in Cli(root).active().values() for c in item["sources"]}
        assert cited.isdisjoint(f"docs/{path}" for path in gone)
    scratch = new_root(tmp_path / "scratch", {}, docs="docs")
    play(scratch, corpus / "starlette-docs" / RELEASES[-1])
    with opened(scratch) as base:
        compile_all(base)
    assert knowledge(root) == knowledge(scratch)
