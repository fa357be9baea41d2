"""What is special to the local backend: files that break, writers that die, readers beside them, compaction."""

import errno
import json
import multiprocessing
import os
import resource
import shutil
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from kb_pipeline.errors import KbError, NotFound, StoreError
from kb_pipeline.records import SCHEMA_VERSION, Scope
from kb_pipeline.rules.columns import to_table
from kb_pipeline.store.index import LocalIndex, sql
from kb_pipeline.store.index.writing import MOST_SEGMENTS
from kb_pipeline_tests.store.backends import DIM, found, item, near, put, unit

SPAWN = multiprocessing.get_context("spawn")


def opened(folder: Path) -> LocalIndex:
    """The index in ``folder``, as another process would open it."""
    return LocalIndex(folder, embedder="unit-8", dim=DIM, retained=3)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "manifest torn": lambda g: (g / "manifest.json").write_bytes((g / "manifest.json").read_bytes()[:40]),
    "manifest garbage": lambda g: (g / "manifest.json").write_text("[]"),
    "manifest gone": lambda g: (g / "manifest.json").unlink(),
    "rows gone": lambda g: next(g.glob("seg/*.arrow")).unlink(),
    "rows short": lambda g: os.truncate(next(g.glob("seg/*.arrow")), 100),
    "rows overwritten": lambda g: (path := next(g.glob("seg/*.arrow"))).write_bytes(b"\0" * path.stat().st_size),
    "vectors short": lambda g: os.truncate(next(g.glob("seg/*.i8")), 3),
    "words gone": lambda g: next(g.glob("lex/units/*.term")).unlink(),
    "words' meta overwritten": lambda g: (g / "lex/units/meta.json").write_bytes(
        b"x" * (g / "lex/units/meta.json").stat().st_size
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_generation_is_named(tmp_path: Path, damage: str) -> None:
    """Whatever broke, readers are told which generation and what to do, and the next write goes on from a whole one."""
    first = put(opened(tmp_path), [item("kb_1", "one")])
    second = put(opened(tmp_path), [item("kb_1", "two")], first)
    folder = tmp_path / second
    for path in [p for p in folder.rglob("*") if p.is_file()]:  # hard links would break the first one too
        copy = path.read_bytes()
        path.unlink()
        path.write_bytes(copy)
    DAMAGES[damage](folder)
    index = opened(tmp_path)
    with pytest.raises(StoreError, match=rf"(?s){second}.*kb build"), index.snapshot():
        pass
    if not damage.endswith("overwritten"):
        assert second in index.damage(second)
        assert index.candidate() == first
    third = put(index, [item("kb_1", "three")], first)
    with index.snapshot() as snapshot:
        assert (third > second, found(snapshot, "three")) == (True, ["kb_1"])


def test_a_pointer_to_nowhere_is_an_error_with_a_cure(tmp_path: Path) -> None:
    """CURRENT that names a missing generation, or none, is reported, not taken for an empty index."""
    index = opened(tmp_path)
    put(index, [item("kb_1", "one")])
    (tmp_path / "CURRENT").write_text("g00000077\n")
    with pytest.raises(StoreError, match="kb build"), index.snapshot():
        pass
    assert "g00000077" in index.fault()
    (tmp_path / "CURRENT").write_text("garbage")
    with pytest.raises(StoreError, match="kb build"), index.snapshot():
        pass
    assert (index.live(), "CURRENT" in index.fault()) == (None, True)


@pytest.mark.parametrize("mask", ["xx", '{"a": 1}', "5"])
def test_a_mask_that_is_none_hides_nothing_silently(tmp_path: Path, mask: str) -> None:
    """A broken mask stops readers, who might be shown what is gone, until it is written anew."""
    index = opened(tmp_path)
    put(index, [item("kb_1", "one")])
    (tmp_path / "mask.json").write_text(mask)
    with pytest.raises(StoreError, match="kb build"), opened(tmp_path).snapshot():
        pass
    assert "mask.json" in index.fault()
    index.mask(frozenset())
    with opened(tmp_path).snapshot() as snapshot:
        assert found(snapshot, "one") == ["kb_1"]
    assert index.fault() == ""


def test_a_broken_pin_pins_nothing(tmp_path: Path) -> None:
    """What a rollback left is forgotten where it cannot be read; readers are not touched by it."""
    index = opened(tmp_path)
    put(index, [item("kb_1", "one")])
    for pin in ("", "xx", "5", "[1]"):
        (tmp_path / "PIN").write_text(pin)
        assert index.pinned() is None


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    """A generation of a later version is not guessed at."""
    index = opened(tmp_path)
    manifest = tmp_path / put(index, [item("kb_1", "one")]) / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"schema_version": SCHEMA_VERSION + 1}))
    with pytest.raises(StoreError, match="newer version"), opened(tmp_path).snapshot():
        pass


