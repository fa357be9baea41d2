"""The local index: immutable generations in a folder, behind ``world.Index``. Owns which one is written, live, masked.

kb/index/CURRENT            the generation that readers are served from; moves by atomic rename
         PIN                a rollback: the pinned generation and the candidate of that moment
         mask.json          documents hidden in every generation
         g00000042/         seg/ rows and vectors, dead/ tombstones, lex/ words, manifest.json
"""

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Self, TypeVar

import numpy as np
import pyarrow as pa

from kb_pipeline.errors import NotFound, StoreError
from kb_pipeline.records import Row
from kb_pipeline.rules.analyser import VERSION
from kb_pipeline.rules.columns import Keys, Rows, keys, to_table
from kb_pipeline.store import files
from kb_pipeline.store.index import generations, writing
from kb_pipeline.store.index.generations import Manifest
from kb_pipeline.store.index.layout import LAYOUT
from kb_pipeline.store.index.narrowed import NarrowedSnapshot
from kb_pipeline.store.index.opened import WORDS, Generation
from kb_pipeline.store.index.snapshot import LocalSnapshot
from kb_pipeline.world import Here, Pool, Vectors

_MASK, _LOCK = "mask.json", ".lock"
_OPENED = 4
"""Generations kept open a process: the live one, a candidate under evaluation, their predecessors."""
_SEEN = 16
"""Snapshots kept: of each generation one a mask, and one a project whose members may see it alone."""
_ATTEMPTS = 10

State = tuple[int, int, int]
Sources = frozenset[str] | None
"""The sources that a reader may see; None is all."""
K = TypeVar("K")
V = TypeVar("V")


