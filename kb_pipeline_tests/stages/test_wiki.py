"""The wiki from documents to files: proven sentences, small changes, a person's hand, and what is gone."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from kb_pipeline.records import Finding
from kb_pipeline_tests.driving import compile_all, new_root, opened, tree, write

RELAY = """# Relay

The relay is a process that forwards messages.

## Queue

The relay holds 64 messages in its queue by default.
The relay drops the oldest message when its queue is full.
It tells the sender about each message that it drops.

## Options

The following options are supported:

* `queue_size` - How many messages the relay holds. Defaults to 64.
* `drop_policy` - Which message the relay drops first.
"""
GATEWAY = """# Gateway

The gateway accepts at most 512 connections at once.
The gateway closes idle connections after 30 seconds.
The gateway writes each refusal to its log.
The gateway speaks to the Relay over a socket.
The gateway refuses requests without a token.
"""
OTHER = "\n".join(f"The archive keeps {n} copies of file {n} on tape." for n in range(3, 9))
INDEXES = {"catalogue.json", "manifest.jsonl", "master-index.md", "topic-index.md", "log.md"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A built knowledge base of three subjects."""
    documents = {"notes/relay.md": RELAY, "notes/gateway.md": GATEWAY, "notes/archive.md": f"# Archive\n\n{OTHER}\n"}
    made = new_root(tmp_path / "kb", documents)
    build(made)
    return made


def build(root: Path, *, full: bool = False) -> tuple[set[str], list[Finding]]:
    """The files of the wiki that a build wrote or removed, and the findings that block."""
    before = tree(root / "kb/wiki") if (root / "kb/wiki").exists() else {}
    with opened(root) as base:
        compile_all(base, full=full)
        bad = [f for f in base.check() if f.blocking and not f.ok]
    after = tree(root / "kb/wiki")
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}, bad


def page(root: Path, name: str) -> Path:
    """The file of a page."""
    (path,) = (root / "kb/wiki").glob(f"*/{name}.md")
    return path


def edit(path: Path, changes: Mapping[str, str]) -> None:
    """Change a file as a person would."""
    text = path.read_text()
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new, 1)
    path.write_text(text)


def test_pages_say_what_is_proven(root: Path) -> None:
    """Each sentence ends in a footnote with its quote; lists are lists; nothing is said twice; checks hold."""
    with opened(root) as base:
        assert [f for f in base.check("wiki") if f.blocking and not f.ok] == []
    text = page(root, "relay").read_text()
    assert "The relay is a process that forwards messages.[^kb_" in text
    assert "## Options\n\nThe following options are supported:\n\n- `queue_size` - How many messages" in text
    assert "\n  Defaults to 64.[^kb_" in text
    assert "“The relay holds 64 messages in its queue by default.” — [notes/relay.md › Queue](" in text
    assert "](../../normalized/notes/relay.md.md#queue), CC0-1.0, read " in text
    said = [line.partition("[^")[0] for line in text.splitlines() if "[^kb_" in line and not line.startswith("[^")]
    assert len(said) == len(set(said)) == 7
    assert "- [Gateway](gateway.md)" in text.partition("## Named on")[2]


def test_the_indexes_lead_to_every_page(root: Path) -> None:
    """Master index, category indexes and the catalogue list each page with its summary and keys."""
    master = (root / "kb/wiki/master-index.md").read_text()
    assert "](unclassified/relay.md): The relay is a process that forwards messages." in master
    assert "`queue_size`" in master
    assert "[Relay](relay.md)" in (root / "kb/wiki/unclassified/index.md").read_text()
    assert {p["title"] for p in json.loads((root / "kb/wiki/catalogue.json").read_text())} == {
        *("Relay", "Gateway", "Archive")
    }


def test_nothing_changed_writes_nothing(root: Path) -> None:
    """No file is written by a further build, a full one included."""
    assert build(root) == (set(), [])
    assert build(root, full=True) == (set(), [])


def test_one_sentence_changes_its_page_and_the_indexes(root: Path) -> None:
    """Other pages keep bytes and time of change; the log tells it in one line."""
    edit(root / "notes/archive.md", {"keeps 3 copies": "keeps 33 copies"})
    written, bad = build(root)
    assert bad == []
    assert written - INDEXES == {"unclassified/archive.md", "unclassified/index.md"}
    assert "rewritten `unclassified/archive.md`" in (root / "kb/wiki/log.md").read_text().splitlines()[-1]


