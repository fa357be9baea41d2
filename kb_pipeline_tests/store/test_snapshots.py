"""What differs between two versions of a manifest, as all who saw one of them are told."""

from pathlib import Path

import pytest

from kb_pipeline.store.manifests import Entry, Manifest
from kb_pipeline.store.snapshots import Snapshots


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "versions"


def manifest(folder: Path, **contents: str) -> Manifest:
    return Manifest(folder, [Entry(key=key, content=content) for key, content in contents.items()])


def test_what_was_added_changed_or_removed_has_moved(folder: Path) -> None:
    """Another process is told too; equal content has not moved, nor has what failed."""
    then = manifest(folder, kept="1", changed="1", removed="1")
    Snapshots(folder).keep("tags.", then)
    now = Manifest(folder, [*manifest(folder, kept="1", changed="2", added="1"), Entry(key="broken", failed="why")])
    moved = Snapshots(folder).moved("tags.", then.version(), now)
    assert moved == frozenset({"changed", "removed", "added"})


def test_what_nobody_kept_is_not_known(folder: Path) -> None:
    """Nor is what was garbled; nothing has moved where the version is the same."""
    snapshots, then = Snapshots(folder), manifest(folder, a="1")
    assert snapshots.moved("tags.", then.version(), manifest(folder, a="2")) is None
    assert snapshots.moved("tags.", then.version(), then) == frozenset()
    snapshots.keep("tags.", then)
    next(folder.iterdir()).write_text("[")
    assert snapshots.moved("tags.", then.version(), manifest(folder, a="2")) is None


def test_where_nothing_stands_or_stood_all_of_it_has_moved(folder: Path) -> None:
    """A source that is new, and one that left."""
    snapshots, found = Snapshots(folder), manifest(folder, a="1", b="2")
    snapshots.keep("chunks.notes", found)
    assert snapshots.moved("chunks.notes", None, found) == frozenset("ab")
    assert snapshots.moved("chunks.notes", found.version(), None) == frozenset("ab")


def test_only_what_is_wanted_is_kept(folder: Path) -> None:
    """Versions that nobody refers to any more are dropped."""
    snapshots, old, new = Snapshots(folder), manifest(folder, a="1"), manifest(folder, a="2")
    for held in (old, new):
        snapshots.keep("tags.", held)
    assert snapshots.collect({("tags.", new.version())}) == 1
    assert [path.name for path in folder.iterdir()] == [f"tags..{new.version()}.json"]
