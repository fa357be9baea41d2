"""What stood under each key of a stage (and source) at some version of its manifest. Knows nobody who looked at it.

One file a version, ``kb/cache/versions/<stage>.<source>.<version>.json``, shared by all stages and checks that saw that
version. Losing one costs time only: what differs from it cannot be told, so everything counts as new.
"""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from kb_pipeline.store.files import read_bytes, remove, replace
from kb_pipeline.store.manifests import Manifest

Named = tuple[str, str]  # the name of a manifest, as its owner chooses, and one of its versions


class Snapshots:
    """Snapshots under ``folder``. What was read, and what was found to differ, is remembered."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[Named, Mapping[str, str]] = {}
        self._moved: dict[tuple[Named, str], frozenset[str]] = {}

    def keep(self, name: str, manifest: Manifest) -> None:
        """Keep what stands in ``manifest`` now, which ``name`` stands for."""
        path = self._path((name, manifest.version()))
        if not path.exists():
            replace(path, json.dumps(manifest.versions, separators=(",", ":")).encode(), durable=False)

    def moved(self, name: str, then: str | None, manifest: Manifest | None) -> frozenset[str] | None:
        """The keys that were added, changed or removed between the version ``then`` and ``manifest`` (None of either:
        nothing stood, or stands, there); None where that is not known."""
        now = manifest.versions if manifest else {}
        if then is None:
            return frozenset(now)
        if manifest and manifest.version() == then:
            return frozenset()
        pair = (name, then), manifest.version() if manifest else ""
        if pair not in self._moved:
            before = self._known((name, then))
            if before is None:
                return None
            both = now.keys() & before.keys()
            changed = (key for key in both if now[key] != before[key])
            self._moved[pair] = frozenset(changed) | (now.keys() ^ before.keys())
        return self._moved[pair]

    def collect(self, wanted: Collection[Named]) -> int:
        """Drop all but ``wanted``; how many."""
        kept = set(map(_file, wanted))
        return remove([path for path in self._folder.glob("*.json") if path.name not in kept], self._folder)

    def forget(self, keys: frozenset[str]) -> int:
        """Drop every snapshot in which one of ``keys`` stands; how many."""
        held = (path for path in self._folder.glob("*.json") if not keys.isdisjoint(_parsed(path) or ()))
        self._read.clear()
        self._moved.clear()
        return remove(list(held), self._folder)

    def _known(self, named: Named) -> Mapping[str, str] | None:
        if named not in self._read:
            found = _parsed(self._path(named))
            if found is None:
                return None
            self._read[named] = found
        return self._read[named]

    def _path(self, named: Named) -> Path:
        return self._folder / _file(named)


def _parsed(path: Path) -> Mapping[str, str] | None:
    """What a snapshot holds; None where it is damaged or gone."""
    try:
        found: Any = json.loads(read_bytes(path) or b"null")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _file(named: Named) -> str:
    return f"{named[0]}.{named[1]}.json"