class LocalIndex:
    """Generations in ``folder``, whose vectors ``embedder`` makes with ``dim`` numbers each.

    ``retained`` generations are kept for rollback besides the live one's successors. ``given`` tells names that stand
    elsewhere for generations of before ``folder`` was lost: they are given to no other one. ``pool`` takes texts apart.
    Safe for many reading threads and processes beside one writer; writers wait for each other.
    """

    def __init__(
        self,
        folder: Path,
        *,
        embedder: str,
        dim: int,
        retained: int = 3,
        given: Callable[[], Iterable[str]] = tuple,
        pool: Pool | None = None,
    ) -> None:
        self._folder, self._retained, self._given = folder, retained, given
        self._pool = pool or Here()
        self._stamp = Manifest(layout=LAYOUT, analyser=VERSION, embedder=embedder, dim=dim)
        self._guard, self._writer = threading.RLock(), threading.RLock()
        self._opened: OrderedDict[tuple[str, State], Generation] = OrderedDict()
        self._snapshots: OrderedDict[tuple[Generation, frozenset[str], Sources], LocalSnapshot] = OrderedDict()
        self._mask: tuple[State | None, frozenset[str]] = None, frozenset()
        self._sources: Sources = None

    def within(self, sources: frozenset[str]) -> Self:
        """The same index, as one sees it who may read ``sources`` alone: before any ranking, what others know is hidden
        from him as if it were gone."""
        seen = copy(self)
        vars(seen)["_sources"] = sources
        return seen

    def hashes(self, generation: str) -> dict[str, tuple[str, str]]:
        """Row id to ``(row_hash, doc_id)`` of one generation, masked rows included: what a delta is computed from.

        Empty where another analyser or embedder made it: then ``write`` too starts from nothing.
        """
        opened = self._open(generation)
        if not self._fits(opened):
            return {}
        live = pa.array(opened.live)
        ids, hashes, docs = (opened.column(name).filter(live).to_pylist() for name in ("id", "hash", "doc_id"))
        return dict(zip(ids, zip(hashes, docs, strict=True), strict=True))

    def write(
        self, base: str | None, rows: Sequence[Row], vectors: Vectors, vectored: Sequence[bool], deletes: Sequence[str]
    ) -> str:
        """A new candidate generation: ``base`` less ``deletes``, with ``rows`` added or replaced (the last of one id).

        ``vectors`` has one row for each true entry of ``vectored``. Returns the generation's name. A writer that dies
        leaves nothing that a reader could meet.
        """
        added = _part(rows, vectors, vectored, self._stamp.dim)
        with self._writing():
            opened = self._open(base) if base else None
            base = opened.name if opened and self._fits(opened) else None
            stamp = self._stamp.model_copy(update={"base": base})
            return self._write(opened if base else None, added, keys(deletes), stamp)

    def _write(self, base: Generation | None, added: writing.Part, gone: Keys, stamp: Manifest) -> str:
        generations.collect(self._folder, generations.names(self._folder))
        name = generations.following(self._folder, self._given())
        temporary = self._folder / f"{generations.TEMPORARY}{name}"
        try:
            temporary.mkdir()
            manifest = writing.write(temporary, name, stamp, base, added, gone, self._pool)
            generations.publish(temporary, self._folder / name, manifest, durable=WORDS)
        except OSError as error:
            generations.collect(self._folder, generations.names(self._folder))
            raise StoreError(
                f"a generation cannot be written: {error.strerror or error}.",
                where=str(self._folder),
                cure="Free space or check permissions; readers keep the last good generation.",
            ) from error
        self._collect()
        return name

    def generations(self) -> list[str]:
        """Names of the retained generations, oldest first."""
        return generations.names(self._folder)

    def born(self, generation: str) -> float:
        """When a generation was completed, in seconds since the epoch; 0 where it is damaged."""
        state = _state(self._folder / generation / generations.MANIFEST)
        return state[0] / 1e9 if state else 0.0

    def live(self) -> str | None:
        """The generation that readers are served from; None where there is none, or ``CURRENT`` is broken."""
        try:
            return generations.current(self._folder)
        except StoreError:
            return None

    def fault(self) -> str:
        """What is damaged of that which readers are served from: ``CURRENT``, its generation, the mask. Else empty."""
        try:
            name = generations.current(self._folder)
            self._masked()
        except StoreError as error:
            return str(error)
        if name and not (self._folder / name).is_dir():
            return f"CURRENT names {name}, which is not there."
        return self.damage(name) if name else ""

    def candidate(self) -> str | None:
        """The newest complete generation."""
        return next((name for name in reversed(self.generations()) if not self.damage(name)), None)

    def damage(self, generation: str) -> str:
        """What is wrong with a generation, its files' presence and sizes checked; empty where it is whole."""
        try:
            generations.read_manifest(self._folder / generation)
        except StoreError as error:
            return str(error)
        return ""

    def promote(self, generation: str) -> None:
        """Make ``generation`` the live one, atomically; this ends a rollback.

        Raises ``NotFound`` where there is no such generation, ``StoreError`` where it is damaged.
        """
        with self._writing():
            generations.read_manifest(self._folder / generation)
            generations.point(self._folder, generation)
            (self._folder / generations.PIN).unlink(missing_ok=True)
            self._collect()

    def pin(self, generation: str) -> None:
        """Serve readers from ``generation``, an earlier one, until a new candidate comes (rollback)."""
        with self._writing():
            generations.read_manifest(self._folder / generation)
            pin = json.dumps([generation, self.candidate()]).encode()
            files.replace(self._folder / generations.PIN, pin)
            generations.point(self._folder, generation)

    def pinned(self) -> tuple[str, str] | None:
        """The pinned generation and the candidate that was newest when it was pinned, or None."""
        return generations.pinned(self._folder)

    def mask(self, docs: frozenset[str]) -> None:
        """Hide exactly these documents in every retained generation, from the next request on."""
        path, data = self._folder / _MASK, json.dumps(sorted(docs)).encode()
        known = files.read_bytes(path)
        if known != data and (docs or known is not None):
            with self._writing():
                files.replace(path, data)

    def masked(self) -> frozenset[str]:
        """The documents that are hidden now; none where ``mask.json`` is damaged, which ``fault`` tells."""
        try:
            return self._masked()
        except StoreError:
            return frozenset()

    def expunge(self, docs: frozenset[str]) -> None:
        """Write the live generation and the candidate anew, from nothing, without the words and names of ``docs``, and
        remove all others: no byte of them is left in any."""
        with self._writing():
            whole = [name for name in {self.live(), self.candidate()} if name and not self.damage(name)]
            live, pinned = self.live(), self.pinned()
            taken = {name: self._without(docs, self._open(name)) for name in sorted(whole)}
            if live in taken:
                generations.point(self._folder, taken[live])
            if pinned and live in taken and pinned[0] == live:
                pin = [taken[live], taken.get(pinned[1], pinned[1])]
                files.replace(self._folder / generations.PIN, json.dumps(pin).encode())
            generations.collect(self._folder, taken.values())
        self.mask(self.masked() - docs)

    def _without(self, docs: frozenset[str], opened: Generation) -> str:
        """A copy of a generation as readers see it while ``docs`` are masked, less pages that cite them, whose words
        are a mixture; continued as the original would be."""
        shown = LocalSnapshot(opened, self._masked() | docs, opened.manifest.embedder).everything()
        citing = opened.cited.touching(docs) | opened.originated.touching(docs)
        mixed = set(opened.ids(np.flatnonzero(citing)))
        seen = [row for row in shown if row.kind == "item" or row.id not in mixed]
        vectors, found = opened.exact(opened.positions(keys([row.id for row in seen])))
        made_by = {"embedder": opened.manifest.embedder, "dim": opened.manifest.dim}
        stamp = self._stamp.model_copy(update=made_by)
        return self._write(None, _part(seen, vectors[found], found.tolist(), stamp.dim), keys(()), stamp)

    @contextmanager
    def snapshot(self, generation: str | None = None, *, gone: bool = False) -> Iterator[LocalSnapshot]:
        """Pin a generation (the live one by default) for a request. What it read stays readable when it is collected.
        ``gone`` has the documents in it that are masked.

        Raises ``NotFound`` where there is none, ``StoreError`` where it is damaged.
        """
        yield self._snapshot(generation, gone)

    def _snapshot(self, generation: str | None, gone: bool) -> LocalSnapshot:
        opened = self._open(generation) if generation else self._open_live()
        masked = frozenset[str]() if gone else self._masked()
        with self._guard:
            key = opened, masked, self._sources
            if key not in self._snapshots:
                self._snapshots[key] = self._seen(opened, masked)
            return _recent(self._snapshots, key, _SEEN)

    def _seen(self, opened: Generation, masked: frozenset[str]) -> LocalSnapshot:
        if self._sources is None:
            return LocalSnapshot(opened, masked, self._stamp.embedder)
        return NarrowedSnapshot(opened, masked, self._stamp.embedder, self._sources)

    def _open_live(self) -> Generation:
        """The live generation, whichever it is by the time that it is open: it can be collected in between."""
        for _ in range(_ATTEMPTS):
            name = generations.current(self._folder)
            if name is None:
                raise NotFound("there is no index yet.", where=str(self._folder), cure="Run `kb build`.")
            try:
                return self._open(name)
            except NotFound:
                continue
        raise StoreError(f"CURRENT names {name}, which is not there.", where=str(self._folder), cure="Run `kb build`.")

    def _open(self, name: str) -> Generation:
        """The generation, opened once while its folder is the same one (names return after a folder is removed)."""
        folder = self._folder / name
        key = name, _state(folder / generations.MANIFEST) or (0, 0, 0)
        with self._guard:
            if key not in self._opened:
                self._opened[key] = Generation(folder)
            return _recent(self._opened, key)

    def _fits(self, generation: Generation) -> bool:
        """Whether a generation can be continued: same analyser, embedder and schema."""
        stamp = {"analyser", "embedder", "dim", "schema_version"}
        return generation.manifest.model_dump(include=stamp) == self._stamp.model_dump(include=stamp)

    def _masked(self) -> frozenset[str]:
        """The documents of ``mask.json``, read again when it was replaced."""
        path = self._folder / _MASK
        state = _state(path)
        if state is None:
            return frozenset()
        with self._guard:
            if self._mask[0] != state:
                try:
                    self._mask = state, frozenset(map(str, _list(json.loads(path.read_bytes()))))
                except ValueError as error:
                    cure = "Run `kb build`, which writes it anew."
                    raise StoreError("is not a list of documents.", where=str(path), cure=cure) from error
            return self._mask[1]

    def _collect(self) -> None:
        pinned = self.pinned()
        found, pin = self.generations(), pinned[0] if pinned else None
        generations.collect(self._folder, generations.kept(found, self.live(), pin, self._retained))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One writer at a time, across threads and processes."""
        with self._writer, files.lease(self._folder / _LOCK):
            yield


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise ValueError("not a list")
    return value


def _state(path: Path) -> State | None:
    """What changes when a file is replaced; None where there is none."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size


def _recent(cache: OrderedDict[K, V], key: K, most: int = _OPENED) -> V:
    """The value of ``key``, now the most recent one; the oldest beyond ``most`` are forgotten."""
    cache.move_to_end(key)
    while len(cache) > most:
        cache.popitem(last=False)
    return cache[key]


def _part(rows: Sequence[Row], vectors: Vectors, vectored: Sequence[bool], dim: int) -> writing.Part:
    """Rows with vectors first; of one id the last."""
    given = Rows(to_table(rows))
    numbers = np.cumsum(np.asarray(vectored, np.bool_), dtype=np.int64) - 1
    last = {name: n for n, name in enumerate(given.values("id"))}.values()
    first = [n for n in last if vectored[n]]
    table = given.take([*first, *(n for n in last if not vectored[n])]).table
    known, wanted = np.asarray(vectors, np.float32).reshape(-1, dim), numbers[first]
    as_given = np.array_equal(wanted, np.arange(len(known)))  # as a first build gives all there are, which are large
    return writing.Part(table, known if as_given else known[wanted])
