"""What the last commits wrote: the stages and checks that follow in one build need not open those files again.

Held as bytes, a fourth of what the records take, and for one build: what nobody else may write meanwhile. Each file is
looked at once, when it is first asked for: one that is not as its commit left it is a person's, and is read from disk.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from kb_pipeline.store.files import Stat, stat_of

_MOST = 256_000_000  # bytes held; what is beyond is read from disk


class Written:
    """Bytes by path below ``folder``, within ``holding`` alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._builds = 0
        self._unseen: dict[str, Stat] = {}
        self._held: dict[str, bytes] = {}

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Hold what is kept, until the outermost such block ends."""
        self._builds += 1
        try:
            yield
        finally:
            self._builds -= 1
            if not self._builds:
                self._held, self._unseen = {}, {}

    def keep(self, below: str, files: Mapping[str, Stat], data: Mapping[str, bytes]) -> None:
        """Hold the ``data`` of ``files`` in place of whatever is held of the folder ``below``."""
        self._held = {path: held for path, held in self._held.items() if not path.startswith(below)}
        self._unseen = {path: stat for path, stat in self._unseen.items() if path in self._held}
        room = (_MOST if self._builds else 0) - sum(map(len, self._held.values()))
        for path, stat in files.items():
            room -= len(data[path])
            if room < 0:
                break
            self._held[path], self._unseen[path] = data[path], stat

    def get(self, path: str) -> bytes | None:
        """The bytes that stand at ``path``; None where that is not known."""
        stat = self._unseen.pop(path, None)
        if stat is not None and stat != stat_of(f"{self._folder}/{path}"):
            del self._held[path]
        return self._held.get(path)