def test_a_persons_words_survive_and_clashes_wait(root: Path) -> None:
    """An edited sentence stays through changes of its document; the machine's wording waits for review, and taking it
    puts it on the page."""
    path = page(root, "relay")
    edit(path, {"drops the oldest message when": "throws the oldest message away when"})
    path.write_text(path.read_text() + "\n## My notes\n\nAsk Ada first.\n")
    assert build(root)[1] == []
    edit(root / "notes/relay.md", {"holds 64 messages": "holds 128 messages"})
    assert build(root)[1] == []
    text = path.read_text()
    assert "throws the oldest message away when its queue is full." in text
    assert "[^by-hand]\n" in text
    assert "holds 128 messages" in text
    assert "## My notes\n\nAsk Ada first.\n" in text
    edit(root / "notes/relay.md", {"drops the oldest message": "drops the newest message"})
    build(root)
    assert "throws the oldest" in path.read_text()
    with opened(root) as base:
        waiting = [r for r in base.reviews() if r.kind == "page"]
        assert {action for r in waiting for action in r.actions} >= {"mine", "machine"}
        for review in waiting:
            base.decide(review.name, "machine" if "machine" in review.actions else "mine", "as the document has it")
    build(root)
    assert "throws the oldest" not in path.read_text()
    assert "Ask Ada first." in path.read_text()
    with opened(root) as base:
        assert [r for r in base.reviews() if r.kind == "page"] == []
    assert build(root) == (set(), [])


def test_a_sentence_by_hand_becomes_an_item(root: Path) -> None:
    """Kept in review it is an item with a document of its own, and no longer the page's alone."""
    path = page(root, "gateway")
    edit(path, {"The gateway writes each refusal to its log.": "The gateway writes every refusal to two logs."})
    build(root)
    with opened(root) as base:
        (review,) = [r for r in base.reviews() if r.kind == "page"]
        base.decide(review.name, "keep", "seen in the code")
    build(root)
    with opened(root) as base:
        found = [h.text for h in base.search("writes every refusal to two logs", k=3).hits if h.kind == "item"]
    assert "The gateway writes every refusal to two logs." in found


def test_a_reviewed_page_takes_proposals_alone(root: Path) -> None:
    """Its file stays as it is; what the machine would write waits, and taking it updates the page."""
    path = page(root, "gateway")
    edit(path, {"---\n": "---\nreviewed: true\n"})
    build(root)
    before = path.read_bytes()
    edit(root / "notes/gateway.md", {"30 seconds": "60 seconds"})
    assert build(root)[1] == []
    assert path.read_bytes() == before
    with opened(root) as base:
        assert "60 seconds" in base.page("Gateway").proposal
        (review,) = [r for r in base.reviews() if r.kind == "page"]
        base.decide(review.name, "machine", "it is so")
    build(root)
    assert "60 seconds" in path.read_text()
    assert "reviewed: true" in path.read_text()
    with opened(root) as base:
        assert [r for r in base.reviews() if r.kind == "page"] == []


def test_a_deleted_source_leaves_a_line_of_the_log(root: Path) -> None:
    """Its page goes, no other names it, and nothing that it said is left; words of a person stay without it."""
    edit(page(root, "relay"), {"It tells the sender": "It always tells the sender"})
    build(root)
    (root / "notes/archive.md").unlink()
    (root / "notes/relay.md").unlink()
    assert build(root)[1] == []
    left = "".join(path.read_text() for path in (root / "kb/wiki").rglob("*.md") if path.name != "log.md")
    assert "copies of file" not in left
    assert "holds 64 messages" not in left
    assert "It always tells the sender about each message that it drops.[^by-hand]" in left
    assert "removed `unclassified/archive.md`" in (root / "kb/wiki/log.md").read_text()


def test_losing_the_manifest_loses_no_edit(root: Path) -> None:
    """A person's words are told from the machine's by the page itself."""
    edit(page(root, "relay"), {"It tells the sender": "It always tells the sender"})
    build(root)
    (root / "kb/wiki/manifest.jsonl").unlink()
    edit(root / "notes/relay.md", {"holds 64 messages": "holds 128 messages"})
    build(root)
    text = page(root, "relay").read_text()
    assert "It always tells the sender" in text
    assert "holds 128 messages" in text


def test_other_scripts_have_pages_of_their_own(root: Path) -> None:
    """Chinese, Korean and Arabic subjects have their own paths, and links to them work."""
    chinese = "".join(f"- 缓存节点 {n} 保留 {n}0 页的数据，并且在重启之后重新加载它们。\n" for n in range(2, 9))
    arabic = "".join(f"- تحتفظ الذاكرة رقم {n} بعدد {n}0 صفحة من البيانات في كل مرة.\n" for n in range(2, 9))
    write(root, {"notes/c.md": f"# 缓存 部署\n\n{chinese}", "notes/a.md": f"# ذاكرة التخزين\n\n{arabic}"})
    assert build(root)[1] == []
    assert "保留" in page(root, "缓存-部署").read_text()
    assert 'direction: "rtl"' in page(root, "ذاكرة-التخزين").read_text()


def test_a_page_is_found_and_shown(root: Path) -> None:
    """Pages are rows of their own kind, found where they are asked for, by title, path, alias and id."""
    from kb_pipeline.records import Scope

    with opened(root) as base:
        (hit,) = base.search("relay queue messages", k=1, scope=Scope(kinds=("page",))).hits
        assert base.page(hit.id).page.title == "Relay"
        assert base.page("relay").text == base.page("kb/wiki/unclassified/relay.md").text
        assert {hit.kind for hit in base.search("relay queue messages").hits} <= {"item", "chunk"}
        assert [brief.title for brief in base.pages()] == ["Archive", "Gateway", "Relay"]
