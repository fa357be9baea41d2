"""Promise 3, proportional: work follows what changed. An edit re-runs the changed chunks and what depends on them, a
move costs no model call, a changed setting re-runs its own stage and those below."""

from pathlib import Path

import pytest

from kb_pipeline_tests.driving import Cli, compile_all, opened, tree, write
from kb_pipeline_tests.promises.documents import LIMITS

EDITED = LIMITS.replace("900 rows", "950 rows")


def changed(before: dict[str, tuple[str, int]], after: dict[str, tuple[str, int]]) -> set[str]:
    """Paths that were written, made or removed."""
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def test_one_edited_sentence_costs_one_sentence(cli: Cli) -> None:
    """Of one edited document its changed statement alone is embedded, and no file of another document is written."""
    before = tree(cli.root / "kb", tracked_only=True)
    write(cli.root, {"notes/limits.md": EDITED})
    report = cli.build()
    assert report["documents"]["changed"] == 1
    assert {name: report["stages"][name]["made"] for name in ("raw", "normalized", "chunks", "atomic_items")} == {
        "raw": 1,
        "normalized": 1,
        "chunks": 1,
        "atomic_items": 1,
    }
    assert report["engine"]["embeddings"] <= 4  # the statement, and its questions where the sample holds it
    written = changed(before, tree(cli.root / "kb", tracked_only=True))
    documents = {path for path in written if path.startswith("normalized/") and ".versions" not in path}
    assert documents == {f"normalized/notes/{name}" for name in ("limits.md.md", "limits.md.meta.json")} | {
        "normalized/notes.manifest.jsonl"
    }
    items = {Path(path).stem for path in written if path.startswith("items/") and path.endswith(".json")}
    assert {cli.items()[key]["sources"][0]["doc_id"] for key in items} == {"notes/limits.md"}
    moved = {s["statement"] for s in cli.items().values() if s["updated_at"] != s["created_at"]}
    assert moved == {"The export job writes at most 900 rows per second."}


def test_text_inserted_above_moves_no_date(cli: Cli) -> None:
    """A shift of offsets alone changes no item's date and embeds nothing of what it moved."""
    dates = {key: item["updated_at"] for key, item in cli.items().items()}
    write(cli.root, {"notes/limits.md": f"# Before\n\nNothing of note.\n\n{LIMITS}"})
    with opened(cli.root) as base:
        reports, _ = compile_all(base)
        assert all(finding.ok for finding in base.check() if finding.blocking)
    assert sum(report.embeddings for report in reports) <= 1
    assert {key: item["updated_at"] for key, item in cli.items().items() if key in dates} == dates


def test_a_move_costs_no_model_call(cli: Cli) -> None:
    """Files renamed and moved between folders keep their items, ids and vectors."""
    before = {key: (item["statement"], item["created_at"]) for key, item in cli.items().items()}
    (cli.root / "notes/deep/er").mkdir(parents=True)
    (cli.root / "notes/cache.md").rename(cli.root / "notes/deep/er/renamed cache.md")
    (cli.root / "handbook/guide.md").rename(cli.root / "notes/guide.md")
    report = cli.build()
    assert (report["engine"]["calls"], report["engine"]["embeddings"]) == (0, 0)
    assert {key: (item["statement"], item["created_at"]) for key, item in cli.items().items()} == before
    assert cli.hits("block cache pages")[0]["doc_id"].startswith("notes/")


@pytest.mark.parametrize(
    ("option", "value", "first"),
    [
        ("KB_CONVERT_SECONDS", "31", "normalized"),
        ("KB_CHUNK_MAX", "2399", "chunks"),
        ("KB_DEDUP_CANDIDATE", "0.81", "dedup"),
        ("KB_CATEGORY_MARGIN", "0.0201", "tags"),
        ("KB_EVAL_ITEMS", "99", "eval"),
        ("KB_EVAL_TOLERANCE", "0.06", "live"),
    ],
)
def test_a_setting_reruns_its_stage_and_those_below(cli: Cli, option: str, value: str, first: str) -> None:
    """What a setting does not reach keeps its recipe, and equal results stop the chain: no file is written."""
    before = tree(cli.root / "kb", tracked_only=True)
    with opened(cli.root, **{option: value}) as base:
        reports, _ = compile_all(base)
        assert not base.stale()
    ran = {report.stage: report for report in reports if report.made or report.files_written}
    assert sum(report.embeddings for report in reports) == 0
    if first in {"normalized", "chunks"}:
        assert ran[first].made == 3  # of the last source; its manifest alone records the new recipe
    written = changed(before, tree(cli.root / "kb", tracked_only=True))
    assert all(path.endswith("manifest.jsonl") for path in written), written


def test_an_edited_taxonomy_files_items_anew(cli: Cli) -> None:
    """A renamed category moves items to its folder; nothing is extracted, judged or embedded again."""
    path = cli.root / "taxonomy.yaml"
    path.write_text(path.read_text().replace("name: Traffic", "name: Network & Queues"))
    before = {key: item["statement"] for key, item in cli.items().items()}
    assert (cli.root / "kb/items/traffic").is_dir()
    report = cli.build()
    assert {name for name, stage in report["stages"].items() if stage["seconds"]} == {
        *("tags", "pages", "wiki", "index", "eval", "live")
    }
    assert {key: item["statement"] for key, item in cli.items().items()} == before
    assert not (cli.root / "kb/items/traffic").exists()
    assert (cli.root / "kb/items/network-queues").is_dir()
    assert all(finding["ok"] for finding in cli.json("check") if finding["blocking"])
