"""Generations as folders: names, manifests, the pointers ``CURRENT`` and ``PIN``, what is kept. Reads no row.

``g00000042/`` is written under a temporary name, made durable and renamed; a reader never meets half of one. Nothing
in it changes afterwards, so later generations share its files by hard links.
"""

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import Field, ValidationError

from kb_pipeline.errors import NotFound, StoreError
from kb_pipeline.records import SCHEMA_VERSION, Record
from kb_pipeline.store import files
from kb_pipeline.store.index.layout import LAYOUT

MANIFEST = "manifest.json"
CURRENT, PIN = "CURRENT", "PIN"
TEMPORARY = ".tmp-"

_NAME = re.compile(r"g(\d{8,})")
_REBUILD = "Run `kb build`: it goes on from the last whole generation."
_REPOINT = "Run `kb build`, which points it at the newest generation that passes the evaluation."


class Segment(Record):
    """``rows`` rows of which the first ``vectors`` have one; ``dead`` are those replaced or removed since."""

    name: str
    rows: int
    vectors: int
    dead: int = 0


class Manifest(Record):
    """What a generation is made of. ``layout`` says how its files are to be read; ``files`` maps each path in it to its
    size, by which damage is noticed."""

    schema_version: int = SCHEMA_VERSION
    layout: str = ""
    analyser: str
    embedder: str
    dim: int
    base: str | None = None
    segments: tuple[Segment, ...] = ()
    counts: Mapping[str, int] = Field(default_factory=dict)
    files: Mapping[str, int] = Field(default_factory=dict)


def name_of(number: int) -> str:
    """The folder of a generation."""
    return f"g{number:08d}"


def names(folder: Path) -> list[str]:
    """Names of all generations, oldest first, whole or not."""
    try:
        found = (entry.name for entry in os.scandir(folder))
        return sorted((name for name in found if _NAME.fullmatch(name)), key=lambda name: int(name[1:]))
    except FileNotFoundError:
        return []


def following(folder: Path, given: Iterable[str] = ()) -> str:
    """The name after the newest one, and after all that were ``given`` before."""
    before = (int(name[1:]) for name in (*names(folder), *given) if _NAME.fullmatch(name))
    return name_of(max(before, default=0) + 1)


def read_manifest(folder: Path) -> Manifest:
    """The manifest of the generation in ``folder``, every file present in its recorded size.

    Raises ``NotFound`` where there is no such folder, ``StoreError`` where it is damaged, of a newer schema or of
    another layout.
    """
    try:
        manifest = _parse(folder)
        if manifest.layout != LAYOUT:
            what = f"generation {folder.name} has another file layout than this version writes."
            raise StoreError(what, where=str(folder), cure="Run `kb build`: it makes the index anew.")
        for path, size in manifest.files.items():
            if (folder / path).stat().st_size != size:
                raise damaged(folder, f"{path} does not have its {size} bytes")
    except OSError as error:
        if not folder.is_dir():
            raise NotFound(
                "no such generation.", where=folder.name, cure="`kb status` lists those there are."
            ) from error
        raise damaged(folder, f"{error.filename or MANIFEST}: {error.strerror}") from error
    return manifest


def _parse(folder: Path) -> Manifest:
    data = (folder / MANIFEST).read_bytes()
    try:
        version = json.loads(data)["schema_version"]
        if version > SCHEMA_VERSION:
            raise StoreError(
                f"generation {folder.name} has schema {version}, this version knows {SCHEMA_VERSION}.",
                where=str(folder),
                cure="Use the newer version of kb, or remove the folder and run `kb build`.",
            )
        return Manifest.model_validate_json(data)
    except (ValueError, ValidationError, TypeError, KeyError) as error:
        raise damaged(folder, f"{MANIFEST} is not what was written") from error


def damaged(folder: Path, reason: str) -> StoreError:
    """The error of a generation that cannot be trusted."""
    return StoreError(f"generation {folder.name} is damaged: {reason}.", where=str(folder), cure=_REBUILD)


def publish(temporary: Path, folder: Path, manifest: Manifest, durable: str) -> None:
    """Give the finished ``temporary`` folder its name: files durable first, the manifest last, then the rename.

    The files in the subfolder ``durable`` were made so by their writer.
    """
    sizes = {
        path.relative_to(temporary).as_posix(): path.stat().st_size
        for path in sorted(temporary.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }
    files.replace(temporary / MANIFEST, manifest.model_copy(update={"files": sizes}).model_dump_json().encode())
    for path in temporary.rglob("*"):
        written = path.stat().st_nlink == 1 and durable not in path.relative_to(temporary).parts
        if path.is_dir() or written:
            sync(path)
    sync(temporary)
    temporary.rename(folder)
    sync(folder.parent)


def sync(path: Path) -> None:
    """Make a file or a folder's entries durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def share(path: Path, target: Path) -> None:
    """A hard link, or a durable copy where the file system has none."""
    try:
        os.link(path, target)
    except OSError:
        shutil.copyfile(path, target)
        sync(target)


def current(folder: Path) -> str | None:
    """The generation that ``CURRENT`` names. Raises ``StoreError`` where it names none."""
    data = files.read_bytes(folder / CURRENT)
    if data is None:
        return None
    name = data.decode(errors="replace").strip()
    if not _NAME.fullmatch(name):
        raise StoreError(f"names no generation: {name[:80]!r}.", where=str(folder / CURRENT), cure=_REPOINT)
    return name


def point(folder: Path, name: str) -> None:
    """Move ``CURRENT``, atomically and durably; nothing is written where it stands there already."""
    data = f"{name}\n".encode()
    if files.read_bytes(folder / CURRENT) != data:
        files.replace(folder / CURRENT, data)


def pinned(folder: Path) -> tuple[str, str] | None:
    """What ``PIN`` holds: the pinned generation and the candidate of that moment; a broken one pins nothing."""
    try:
        generation, candidate = json.loads(files.read_bytes(folder / PIN) or b"[]")
    except (ValueError, TypeError):
        return None
    return str(generation), str(candidate)


def kept(found: list[str], live: str | None, pin: str | None, retained: int) -> set[str]:
    """Which generations stay: the live and the pinned one, ``retained`` up to the live one and as many after it.

    Candidates after the live one may be under evaluation; those before it are what a rollback can return to.
    """
    split = found.index(live) + 1 if live in found else 0
    return {*found[:split][-retained:], *found[split:][-retained:], *filter(None, (live, pin))}


def collect(folder: Path, keep: Iterable[str]) -> None:
    """Remove other generations, and what killed writers left. The caller holds the writers' lock.

    A folder loses its name before its files, so that a reader finds it whole or gone.
    """
    for name in set(names(folder)) - set(keep):
        (folder / name).rename(folder / f"{TEMPORARY}{name}")
    for path in folder.glob(f"{TEMPORARY}*"):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
