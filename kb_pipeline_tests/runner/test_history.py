"""The history of items: told once, whatever happens, and enough to answer as of any date."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kb_pipeline.api import KnowledgeBase
from kb_pipeline.errors import KbError, NotFound
from kb_pipeline.records import Event, ItemView
from kb_pipeline.store.commits import Commit
from kb_pipeline.store.history import History
from kb_pipeline_tests.driving import Cli, compile_all, new_root, opened, tree, write
from kb_pipeline_tests.fakes import FixedClock

DISK = "A replica needs 12 GB of disk."
GATEWAY = "The gateway accepts at most 512 connections at once."
LIMITS = f"# Limits\n\n{GATEWAY}\n\n{DISK}\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A knowledge base of two documents, not built yet."""
    cache = "# Cache\n\nThe block cache keeps 16 pages.\n"
    return new_root(tmp_path / "base", {"notes/limits.md": LIMITS, "notes/cache.md": cache})


def on(root: Path, day: int, *, full: bool = False) -> None:
    """Build at noon of a day of January 2026."""
    with dated(root, day) as base:
        compile_all(base, full=full)


def dated(root: Path, day: int) -> KnowledgeBase:
    """The knowledge base with its clock at noon of a day of January 2026."""
    base = KnowledgeBase(root, {"KB_EMBEDDER": "hashing"})
    base.world = replace(base.world, clock=FixedClock(datetime(2026, 1, day, 12, tzinfo=UTC)))
    return base


def told(root: Path) -> dict[str, list[Event]]:
    """The stored events by item."""
    with opened(root) as base:
        return dict(base.kb.history.all())


def the(root: Path, words: str) -> str:
    """The id of the item that says ``words``, or said so before it was edited."""
    (found,) = [key for key, item in Cli(root).items().items() if words in json.dumps(item)]
    return found


def test_an_item_is_born_gains_and_loses_sources_retires_and_returns(root: Path) -> None:
    """Each step of its life is one event with its date, its cause and its quotes."""
    on(root, 1)
    disk = the(root, DISK)
    write(root, {"notes/ops.md": f"# Operations\n\n{DISK}\n"})
    on(root, 2)
    (root / "notes/limits.md").unlink()
    on(root, 3)
    (root / "notes/ops.md").unlink()
    on(root, 4)
    write(root, {"notes/limits.md": LIMITS})
    on(root, 5)
    with opened(root) as base:
        story = base.history(disk)
    assert [(e.at[:10], e.kind, e.cause) for e in story] == [
        ("2026-01-01", "born", "stated in notes/limits.md"),
        ("2026-01-02", "sources", "also stated in notes/ops.md"),
        ("2026-01-03", "sources", "no longer stated in notes/limits.md"),
        ("2026-01-04", "retired", "notes/ops.md is gone"),
        ("2026-01-05", "returned", "stated in notes/limits.md"),
    ]
    assert all(event.run and DISK in {quote.text for quote in event.quotes} for event in story)


def test_what_changes_nothing_adds_nothing(root: Path) -> None:
    """Neither a second build, nor a full one, nor moved offsets are a story; an edit adds to its own items alone."""
    on(root, 1)
    before = tree(root / "kb/history")
    on(root, 2)
    on(root, 3, full=True)
    write(root, {"notes/limits.md": LIMITS.replace("# Limits\n", "# Limits\n\n\n")})
    on(root, 4)
    assert tree(root / "kb/history") == before
    write(root, {"notes/limits.md": LIMITS.replace("512", "640")})
    on(root, 5)
    moved = {path for path, state in tree(root / "kb/history").items() if before.get(path) != state}
    concerned = {event.item[3:5] for events in told(root).values() for event in events if event.at > "2026-01-02"}
    assert moved == {f"{name}.jsonl" for name in concerned}
    assert the(root, "16 pages")[3:5] not in concerned


def test_a_full_build_tells_the_same_story(root: Path, tmp_path: Path) -> None:
    """Of one series of edits, builds that trust nothing tell what builds of changes alone do."""
    other = new_root(tmp_path / "other", {p: (root / p).read_text() for p in ("notes/limits.md", "notes/cache.md")})
    edits: tuple[dict[str, str], ...] = (
        {"notes/limits.md": LIMITS.replace("512", "640")},
        {"notes/new.md": f"# New\n\n{DISK}\n"},
        {},
    )
    for day, edit in enumerate(edits, start=1):
        for place, full in ((root, False), (other, True)):
            write(place, edit)
            on(place, day, full=full)
    unnamed = [
        {item: [e.model_copy(update={"run": ""}) for e in events] for item, events in told(place).items()}
        for place in (root, other)
    ]
    assert unnamed[0] == unnamed[1]


def test_an_edit_by_hand_is_told_with_what_it_replaced(root: Path) -> None:
    """A person's words, the next ones, and the machine's given back are three events with former and new values."""
    on(root, 1)
    disk = the(root, DISK)
    for day, words in ((2, "A replica needs 12 GB of fast disk."), (3, "Each replica needs 12 GB."), (4, DISK)):
        (path,) = (root / "kb/items").glob(f"*/{disk}.json")
        path.write_text(json.dumps({**json.loads(path.read_text()), "statement": words}, indent=2))
        on(root, day)
    with opened(root) as base:
        _, *edits = base.history(disk)
        for day, words in ((1, DISK), (2, "A replica needs 12 GB of fast disk."), (3, "Each replica needs 12 GB.")):
            found = base.show(disk, as_of=f"2026-01-0{day}")
            assert isinstance(found, ItemView)
            assert found.item.statement == words
    assert [(e.kind, e.by) for e in edits] == [("edited", "person")] * 3
    assert edits[0].before["statement"] == DISK
    assert [e.after["statement"] for e in edits][-1] == DISK


