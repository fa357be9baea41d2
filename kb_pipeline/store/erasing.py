"""Traces of a purged document in what lies around: replies, logs, caches, what people wrote. Knows no stage.

Every byte below ``kb/`` is looked at. What may be lost goes as a file, what holds more than the document loses the
lines that hold it, and what is neither is named, for a person to judge.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from kb_pipeline.rules.forgetting import PURGED, Traces
from kb_pipeline.store.files import read_bytes, remove, replace

Cure = Callable[[bytes, Callable[[bytes], bool]], bytes]
_ENTRY = re.compile(rb"(?m)^(?=- |## )")


def _lines(data: bytes, holds: Callable[[bytes], bool]) -> bytes:
    return b"".join(line for line in data.splitlines(keepends=True) if not holds(line))


def _entries(data: bytes, holds: Callable[[bytes], bool]) -> bytes:
    return b"".join(entry for entry in _ENTRY.split(data) if not holds(entry))


def _all(data: bytes, holds: Callable[[bytes], bool]) -> bytes:
    return b""


# What is done where a file below a folder holds traces: the first pattern that fits counts. What was refused of a
# document goes with its name; elsewhere in the logs the name alone is replaced, so that sums stay what they were.
_CURES: tuple[tuple[str, str, Cure], ...] = (
    ("replies", r"replies/.*", _all),
    ("answers", r"cache/answers/.*", _all),
    ("caches", r"cache/(?!vectors/).*", _all),
    ("logs", r"logs/.*\.jsonl", _lines),
    ("logs", r"logs/.*\.md", _entries),
    ("logs", r"logs/.*", _all),
    ("decisions", r"dedup/human\.jsonl", _lines),
    ("questions", r"eval/human_gold\.jsonl", _lines),
    ("answers", r"wiki/answers/.*", _all),
)
_ABOUT = "logs/rejects.jsonl"


def erase(folder: Path, traces: Traces, doc: str) -> tuple[Counter[str], list[str]]:
    """Erase ``traces`` below ``folder`` (``kb/``), and the name ``doc`` from the logs.

    Returns how many files were cured, by what they were, and the files that still hold traces.
    """
    erased: Counter[str] = Counter()
    left = []
    for path in _files(folder):
        where, data = path.relative_to(folder).as_posix(), read_bytes(path) or b""
        holds = partial(_holds, traces, _names(where, doc))
        kind, cure = next(((kind, cure) for kind, pattern, cure in _CURES if re.fullmatch(pattern, where)), ("", None))
        kept = data.replace(doc.encode(), PURGED.encode()) if where.startswith("logs/") and where != _ABOUT else data
        if cure and holds(data):
            kept = cure(kept, holds)
            erased[kind] += 1
        elif holds(data):
            left.append(where)
        if kept != data:
            _put(path, kept, folder)
    return erased, left


def _names(where: str, doc: str) -> bytes | None:
    """The document's name as it counts as a trace in a file; None where it does not."""
    return doc.encode() if where == _ABOUT else json.dumps(doc).encode() if where.startswith("cache/") else None


def _holds(traces: Traces, name: bytes | None, data: bytes) -> bool:
    return traces.within(data) or (name is not None and name in data)


def _put(path: Path, kept: bytes, folder: Path) -> None:
    if kept:
        replace(path, kept, durable=False)
    else:
        remove([path], folder)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix not in {".rows", ".keys"})