def test_another_file_layout_is_named_and_written_anew(tmp_path: Path) -> None:
    """A generation whose files this version would misread is no candidate: the next one starts from nothing."""
    index = opened(tmp_path)
    first = put(index, [item("kb_1", "one")])
    manifest = tmp_path / first / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"layout": "an older one"}))
    index = opened(tmp_path)
    with pytest.raises(StoreError, match=rf"(?s){first} has another file layout.*kb build"), index.snapshot():
        pass
    assert (index.candidate(), first in index.fault()) == (None, True)
    second = put(index, [item("kb_1", "two")])
    with index.snapshot() as snapshot:
        assert (second > first, found(snapshot, "two")) == (True, ["kb_1"])
    assert index.fault() == ""


def test_names_of_a_lost_index_are_not_given_again(tmp_path: Path) -> None:
    """What stands elsewhere about a generation goes on meaning that one."""
    index = LocalIndex(tmp_path, embedder="unit-8", dim=DIM, given=lambda: ["g00000041", "garbage", ""])
    assert put(index, [item("kb_1", "one")]) == "g00000042"


def test_segments_are_merged(tmp_path: Path) -> None:
    """Many small updates never leave more than a handful of segments, and dead rows are dropped in time."""
    index = opened(tmp_path)
    rows = [item(f"kb_{n:03}", f"w{n}") for n in range(100)]
    generation: str | None = index.write(None, rows, unit(*range(100)), [True] * 100, [])
    for n in range(MOST_SEGMENTS + 3):
        generation = index.write(generation, [item(f"kb_{n:03}", f"q{n}")], unit(n), [True], [])
        manifest = json.loads((tmp_path / generation / "manifest.json").read_text())
        assert len(manifest["segments"]) <= MOST_SEGMENTS
    index.promote(str(generation))
    with index.snapshot() as snapshot:
        assert snapshot.count() == {"item": 100}
        assert [found(snapshot, f"q{n}") for n in (0, 9, 18)] == [["kb_000"], ["kb_009"], ["kb_018"]]
        assert (found(snapshot, "w7"), found(snapshot, "w70")) == ([], ["kb_070"])
        assert near(snapshot, 99, k=1) == ["kb_099"]
    half = index.write(generation, [], unit(), [], [f"kb_{n:03}" for n in range(50)])
    manifest = json.loads((tmp_path / half / "manifest.json").read_text())
    assert (sum(s["rows"] for s in manifest["segments"]), sum(s["dead"] for s in manifest["segments"])) == (50, 0)


def test_unchanged_files_are_shared(tmp_path: Path) -> None:
    """A small update costs a small generation: what stays is linked, not copied."""
    index = opened(tmp_path)
    first = index.write(None, [item(f"kb_{n}", f"w{n}") for n in range(50)], unit(*range(50)), [True] * 50, [])
    second = index.write(first, [item("kb_1", "new")], unit(1), [True], [])
    for path in (f"seg/{first}.arrow", f"seg/{first}.i8", f"seg/{first}.f32"):
        assert (tmp_path / first / path).samefile(tmp_path / second / path)


def test_a_file_system_without_links_is_served_by_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where hard links are refused, a delta copies what stays."""

    def refused(*_: object) -> None:
        raise OSError(errno.EPERM, "links are not supported")

    monkeypatch.setattr(os, "link", refused)
    index = opened(tmp_path)
    first = put(index, [item(f"kb_{n}", f"w{n}") for n in range(9)])
    second = put(index, [item("kb_1", "changed")], first)
    shutil.rmtree(tmp_path / first)
    with opened(tmp_path).snapshot() as snapshot:
        assert (snapshot.generation, snapshot.count(), found(snapshot, "changed")) == (second, {"item": 9}, ["kb_1"])


def test_nothing_is_written_where_nothing_changes(tmp_path: Path) -> None:
    """Reading, and repeating a promotion or a mask, leaves every file as it is."""
    index = opened(tmp_path)
    live = put(index, [item("kb_1", "one")])
    index.mask(frozenset({"web/x.md"}))
    before = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*") if p.is_file() and p.name != ".lock"}
    index.mask(frozenset({"web/x.md"}))
    index.promote(live)
    with opened(tmp_path).snapshot() as snapshot:
        found(snapshot, "one")
    assert before == {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*") if p.is_file() and p.name != ".lock"}


def test_a_name_that_returns_is_opened_anew(tmp_path: Path) -> None:
    """A folder removed by hand and built again under the same name is not served from memory."""
    index = opened(tmp_path)
    put(index, [item("kb_1", "one")])
    with index.snapshot() as snapshot:
        assert found(snapshot, "one") == ["kb_1"]
    shutil.rmtree(tmp_path)
    with pytest.raises(NotFound), index.snapshot():
        pass
    put(opened(tmp_path), [item("kb_2", "one")])
    with index.snapshot() as snapshot:
        assert found(snapshot, "one") == ["kb_2"]


def test_what_a_reader_holds_outlives_collection(tmp_path: Path) -> None:
    """A request that began before its generation was collected ends well."""
    index = opened(tmp_path)
    generation = put(index, [item("kb_1", "one")])
    with index.snapshot() as snapshot:
        for n in range(5):
            generation = put(opened(tmp_path), [item("kb_1", f"text {n}")], generation)
        assert snapshot.generation not in index.generations()
        assert (found(snapshot, "one"), near(snapshot, 0)) == (["kb_1"], ["kb_1"])
        assert snapshot.rows(["kb_1"])[0].text == "one"


def test_slow_and_endless_sql_is_stopped() -> None:
    """A query ends at its time limit and at its row limit, with a cure."""
    table = to_table([item("kb_1", "one")])
    endless = "SELECT count(*) FROM range(100000000) a, range(1000000) b WHERE a.range = b.range * 2 + 7"
    with pytest.raises(KbError, match="took longer"):
        sql.run(endless, table, seconds=0.2)
    with pytest.raises(KbError, match="more than 10 rows"):
        sql.run("SELECT * FROM range(11)", table, limit=10)
    assert len(sql.run("SELECT * FROM range(10)", table, limit=10)[1]) == 10


def _write_large(folder: str, limit: int) -> None:
    """Build a generation in a process whose files may not grow beyond ``limit`` bytes; exit 7 says StoreError."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    rows = [item(f"kb_{n}", f"word{n} " * 20) for n in range(2000)]
    try:
        opened(Path(folder)).write(None, rows, unit(*range(2000)), [True] * 2000, [])
    except StoreError as error:
        os._exit(7 if error.cure else 1)


