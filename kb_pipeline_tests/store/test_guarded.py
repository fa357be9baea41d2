"""Files that a person saves in the very moment in which they are replaced or removed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kb_pipeline.store import guarded
from kb_pipeline.store.guarded import Guard, look

Save = Callable[[Path, bytes], None]


def over(path: Path, data: bytes) -> None:
    """As most editors save: a new file under the old name."""
    new = path.with_suffix(".new")
    new.write_bytes(data)
    new.replace(path)


def into(path: Path, data: bytes) -> None:
    """As some editors save: into the file that is there."""
    with path.open("r+b") as file:
        file.truncate(0)
        file.write(data)


@pytest.fixture(params=["exchange", "two steps"])
def path(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file on a system that exchanges names in one step, and on one that does not."""
    if request.param == "two steps":
        monkeypatch.setattr(guarded, "_LIBRARY", object())
    (tmp_path / "item.json").write_bytes(b"old")
    return tmp_path / "item.json"


def staged(path: Path) -> Path:
    temporary = path.with_name(".tmp-kb-1-1-0")
    temporary.write_bytes(b"ours")
    return temporary


def placing(guard: Guard, path: Path) -> None:
    guard.place(str(staged(path)), str(path))


def removing(guard: Guard, path: Path) -> None:
    guard.remove(str(path))


def left(path: Path) -> list[str]:
    return sorted(p.name for p in path.parent.iterdir())


def test_what_was_seen_is_replaced_and_removed(path: Path) -> None:
    """Nothing in the way: our bytes stand, then nothing does, and no other file is left."""
    guard = Guard({str(path): look(str(path))[1]})
    guard.place(str(staged(path)), str(path))
    guard.finish()
    assert (path.read_bytes(), left(path), guard.refused) == (b"ours", ["item.json"], set())
    guard = Guard({str(path): look(str(path))[1]})
    guard.remove(str(path))
    guard.finish()
    assert (left(path), guard.refused) == ([], set())


@pytest.mark.parametrize("save", [over, into])
@pytest.mark.parametrize("data", [b"mine", b"old, but longer", b""])
def test_what_was_saved_since_stays(path: Path, save: Save, data: bytes) -> None:
    """Saved after we read it, of the same size or not: replacing and removing give way."""
    for act in (placing, removing):
        guard = Guard({str(path): look(str(path))[1]})
        save(path, data)
        act(guard, path)
        guard.finish()
        assert (path.read_bytes(), left(path), guard.refused) == (data, ["item.json"], {str(path)})


@pytest.mark.parametrize("data", [b"mine", b"mine, and longer"])
def test_what_is_written_late_into_a_file_we_took_out_is_put_back(path: Path, data: bytes) -> None:
    """An editor that had the file open writes when ours stands already: its words win."""
    for act in (placing, removing):
        guard = Guard({str(path): look(str(path))[1]})
        with path.open("r+b") as file:
            act(guard, path)
            file.truncate(0)
            file.write(data)
            file.flush()
            guard.finish()
        assert (path.read_bytes(), left(path), guard.refused) == (data, ["item.json"], {str(path)})


def test_what_was_removed_or_made_since_stays_so(path: Path) -> None:
    """A file that a person removed does not return; one that a person made is not overwritten."""
    guard = Guard({str(path): look(str(path))[1]})
    path.unlink()
    guard.place(str(staged(path)), str(path))
    guard.remove(str(path))
    guard.finish()
    assert left(path) == []
    guard = Guard({str(path): look(str(path))[1]})
    path.write_bytes(b"mine")
    guard.place(str(staged(path)), str(path))
    guard.remove(str(path))
    guard.finish()
    assert (path.read_bytes(), left(path)) == (b"mine", ["item.json"])
