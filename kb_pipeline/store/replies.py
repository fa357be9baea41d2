"""Models' replies on disk by key: ``kb/replies/<2 hex>/<rest>.json``, tracked in git. Knows nothing of what they say.

What was paid once is replayed, on this machine and on every clone. A reply is one JSON object; a file that is none
(torn, or full of conflict marks) counts as no reply, so that it is asked for again.
"""

import json
import re
from pathlib import Path

from kb_pipeline.store.files import read_bytes, replace

_KEY = re.compile(r"[0-9a-f]{8,64}")


class Replies:
    """``world.Replies`` under ``folder``. Safe for threads and processes: equal keys have equal replies."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> str | None:
        """The kept reply, or None where there is none that can be read."""
        data = read_bytes(self._path(key))
        try:
            text = (data or b"").decode()
            return text.rstrip("\n") if isinstance(json.loads(text), dict) else None
        except ValueError:
            return None

    def put(self, key: str, reply: str) -> None:
        """Keep a reply, a JSON object, on disk before this returns. Raises ``StoreError`` where it cannot."""
        replace(self._path(key), reply.encode() + b"\n")

    def _path(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise ValueError(f"not a key: {key!r}")
        return self._folder / key[:2] / f"{key[2:]}.json"
