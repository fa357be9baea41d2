"""Vectors on disk."""

import hashlib
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from kb_pipeline.errors import StoreError
from kb_pipeline.store import vectors as module
from kb_pipeline.store.vectors import VectorCache
from kb_pipeline.world import Vectors

DIM = 8


def key(n: int) -> bytes:
    """The key of number ``n``."""
    return hashlib.sha256(str(n).encode()).digest()[:16]


def rows(numbers: list[int]) -> Vectors:
    """A row for each number, which says the number."""
    return np.array([[n, *range(1, DIM)] for n in numbers], dtype=np.float32)


def put(cache: VectorCache, *numbers: int) -> None:
    """Keep the rows of ``numbers``."""
    cache.put([key(n) for n in numbers], rows(list(numbers)))


def held(cache: VectorCache, numbers: range) -> list[int]:
    """Which of ``numbers`` the cache holds; each must have its own row."""
    vectors, found = cache.get([key(n) for n in numbers])
    present = [n for n, there in zip(numbers, found, strict=True) if there]
    assert np.array_equal(vectors[found], rows(present).reshape(-1, DIM))
    assert not vectors[~found].any()
    return present


def test_what_was_put_is_found_in_any_order(tmp_path: Path) -> None:
    """Rows come back in the order asked, unknown keys zero and not found, also after opening again."""
    cache = VectorCache(tmp_path / "vectors", DIM)
    assert held(cache, range(3)) == []
    put(cache, 2, 0, 1)
    put(cache, 7)
    for reader in (cache, VectorCache(tmp_path / "vectors", DIM)):
        found, there = reader.get([key(7), key(5), key(1), key(7)])
        assert found[:, 0].tolist() == [7, 0, 1, 7]
        assert there.tolist() == [True, False, True, True]
        assert len(reader) == 4


def test_a_key_is_kept_once(tmp_path: Path) -> None:
    """Putting a known key, or one key twice, adds no row."""
    cache = VectorCache(tmp_path, DIM)
    put(cache, 1, 1, 2)
    put(VectorCache(tmp_path, DIM), 2, 3)
    assert len(cache) == 3


def test_segments_follow_one_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full segment is left alone and the next one begun, within one put and between puts."""
    monkeypatch.setattr(module, "_SEGMENT_ROWS", 10)
    cache = VectorCache(tmp_path, DIM)
    put(cache, *range(25))
    put(cache, *range(25, 32))
    assert held(cache, range(40)) == list(range(32))
    assert held(VectorCache(tmp_path, DIM), range(40)) == list(range(32))
    assert len(list(tmp_path.glob("*.keys"))) == 4


@pytest.mark.parametrize("lost_rows", [0, 1, 5, 33, 64])
@pytest.mark.parametrize("lost_keys", [0, 1, 16, 21])
def test_a_torn_tail_is_ignored_and_written_over(tmp_path: Path, lost_rows: int, lost_keys: int) -> None:
    """Whatever bytes the last write lacks, whole pairs stay readable and later ones follow them."""
    put(VectorCache(tmp_path, DIM), *range(6))
    cut(tmp_path / f"00000001-{DIM}.rows", lost_rows)
    cut(tmp_path / f"00000001-{DIM}.keys", lost_keys)
    reader = VectorCache(tmp_path, DIM)
    whole = held(reader, range(20))
    assert whole == list(range(6 - max(-(-lost_rows // 32), -(-lost_keys // 16))))
    put(VectorCache(tmp_path, DIM), *range(10, 13))
    put(VectorCache(tmp_path, DIM), *range(13, 15))
    assert held(reader, range(20)) == [*whole, *range(10, 15)]


def cut(path: Path, count: int) -> None:
    """Drop the last ``count`` bytes."""
    os.truncate(path, path.stat().st_size - count)


def test_rows_without_keys_do_not_count(tmp_path: Path) -> None:
    """A writer that died between rows and keys leaves nothing behind that a reader could see."""
    put(VectorCache(tmp_path, DIM), 1, 2)
    with (tmp_path / f"00000001-{DIM}.rows").open("ab") as file:
        file.write(b"\xff" * 100)
    cache = VectorCache(tmp_path, DIM)
    put(cache, 3, 4)
    assert held(VectorCache(tmp_path, DIM), range(6)) == [1, 2, 3, 4]


def test_a_reader_sees_what_others_write(tmp_path: Path) -> None:
    """An open reader finds rows that another put meanwhile, and outlives the clearing of the folder."""
    reader, writer = VectorCache(tmp_path / "v", DIM), VectorCache(tmp_path / "v", DIM)
    put(writer, 1)
    assert held(reader, range(3)) == [1]
    put(writer, 2)
    assert held(reader, range(3)) == [1, 2]
    for path in (tmp_path / "v").iterdir():
        path.unlink()
    (tmp_path / "v").rmdir()
    put(writer, 0)
    assert 0 in held(reader, range(3))
    assert held(VectorCache(tmp_path / "v", DIM), range(3)) == [0]


def test_a_read_only_cache_leaves_no_trace(tmp_path: Path) -> None:
    """A reader that puts changes nothing on disk and makes no folder."""
    cache = VectorCache(tmp_path / "vectors", DIM, read_only=True)
    put(cache, 1)
    assert held(cache, range(3)) == []
    assert not (tmp_path / "vectors").exists()


def test_dimensions_do_not_mix(tmp_path: Path) -> None:
    """Caches of two dimensions may share a folder."""
    put(VectorCache(tmp_path, DIM), 1)
    other = VectorCache(tmp_path, 4)
    other.put([key(1)], np.ones((1, 4), dtype=np.float32))
    assert held(VectorCache(tmp_path, DIM), range(3)) == [1]
    assert other.get([key(1)])[0].tolist() == [[1, 1, 1, 1]]


def test_a_folder_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    """Failing to write is an error with file and cure."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"cannot be written.*costs time only"):
        put(VectorCache(tmp_path / "file" / "vectors", DIM), 1)


WRITER = """
import sys
from pathlib import Path
from kb_pipeline.store.vectors import VectorCache
from kb_pipeline_tests.store.test_vectors import DIM, put
cache = VectorCache(Path(sys.argv[1]), DIM)
print('ready', flush=True)
for start in range(0, 10**6, 50):
    put(cache, *range(start, start + 50))
"""


def test_a_killed_writer_loses_its_last_step_at_most(tmp_path: Path) -> None:
    """After kill -9 at random instants the cache is whole and goes on growing."""
    chance, before = random.Random(7), 0
    for _ in range(6):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.uniform(0.02, 0.3))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        count = len(held(VectorCache(tmp_path, DIM), range(60_000)))
        assert count == len(VectorCache(tmp_path, DIM))
        assert count >= before
        before = count
    assert before > 0


def write_some(folder: Path, offset: int) -> None:
    """Put 300 rows in small steps."""
    cache = VectorCache(folder, DIM)
    for n in range(offset, offset + 300, 10):
        put(cache, *range(n, n + 10))
        assert held(cache, range(offset, n + 10)) == list(range(offset, n + 10))


def test_two_writers_take_turns(tmp_path: Path) -> None:
    """Rows of processes that write at once are all kept, also where both write the same."""
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_some, args=(tmp_path, offset)) for offset in (0, 150)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert held(VectorCache(tmp_path, DIM), range(500)) == list(range(450))
    assert len(VectorCache(tmp_path, DIM)) == 450
