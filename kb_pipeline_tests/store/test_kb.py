"""Commits: atomic, journalled, sparing of writes and of people's edits."""

import os
from pathlib import Path

import pytest

from kb_pipeline.errors import StoreError
from kb_pipeline.records import Document, Extraction, Item, Meta
from kb_pipeline.rules.encoded import lines
from kb_pipeline.store.commits import Committed, Group
from kb_pipeline.store.files import file_hash
from kb_pipeline.store.kb import Kb
from kb_pipeline.store.manifests import Entry, Manifest


@pytest.fixture
def kb(tmp_path: Path) -> Kb:
    return Kb(tmp_path)


def item(key: str, statement: str, category: str = "Concepts") -> Group:
    return Group(key=key, input="i", records=(Item(id=key, statement=statement, primary_category=category),))


def publish(kb: Kb, *groups: Group, deletes: tuple[str, ...] = ()) -> Committed:
    return kb.commit("tags", None, kb.manifest("tags"), groups, deletes, recipe="r")


def test_commit_writes_records_and_their_manifest(kb: Kb) -> None:
    """What is committed can be read back through the manifest."""
    assert publish(kb, item("kb_1", "A fact.")).written == 1
    entry = kb.manifest("tags")["kb_1"]
    assert (entry.input, entry.recipe) == ("i", "r")
    (read,) = kb.read("tags", entry)
    assert isinstance(read, Item)
    assert read.statement == "A fact."


def test_what_is_read_can_be_decoded_from_the_bytes_of_one_file(kb: Kb) -> None:
    """A worker that gets the bytes of a key makes the same records of them, also where the key has two files."""
    said = {"title": "T", "uri": "u", "license": "", "language": "en", "raw_sha256": "r", "fetched_at": "f"}
    meta = Meta(
        doc_id="s/a.md", source_id="s", source_type="doc", text_sha256="t", converter="c", converter_version="1", **said
    )
    document = Group(key="s/a.md", records=(Document(meta=meta, text="A fact."),))
    extraction = Group(key="s/a.md", records=(Extraction(chunk_hash="1"), Extraction(chunk_hash="2")))
    normalized = kb.commit("normalized", "s", kb.manifest("normalized", "s"), [document]).manifest["s/a.md"]
    extracted = kb.commit("atomic_items", "s", kb.manifest("atomic_items", "s"), [extraction]).manifest["s/a.md"]
    assert Meta.model_validate_json(kb.encoded("meta", normalized)) == meta
    assert lines(Extraction, kb.encoded("atomic_items", extracted)) == kb.read("atomic_items", extracted)


def test_equal_bytes_are_not_written(kb: Kb) -> None:
    """A second commit of the same records touches neither file nor manifest."""
    publish(kb, item("kb_1", "A fact."))
    before = {p: p.stat().st_mtime_ns for p in kb.folder.rglob("*.json*") if "cache" not in p.parts}
    assert publish(kb, item("kb_1", "A fact.")).written == 0
    assert before == {p: p.stat().st_mtime_ns for p in kb.folder.rglob("*.json*") if "cache" not in p.parts}


def test_moved_output_leaves_no_old_file(kb: Kb) -> None:
    """A new category moves the file."""
    publish(kb, item("kb_1", "A fact."))
    publish(kb, item("kb_1", "A fact.", "Decisions"))
    assert [p.relative_to(kb.folder).as_posix() for p in kb.folder.glob("items/*/*.json")] == [
        "items/decisions/kb_1.json"
    ]


def test_deleted_key_takes_its_files_along(kb: Kb) -> None:
    """A deleted key has neither entry nor file."""
    publish(kb, item("kb_1", "A fact."))
    publish(kb, deletes=("kb_1",))
    assert not list(kb.folder.glob("items/*/*.json"))
    assert len(kb.manifest("tags")) == 0


def test_edit_by_hand_is_kept_and_reported(kb: Kb) -> None:
    """A person's words are not overwritten, also where the machine moves the file; they are news once."""
    publish(kb, item("kb_1", "A fact."))
    path = kb.folder / "items/concepts/kb_1.json"
    path.write_text(path.read_text().replace("A fact.", "A better fact."))
    moved = item("kb_1", "Another fact.", "Decisions")
    for group, news in ((item("kb_1", "Another fact."), ("kb_1",)), (moved, ())):
        assert publish(kb, group).edited == news
        (path,) = kb.folder.glob("items/*/*.json")
        assert '"A better fact."' in path.read_text()
    assert path.parent.name == "decisions"


def test_an_edit_that_cannot_be_read_stays_as_it_is(kb: Kb) -> None:
    """Bytes that are no item are neither overwritten nor moved, however often the machine publishes."""
    publish(kb, item("kb_1", "A fact."))
    path = kb.folder / "items/concepts/kb_1.json"
    path.write_text("{")
    for group in (item("kb_1", "Another fact."), item("kb_1", "Another fact.", "Decisions")):
        assert publish(kb, group).edited == ("kb_1",)
        assert path.read_text() == "{"


