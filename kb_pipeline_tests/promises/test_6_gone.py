"""Promise 6, gone means gone: a document deleted at its source has no live item, row or hit after the next run, in no
generation, whether or not the gate passes, while an incomplete listing or an outage deletes nothing."""

import json

import pytest

from kb_pipeline.errors import KbError, NotFound
from kb_pipeline_tests.driving import Cli, compile_all, new_root, opened, write
from kb_pipeline_tests.promises.documents import CACHE, LIMITS

GATEWAY = "The gateway accepts at most 512 connections at once."


def ghosts(cli: Cli, doc: str, words: str) -> list[str]:
    """Every place where readers can still meet ``doc`` or ``words``."""
    hits = cli.hits(words, "-k", "100")
    found = [f"hit {hit['id']}" for hit in hits if doc in (hit["doc_id"], *hit["docs"]) or words in hit["text"]]
    quoted = words.replace("'", "''")
    query = f"select id from rows where doc_id = '{doc}' or list_contains(docs, '{doc}') or text like '%{quoted}%'"
    found += [f"row {row['id']}" for row in cli.json("sql", query)]
    found += [f"item {s}" for s, i in cli.active().items() if doc in {c["doc_id"] for c in i["sources"]}]
    return found


def test_a_deleted_document_leaves_no_ghost(cli: Cli) -> None:
    """No item, row or hit is left of it; what another document states too stays, with that proof alone."""
    assert ghosts(cli, "notes/limits.md", GATEWAY)
    (cli.root / "notes/limits.md").unlink()
    (cli.root / "notes/cache.md").unlink()
    report = cli.build()
    assert report["documents"]["deleted"] == 2
    assert ghosts(cli, "notes/limits.md", GATEWAY) == []
    assert ghosts(cli, "notes/cache.md", "A page is evicted") == []
    (shared,) = (i for s, i in cli.active().items() if s.startswith("The block cache keeps 16 pages"))
    assert {c["doc_id"] for c in shared["sources"]} == {"handbook/guide.md"}
    assert not list((cli.root / "kb/normalized/notes").glob("limits*"))
    assert not list((cli.root / "kb/raw/notes").glob("limits*"))
    assert "was deleted at its source" in cli.run("show", "notes/limits.md", code=1).stderr
    assert all(finding["ok"] for finding in cli.json("check") if finding["blocking"])


def test_gone_also_where_the_gate_holds_the_next_generation_back(cli: Cli) -> None:
    """Deletions do not wait for the evaluation, nor does a rollback bring them back; a return unmasks."""
    (cli.root / "notes/limits.md").unlink()
    gate = {"KB_EVAL_FLOOR_RECALL10": "1.0", "KB_EVAL_TOLERANCE": "0.0"}
    write(cli.root, {"notes/noise.md": "\n\n".join(f"The gate opens valve {n} at {n} bar." for n in range(40))})
    with opened(cli.root, **gate) as base:
        compile_all(base)
        assert (base.status().live, base.status().candidate) == ("g00000001", "g00000002")
    assert ghosts(cli, "notes/limits.md", GATEWAY) == []
    with opened(cli.root) as base:
        compile_all(base)
    assert cli.json("rollback", "g00000001")["live"] == "g00000001"
    assert ghosts(cli, "notes/limits.md", GATEWAY) == []
    write(cli.root, {"notes/limits.md": LIMITS})
    with opened(cli.root) as base:
        base.build_stage("raw", "notes")
    assert ghosts(cli, "notes/limits.md", GATEWAY)


def test_a_return_brings_the_same_items_back(cli: Cli) -> None:
    """Ids and dates of birth are those from before the deletion."""
    before = {key: (i["statement"], i["created_at"]) for key, i in cli.items().items()}
    for text in (None, CACHE):
        if text is None:
            (cli.root / "notes/cache.md").unlink()
        else:
            write(cli.root, {"notes/cache.md": text})
        with opened(cli.root) as base:
            compile_all(base)
    items = cli.items()
    assert {key: (i["statement"], i["created_at"]) for key, i in items.items()} == before
    assert {i["status"] for i in items.values() if "page is evicted" in i["statement"]} == {"active"}


def test_an_outage_deletes_nothing(cli: Cli) -> None:
    """A source that is gone as a whole is unavailable: its items stay, status says so, and the build succeeds."""
    active = cli.active()
    (cli.root / "notes").rename(cli.root / "elsewhere")
    report = cli.build()
    assert (report["documents"]["deleted"], len(report["failed"])) == (0, 1)
    assert cli.active() == active
    state = {s["id"]: s for s in cli.json("status")["sources"]}
    assert "cannot be read" in state["notes"]["failed"]
    assert state["notes"]["failed_at"]
    assert state["handbook"]["failed"] is None
    (cli.root / "elsewhere").rename(cli.root / "notes")
    with opened(cli.root) as base:
        compile_all(base)
        assert base.status().sources[0].failed is None
    assert cli.active() == active