def test_as_of_a_date_answers_what_was_known_then(root: Path) -> None:
    """Items born later are absent, retired ones are there as they were, and every field has its former value."""
    on(root, 1)
    gateway, disk = the(root, GATEWAY), the(root, DISK)
    write(root, {"notes/ops.md": f"# Operations\n\n{DISK}\n\nA pump moves 40 litres.\n"})
    on(root, 3)
    (root / "notes/limits.md").unlink()
    on(root, 5)
    with opened(root) as base:
        hits = {day: {h.text for h in base.search("gateway pump", as_of=f"2026-01-0{day}").hits} for day in range(1, 7)}
        assert GATEWAY in hits[1] & hits[2] & hits[3] & hits[4]
        assert GATEWAY not in hits[5] | hits[6]
        assert "A pump moves 40 litres." in hits[3] & hits[6]
        assert "A pump moves 40 litres." not in hits[1] | hits[2]
        for day, documents in ((1, {"limits"}), (4, {"limits", "ops"}), (5, {"ops"})):
            view = base.show(disk, as_of=f"2026-01-0{day}")
            assert isinstance(view, ItemView)
            assert {c.doc_id for c in view.item.sources} == {f"notes/{name}.md" for name in documents}
        view = base.show(gateway, as_of="2026-01-04")
        assert isinstance(view, ItemView)
        assert (view.item.status, view.item.updated_at[:10], view.passages[0].proven) == ("active", "2026-01-01", True)
        with pytest.raises(NotFound, match="there was no item"):
            base.show(gateway, as_of="2025-12-31")
        with pytest.raises(KbError, match="is no date"):
            base.search("gateway", as_of="yesterday")


@pytest.mark.parametrize("instant", ["before", "noted", "written", "told"])
def test_a_killed_commit_is_told_once(root: Path, monkeypatch: pytest.MonkeyPatch, instant: str) -> None:
    """Whether a build dies before it wrote, after, or once it had told: the next one ends with the same story."""
    on(root, 1)
    write(root, {"notes/limits.md": LIMITS.replace("512", "640")})
    with dying(monkeypatch, instant), pytest.raises(KeyboardInterrupt):
        on(root, 2)
    on(root, 2)
    events = [event for story in told(root).values() for event in story if event.at.startswith("2026-01-02")]
    assert sorted(event.kind for event in events) == ["born", "retired"]
    assert not (root / "kb/cache/history.jsonl").exists()


INSTANTS = {
    "before": (History, "note", False),
    "noted": (Commit, "carry_out", False),
    "written": (Commit, "carry_out", True),
    "told": (History, "_add", True),
}


@contextmanager
def dying(monkeypatch: pytest.MonkeyPatch, instant: str) -> Iterator[None]:
    """Inside the block the commit of items is interrupted at an instant."""
    kind, name, afterwards = INSTANTS[instant]
    real = getattr(kind, name)

    def interrupted(self: object, *args: object) -> object:
        if isinstance(self, Commit) and not self.steps:
            return real(self, *args)
        if afterwards:
            real(self, *args)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(kind, name, interrupted)
        yield


def test_two_branches_of_history_merge(root: Path) -> None:
    """Lines of different items are apart and sorted, so that what two branches add can be joined line by line."""
    on(root, 1)
    for path in (root / "kb/history").glob("*.jsonl"):
        items = [json.loads(line)["item"] for line in path.read_text().splitlines()]
        assert items == sorted(items)
        assert {item[3:5] for item in items} == {path.stem}


def test_the_command_tells_the_story(root: Path) -> None:
    """``kb history`` prints the events for people and as JSON; an unknown id is an error with a cure."""
    on(root, 1)
    cli, disk = Cli(root), the(root, DISK)
    assert "born  stated in notes/limits.md" in cli.run("history", disk).stdout
    assert cli.json("history", disk)[0]["quotes"] == [{"doc_id": "notes/limits.md", "text": DISK}]
    assert "there is no item" in cli.run("history", "kb_000000000000", code=1).stderr


def test_what_hands_do_to_files_is_told(root: Path) -> None:
    """A deleted file hides its item as it was, its return and a file written by hand are told, each by a person."""
    on(root, 1)
    disk = the(root, DISK)
    next((root / "kb/items").glob(f"*/{disk}.json")).unlink()
    on(root, 2)
    with dated(root, 3) as base:
        assert [(e.kind, e.by, e.cause) for e in base.history(disk)][1:] == [
            ("hidden", "person", "its file was deleted")
        ]
        view = base.show(disk, as_of="2026-01-01")
        assert isinstance(view, ItemView)
        assert (view.item.statement, view.item.status, view.passages[0].proven) == (DISK, "active", True)
        with pytest.raises(NotFound):
            base.show(disk, as_of="2026-01-02")
        base.restore(disk)
    written = {"id": "mine", "statement": "The pump of mine weighs 7 kg."}
    (root / "kb/items/unclassified/mine.json").write_text(json.dumps(written))
    on(root, 3)
    with opened(root) as base:
        assert [e.kind for e in base.history(disk)] == ["born", "hidden", "returned"]
        (born,) = base.history(the(root, "pump of mine"))
    assert (born.kind, born.by) == ("born", "person")