def test_edit_shows_in_the_manifest_without_a_commit_of_its_key(kb: Kb) -> None:
    """An edit changes the version of its key, so that what is downstream sees it."""
    publish(kb, item("kb_1", "A fact."))
    before = kb.manifest("tags")["kb_1"].version
    path = kb.folder / "items/concepts/kb_1.json"
    path.write_text(path.read_text().replace("A fact.", "A better fact."))
    after = kb.with_edits("tags", kb.manifest("tags"), kb.tree_state("tags"))["kb_1"]
    assert after.edited == {"items/concepts/kb_1.json": file_hash(path.read_bytes())}
    assert after.version != before


def test_killed_commit_is_no_edit(kb: Kb, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that a killed commit wrote before its manifest are ours: the next commit overwrites or removes them."""
    publish(kb, item("kb_1", "A fact."))
    monkeypatch.setattr(Manifest, "save", lambda _: os._exit(9))
    if (child := os.fork()) == 0:
        publish(kb, item("kb_1", "A second fact."), item("kb_2", "An orphan."))
    os.waitpid(child, 0)
    monkeypatch.undo()
    assert (kb.folder / "items/concepts/kb_2.json").exists()
    done = publish(kb, item("kb_1", "A third fact."))
    assert done.edited == ()
    assert "A third fact." in (kb.folder / "items/concepts/kb_1.json").read_text()
    assert not (kb.folder / "items/concepts/kb_2.json").exists()


def test_replaced_text_is_kept_under_its_hash(kb: Kb) -> None:
    """The old version of a document stays readable for what cites it, until nothing does."""
    for text in ("One.\n", "Two.\n"):
        document = Document(text=text, meta=meta())
        kb.commit("normalized", "s", kb.manifest("normalized", "s"), [Group(key="s/d.md", records=(document,))])
    kept = kb.version_path(file_hash(b"One.\n"))
    assert kept.read_text() == "One.\n"
    later = kept.stat().st_mtime + 1
    assert kb.collect_versions(frozenset({kept.stem}), later) == 0
    assert kb.collect_versions(frozenset(), later - 2) == 0
    assert kb.collect_versions(frozenset(), later) == 1


def meta() -> Meta:
    return Meta(
        doc_id="s/d.md",
        source_id="s",
        title="D",
        uri="d.md",
        source_type="note",
        license="x",
        language="en",
        raw_sha256="0",
        text_sha256="0",
        fetched_at="2026-01-01T00:00:00Z",
        converter="t",
        converter_version="1",
    )


def test_broken_manifest_is_named_and_counts_as_none(kb: Kb) -> None:
    """A corrupt manifest is reported and rebuilt, never a traceback."""
    publish(kb, item("kb_1", "A fact."))
    kb.manifest_path("tags", None).write_text("<<<<<<< HEAD\n")
    assert len(kb.manifest("tags")) == 0
    assert "manifest.jsonl" in kb.warnings[0]


def test_unreadable_record_names_file_and_field(kb: Kb) -> None:
    """A broken item file is an error with file, field and cure."""
    publish(kb, item("kb_1", "A fact."))
    path = kb.folder / "items/concepts/kb_1.json"
    path.write_text(path.read_text().replace('"confidence": "high"', '"confidence": "certain"'))
    with pytest.raises(StoreError, match=r"items/concepts/kb_1.json: confidence: .*Correct it"):
        kb.read("tags", kb.manifest("tags")["kb_1"])


def test_newer_schema_is_refused(kb: Kb) -> None:
    """A knowledge base of a newer program is left alone."""
    assert kb.check_schema() is None
    (kb.folder / "schema.json").write_text('{"schema_version": 99}')
    with pytest.raises(StoreError, match="99"):
        kb.check_schema()


def test_older_schema_is_migrated_with_a_message(kb: Kb) -> None:
    """Artefacts without a schema's version are stamped, and the user is told."""
    publish(kb, item("kb_1", "A fact."))
    assert "migrated" in (kb.check_schema() or "")
    assert kb.check_schema() is None


def test_manifest_version_ignores_order_and_failures(tmp_path: Path) -> None:
    """The data version covers live outputs only, whatever their order."""
    a, b = Entry(key="a", content="1"), Entry(key="b", content="2")
    failed = Entry(key="c", failed="no text")
    path = tmp_path / "manifest.jsonl"
    assert Manifest(path, [a, b]).version() == Manifest(path, [b, failed, a]).version()
    assert Manifest(path, [a]).version() != Manifest(path, [a, b]).version()
