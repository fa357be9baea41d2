"""What a stage or a check reads of the stages above it, and what of it differs from what it saw when it last ran."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import Any

from kb_pipeline.errors import StoreError
from kb_pipeline.records import RawEntry, Record
from kb_pipeline.rules import ids
from kb_pipeline.rules.written import HUMAN
from kb_pipeline.runner.context import Run
from kb_pipeline.stages import PIPELINE
from kb_pipeline.store.commits import FAULT
from kb_pipeline.store.manifests import Entry, Manifest
from kb_pipeline.world import Changes

_VIEWS = {"normalized": "meta"}  # what a whole stage reads of a document is its meta data
_ALL = ""  # in place of a source, where a stage has one manifest

Versions = dict[str, dict[str, str]]  # of each stage, and of each of its sources


class Upstream:
    """The records of the stages above, of registered sources (or of one), read on demand; originals go by document
    id."""

    def __init__(
        self, run: Run, needs: tuple[str, ...], views: Mapping[str, str] = _VIEWS, source: str | None = None
    ) -> None:
        self._run, self._views = run, views
        self._manifests: dict[str, dict[str, Manifest]] = {
            need: {m.source if PIPELINE[need].per_source else _ALL: m for m in run.manifests(need, source)}
            for need in needs
        }

    def keys(self, stage: str) -> list[str]:
        """Sorted keys that ``stage`` holds now."""
        held = self._manifests[stage].items()
        if stage == "raw":
            return sorted(_key(stage, source, key) for source, manifest in held for key in manifest.versions)
        return sorted(chain.from_iterable(manifest.versions for _, manifest in held))

    def records(self, stage: str, key: str) -> tuple[Record, ...]:
        """The records under one key; empty where there are none."""
        entry = self._entry(stage, key)
        if entry is None:
            return ()
        return (RawEntry(**entry.info),) if stage == "raw" else self._run.kb.read(self._views.get(stage, stage), entry)

    def encoded(self, stage: str, key: str) -> bytes:
        """The bytes of the file that holds the records under one key, for a worker to decode; empty where there are
        none. Raises ``StoreError`` where it is gone."""
        entry = self._entry(stage, key)
        return self._run.kb.encoded(self._views.get(stage, stage), entry) if entry else b""

    def broken(self, stage: str, key: str) -> bool:
        """Whether a person's edit left the file under ``key`` so that it cannot stand, or removed it since it was
        published."""
        entry = self._entry(stage, key)
        if entry is not None and FAULT in entry.info:
            return True
        if entry is None or not entry.edited:
            return entry is not None and not self._run.kb.present(entry)
        try:
            self._run.kb.read(stage, entry)
        except StoreError:
            return True
        return False

    def faults(self, stage: str) -> Mapping[str, str]:
        """What is wrong, by key, with files that people wrote or edited."""
        own = {HUMAN, _ALL}
        entries = [e for source, held in self._manifests[stage].items() if source in own for e in held]
        return {e.key: str(e.failed or e.info[FAULT]) for e in entries if e.failed or FAULT in e.info}

    def _entry(self, stage: str, key: str) -> Entry | None:
        if stage == "raw":
            return self._originals.get(key)
        held = self._manifests[stage].get(key.partition("/")[0] if PIPELINE[stage].per_source else _ALL)
        entry = held.get(key) if held else None
        return entry if entry and entry.live else None

    @cached_property
    def _originals(self) -> dict[str, Entry]:
        held = self._manifests["raw"].items()
        return {_key("raw", source, entry.key): entry for source, manifest in held for entry in manifest.live()}

    @property
    def versions(self) -> Versions:
        """The version of each manifest that is read."""
        return {need: {s: m.version() for s, m in held.items()} for need, held in self._manifests.items()}

    def keep(self) -> None:
        """Keep what stands in each manifest, so that a later run can tell what differs."""
        for need, source, manifest in self._each():
            self._run.kb.snapshots.keep(_name(need, source), manifest)

    def moved(self, then: Versions) -> dict[str, frozenset[str]] | None:
        """The keys of each stage that were added, changed or removed since its manifests had the versions ``then``;
        None where that is not known."""
        found: dict[str, frozenset[str]] = {}
        for need, held in self._manifests.items():
            if need not in then:
                return None
            before, keys = then[need], set[str]()
            for source in held.keys() | before.keys():
                manifest = held.get(source)
                moved = self._run.kb.snapshots.moved(_name(need, source), before.get(source), manifest)
                if moved is None:
                    return None
                keys.update(moved if need != "raw" else (_key(need, source, key) for key in moved))
            found[need] = frozenset(keys)
        return found

    def _each(self) -> Iterator[tuple[str, str, Manifest]]:
        for need, held in self._manifests.items():
            for source, manifest in held.items():
                yield need, source, manifest


def changed(run: Run, name: str, inputs: Upstream, recipe: str, own: str) -> Changes:
    """What differs from what ``name`` saw when it last ran here, with this recipe, and left ``own``."""
    seen = run.kb.state(f"seen/{name}")
    known = seen.get("recipe") == recipe and seen.get("own") == own and not run.full
    moved = inputs.moved(_needs(seen)) if known else None
    if moved is None:
        return Changes(touched={need: frozenset(inputs.keys(need)) for need in inputs.versions}, everything=True)
    return Changes(touched=moved, everything=False)


def saw(run: Run, name: str, inputs: Upstream, recipe: str, own: str) -> None:
    """Record what ``name`` saw, so that its next run starts from here."""
    inputs.keep()
    run.kb.keep_state(f"seen/{name}", {"recipe": recipe, "own": own, "needs": inputs.versions})


def forget_unseen(run: Run) -> None:
    """Drop the snapshots of what nothing and nobody saw last."""
    seen = [_needs(run.kb.state(f"seen/{name}")) for name in run.kb.states("seen")]
    held = (
        (_name(need, source), v) for needs in seen for need, versions in needs.items() for source, v in versions.items()
    )
    run.kb.snapshots.collect(frozenset(held))


def _needs(seen: Mapping[str, Any]) -> Versions:
    """The versions that were recorded as seen; none where the record is damaged."""
    needs = seen.get("needs")
    if not isinstance(needs, dict) or not all(isinstance(held, dict) for held in needs.values()):
        return {}
    return {need: {source: str(version) for source, version in held.items()} for need, held in needs.items()}


def _key(stage: str, source: str, key: str) -> str:
    return ids.doc_id(source, key) if stage == "raw" else key


def _name(stage: str, source: str) -> str:
    return f"{stage}.{source}"