def test_a_sudden_loss_waits_for_a_person(cli: Cli) -> None:
    """Losing more than half of twenty documents deletes nothing until somebody says that it is meant."""
    names = [f"many/{n:02}.md" for n in range(24)]
    write(cli.root, {name: f"The probe number {n} weighs {n + 100} grams.\n" for n, name in enumerate(names)})
    path = cli.root / "sources.yaml"
    path.write_text(path.read_text() + "  - {id: many, type: local, uri: many, license: CC0-1.0}\n")
    with opened(cli.root) as base:
        compile_all(base)
    for name in names[:13]:
        (cli.root / name).unlink()
    with opened(cli.root) as base:
        reports, _ = compile_all(base)
    assert any("--accept-deletions many" in warning for report in reports for warning in report.warnings)
    assert len([s for s in cli.active() if s.startswith("The probe")]) == 24
    assert cli.json("status")["sources"][-1]["held_deletions"] == 13
    report = cli.build("--accept-deletions", "many")
    assert report["documents"]["deleted"] == 13
    assert len([s for s in cli.active() if s.startswith("The probe")]) == 11
    assert cli.json("status")["sources"][-1]["held_deletions"] == 0


def test_a_source_that_leaves_the_registry_is_gone(cli: Cli) -> None:
    """Without its entry a source has no live item, and no document of it is served."""
    path = cli.root / "sources.yaml"
    path.write_text("".join(line for line in path.read_text().splitlines(True) if "handbook" not in line))
    cli.build()
    assert ghosts(cli, "handbook/guide.md", "A replica needs 12 GB of disk.") == []
    assert {c["doc_id"].partition("/")[0] for i in cli.active().values() for c in i["sources"]} == {"notes"}
    with opened(cli.root) as base, pytest.raises(NotFound):
        base.show("handbook/guide.md")
    assert all(finding["ok"] for finding in cli.json("check") if finding["blocking"])


def test_a_renamed_source_keeps_its_items(cli: Cli) -> None:
    """Another id is another place for the same facts: the items keep their ids and dates, and cost no model call."""
    path = cli.root / "sources.yaml"
    path.write_text(path.read_text().replace("id: notes", "id: journal"))
    before = {key: (i["statement"], i["created_at"]) for key, i in cli.items().items()}
    with opened(cli.root) as base:
        reports, _ = compile_all(base)
        assert all(finding.ok for finding in base.check() if finding.blocking)
    assert {key: (i["statement"], i["created_at"]) for key, i in cli.items().items()} == before
    assert sum(report.embeddings for report in reports) == 0
    assert {c["doc_id"].partition("/")[0] for i in cli.active().values() for c in i["sources"]} == {
        "journal",
        "handbook",
    }


def test_an_incomplete_listing_deletes_nothing(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A connector that fails half-way keeps what it read and loses nothing of what it did not reach."""
    root = new_root(tmp_path_factory.mktemp("plugin") / "base", {})
    (root / "kb/plugins/feed.py").write_text(FEED)
    (root / "sources.yaml").write_text(
        "version: 1\nsources:\n  - {id: feed, type: feed, uri: feed.json, license: CC0-1.0, refresh: 1m}\n"
    )
    pages = {f"{n}.md": f"The pump number {n} moves {n + 10} litres.\n" for n in range(4)}
    (root / "feed.json").write_text(json.dumps({"pages": pages, "break": False}))
    with opened(root) as base:
        compile_all(base)
    assert len(Cli(root).active()) == 4
    pages = {"0.md": "The pump number 0 moves 99 litres.\n"}
    (root / "feed.json").write_text(json.dumps({"pages": pages, "break": True}))
    with opened(root) as base:
        with pytest.raises(KbError, match="the line went dead"):
            base.build_stage("raw", "feed")
        compile_all(base)
        assert base.status().sources[0].failed
    active = Cli(root).active()
    assert len(active) == 4
    assert "The pump number 0 moves 99 litres." in active


FEED = '''
"""A source type that reads a JSON file and can break half-way."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from kb_pipeline.records import Fetched, RawEntry, Source
from kb_pipeline.world import World

TYPE = "feed"


def fetch(source: Source, known: Mapping[str, RawEntry], world: World) -> Iterator[Fetched]:
    feed = json.loads((world.settings.root / source.uri[0]).read_text())
    for path, text in feed["pages"].items():
        yield Fetched(path=path, state="changed", uri=path, content=text.encode())
    if feed["break"]:
        raise OSError("the line went dead")
'''


def test_ghosts_are_found(cli: Cli) -> None:
    """The check of ghosts passes on what a build leaves, and names an item, a row or a question that is one."""
    assert [finding["check"] for finding in cli.json("check", "ghosts")] == ["ghosts"]
    manifest = cli.root / "kb/raw/notes.manifest.jsonl"
    lines = manifest.read_text().splitlines(keepends=True)
    manifest.write_text("".join(line for line in lines if '"limits.md"' not in line))
    (finding,) = cli.json("check", "ghosts", code=1)
    offenders = " ".join(finding["offenders"])
    assert "cites notes/limits.md" in offenders
    with opened(cli.root) as base:
        (found,) = [f for f in base.check("ghosts") if not f.ok]
    assert found.count > 3
    manifest.write_text("".join(lines))
    gold = cli.root / "kb/eval/qa_gold.jsonl"
    gold.write_text(gold.read_text().replace('"about":"kb_', '"about":"kb_0', 1))
    (finding,) = cli.json("check", "ghosts", code=1)
    assert "is about kb_0" in finding["offenders"][0]
