"""The sweep: what has grown old is told, and pairs that came out otherwise by now are published by the next build."""

import json
from pathlib import Path

from kb_pipeline_tests.driving import Cli, compile_all, new_root, opened, tree

OLD = (
    "---\ndate: 2019-05-01\n---\n# Old\n\nThe old pump moves 40 litres. See [the plan](plan.md) and [more](more.md).\n"
)


def test_a_sweep_tells_what_has_grown_old(tmp_path: Path) -> None:
    """Old proofs, dead links and unread sources are in the report; nothing else is written."""
    root = new_root(tmp_path / "base", {"notes/old.md": OLD, "notes/plan.md": "# Plan\n\nThe plan holds 3 steps.\n"})
    with opened(root) as base:
        compile_all(base)
    (root / "notes/plan.md").unlink()
    with opened(root) as base:
        compile_all(base)
    (root / "sources.yaml").write_text(
        (root / "sources.yaml").read_text() + "  - {id: other, type: local, uri: other, license: CC0-1.0}\n"
    )
    before = tree(root / "kb", tracked_only=True)
    cli = Cli(root)
    found = cli.json("sweep")
    assert [(link["target"], link["why"][:4]) for link in found["dead_links"]] == [
        ("plan.md", "gone"),
        ("more.md", "no s"),
    ]
    assert [old["date"] for old in found["old_items"]][:1] == ["2019-05-01"]
    assert [(source["id"], source["why"]) for source in found["sources"]] == [("other", "was never read here")]
    assert json.loads((root / "kb/logs/staleness.json").read_text()) == found
    assert tree(root / "kb", tracked_only=True) == before
    told = cli.run("status", "--stale").stdout
    assert "dead links (2)" in told
    assert "items whose only source is old" in told


def test_a_pair_that_comes_out_otherwise_is_published(tmp_path: Path) -> None:
    """Where the record of decisions was changed, the sweep decides anew, says so, and the next build publishes it."""
    pair = (
        "The gateway accepts at most 512 connections at once.",
        "At once, the gateway accepts at most 512 connections.",
    )
    root = new_root(tmp_path / "base", {f"notes/{n}.md": f"# Note\n\n{words}\n" for n, words in enumerate(pair)})
    with opened(root) as base:
        compile_all(base)
        assert base.sweep().overturned == 0
        assert not base.stale()
    before = Cli(root).active().keys()
    path = root / "kb/dedup/decisions.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines
    swapped = {"merge": "keep_both", "keep_both": "merge"}
    path.write_text("".join(json.dumps({**line, "decision": swapped[line["decision"]]}) + "\n" for line in lines))
    with opened(root) as base:
        assert base.sweep().overturned == len(lines)
        compile_all(base)
    assert Cli(root).active().keys() == before
