"""Models' replies and growing logs on disk."""

import subprocess
import sys
from pathlib import Path

import pytest

from kb_pipeline.errors import StoreError
from kb_pipeline.store.logs import Log
from kb_pipeline.store.replies import Replies

KEYS = [f"{n:032x}" for n in (1, 2, 3)]


def test_a_reply_is_found_by_its_key(tmp_path: Path) -> None:
    """What was put is found, by another process too, as one file in a folder of its first two digits."""
    replies = Replies(tmp_path / "replies")
    assert replies.get(KEYS[0]) is None
    replies.put(KEYS[0], '{"reply": "é"}')
    assert Replies(tmp_path / "replies").get(KEYS[0]) == '{"reply": "é"}'
    assert (tmp_path / "replies" / "00" / f"{KEYS[0][2:]}.json").is_file()


@pytest.mark.parametrize("torn", [b"", b'{"reply": "a', b"<<<<<<< ours\n{}\n=======\n", b"\xff\xfe", b"[1]"])
def test_a_torn_reply_is_none(tmp_path: Path, torn: bytes) -> None:
    """Half a file, conflict marks and anything else that is no JSON object count as no reply, and are replaced."""
    replies = Replies(tmp_path)
    replies.put(KEYS[0], "{}")
    next(tmp_path.rglob("*.json")).write_bytes(torn)
    assert replies.get(KEYS[0]) is None
    replies.put(KEYS[0], '{"a":1}')
    assert replies.get(KEYS[0]) == '{"a":1}'


@pytest.mark.parametrize("key", ["", "../../etc/passwd", "xyz", "ABCDEF0123"])
def test_a_key_is_hexadecimal(tmp_path: Path, key: str) -> None:
    """No key leads out of the folder."""
    with pytest.raises(ValueError, match="not a key"):
        Replies(tmp_path).get(key)


def test_a_disk_that_refuses_is_told(tmp_path: Path) -> None:
    """A reply that cannot be kept is an error with its place, not a silent loss."""
    (tmp_path / "replies").write_text("a file where the folder should be")
    with pytest.raises(StoreError, match="replies"):
        Replies(tmp_path / "replies").put(KEYS[0], "{}")
    with pytest.raises(StoreError, match="replies"):
        Log(tmp_path / "replies" / "ledger.jsonl").append({})


def test_a_log_grows(tmp_path: Path) -> None:
    """Lines of several writers follow one another; a log that nobody wrote is empty."""
    path = tmp_path / "logs" / "ledger.jsonl"
    assert list(Log(path)) == []
    first, second = Log(path), Log(path)
    first.append({"n": 1, "text": "é\n"})
    second.append({"n": 2})
    first.append({"n": 3})
    assert [line["n"] for line in Log(path)] == [1, 2, 3]


def test_a_torn_line_is_skipped(tmp_path: Path) -> None:
    """What a crash left at the end of a log costs that line alone."""
    path = tmp_path / "ledger.jsonl"
    path.write_text('{"n": 1}\n{"n": 2, "tex')
    Log(path).append({"n": 3})
    assert [line["n"] for line in Log(path)] == [1, 3]


def test_processes_share_a_log(tmp_path: Path) -> None:
    """No line of two processes that write at once is lost or mixed."""
    path = tmp_path / "ledger.jsonl"
    code = (
        "import sys; from pathlib import Path; from kb_pipeline.store.logs import Log\n"
        "log = Log(Path(sys.argv[1]))\n"
        "for n in range(300): log.append({'who': sys.argv[2], 'n': n})"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(path), who]) for who in "ab"]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    lines = list(Log(path))
    assert [line["n"] for line in lines if line["who"] == "a"] == list(range(300))
    assert len(lines) == 600
