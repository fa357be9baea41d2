"""What people's hands did to the files that a stage published: wrote over, moved, removed, added. Reads only.

What we wrote ourselves, and what a killed run of ours left, is none of it.
"""

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kb_pipeline.store.commits import MOVED
from kb_pipeline.store.files import Stat, file_hash, read_bytes
from kb_pipeline.store.manifests import Entry, Manifest

Journalled = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Hands:
    """By key the path that a file was moved (or copied) to, the keys whose files were removed, and added paths."""

    moved: Mapping[str, str]
    removed: frozenset[str]
    added: tuple[str, ...]


def key_of(path: str) -> str:
    """The key that a file is named after."""
    return path.rpartition("/")[2].removesuffix(".json")


def hands(
    folder: Path,
    manifest: Manifest,
    files: Mapping[str, Stat],
    journalled: Journalled,
    named_after: Callable[[str, bytes], str] = lambda path, _: key_of(path),
) -> Hands:
    """What differs between the files that ``manifest`` names and those that there are below ``folder``;
    ``named_after`` tells by path and bytes whose file one is."""
    named = {path for entry in manifest for path in entry.outputs}
    foreign = [path for path in sorted(files.keys() - named) if not _ours(folder, path, journalled)]
    keys = {path: named_after(path, read_bytes(folder / path) or b"") for path in foreign}
    moved = {key: path for path, key in keys.items() if key in manifest}
    missing = named - files.keys()
    removed = {e.key for e in manifest if not missing.isdisjoint(e.outputs)} if missing else set()
    added = tuple(path for path, key in keys.items() if key not in manifest)
    return Hands(moved, frozenset(removed - moved.keys()), added)


def _ours(folder: Path, path: str, journalled: Journalled) -> bool:
    return path in journalled and file_hash(read_bytes(folder / path) or b"") in journalled[path]


def edited(
    folder: Path, entries: Iterable[Entry], changed: frozenset[str], moved: Mapping[str, str], journalled: Journalled
) -> list[Entry]:
    """The ``entries`` whose edits are news, with the hashes of what stands there and without ``input``, so that they
    are made again. Only ``changed`` paths are read."""
    found = []
    for entry in entries:
        now, outputs, info = dict(entry.edited), dict(entry.outputs), dict(entry.info)
        if entry.key in moved:
            path, written = moved[entry.key], outputs[min(outputs)]
            outputs = {path: written, **{p: h for p, h in outputs.items() if (folder / p).is_file()}}
            now = {path: file_hash(read_bytes(folder / path) or b"")}
            info[MOVED] = path
        else:
            for path in changed.intersection(entry.outputs):
                seen = file_hash(read_bytes(folder / path) or b"")
                if seen != now.pop(path, None) and seen in {entry.outputs[path], *journalled.get(path, ())}:
                    continue
                now[path] = seen
        if now != entry.edited:
            found.append(entry.model_copy(update={"edited": now, "outputs": outputs, "info": info, "input": ""}))
    return found


def adopted(folder: Path, paths: Iterable[str], keys: Container[str], unfiled: str) -> list[Entry]:
    """Entries for the files that people wrote for ``keys``, named after them: filed where they stand, except in the
    folder ``unfiled``."""
    return [
        Entry(
            key=key_of(path),
            outputs={path: ""},
            edited={path: file_hash(read_bytes(folder / path) or b"")},
            info={} if f"/{unfiled}/" in path else {MOVED: path},
        )
        for path in paths
        if key_of(path) in keys
    ]