@pytest.mark.parametrize("limit", [2_000, 80_000])
def test_a_full_disk_leaves_the_last_good_state(tmp_path: Path, limit: int) -> None:
    """A write that finds no room is an error with a cure, and leaves neither a generation nor rubbish."""
    live = put(opened(tmp_path), [item("kb_1", "one")])
    writer = SPAWN.Process(target=_write_large, args=(str(tmp_path), limit))
    writer.start()
    writer.join()
    assert writer.exitcode == 7
    index = opened(tmp_path)
    assert (index.generations(), list(tmp_path.glob(".tmp-*"))) == ([live], [])
    with index.snapshot() as snapshot:
        assert found(snapshot, "one") == ["kb_1"]


def _publish(folder: str, times: int) -> None:
    """Publish versions one after another: every one of 30 rows changes its text at once."""
    index = opened(Path(folder))
    for version in range(1, times + 1):
        rows = [item(f"kb_{n:02}", f"all version{version}") for n in range(30)]
        index.promote(index.write(index.live(), rows, unit(*range(30)), [True] * 30, []))


def _read(folder: str, stop: Connection) -> None:
    """Check until told to stop that each request sees one version of all rows; exit code 0 says that all did."""
    index, generations = opened(Path(folder)), set()
    while not stop.poll():
        with index.snapshot() as snapshot:
            names = found(snapshot, "all", k=40)
            texts = {row.text for row in snapshot.rows(names)}
            vectors = near(snapshot, 3, k=40)
            version = texts.pop().partition(" ")[2]
            assert (len(names), len(vectors), texts) == (30, 30, set())
            assert len(found(snapshot, version, k=40)) == 30
            assert snapshot.nearest(unit(3), 1, Scope())[0][0][0] == "kb_03"
            generations.add(snapshot.generation)
    os._exit(0 if len(generations) > 1 else 3)


def test_readers_in_other_processes_see_whole_generations(tmp_path: Path) -> None:
    """Two readers meet neither an error nor a mixture while a writer publishes."""
    _publish(str(tmp_path), 1)
    pipes = [SPAWN.Pipe() for _ in range(2)]
    readers = [SPAWN.Process(target=_read, args=(str(tmp_path), theirs)) for _, theirs in pipes]
    for reader in readers:
        reader.start()
    time.sleep(1)
    _publish(str(tmp_path), 12)
    for ours, _ in pipes:
        ours.send(None)
    for reader in readers:
        reader.join()
    assert [reader.exitcode for reader in readers] == [0, 0]


def test_a_killed_writer_leaves_nothing_behind(tmp_path: Path) -> None:
    """A writer killed at any instant costs its own generation alone, and the next one clears up."""
    _publish(str(tmp_path), 1)
    for delay in (0.6, 0.75, 0.9):
        writer = SPAWN.Process(target=_publish, args=(str(tmp_path), 1000))
        writer.start()
        time.sleep(delay)
        writer.kill()
        writer.join()
        with opened(tmp_path).snapshot() as snapshot:
            assert len({row.text for row in snapshot.rows(found(snapshot, "all", k=40))}) == 1
    _publish(str(tmp_path), 1)
    assert list(tmp_path.glob(".tmp-*")) == []
