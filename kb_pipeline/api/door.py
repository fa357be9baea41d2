"""One knowledge base for a process that serves many: who may come in, how often, and as whom.

Knows no protocol: a face brings what it was given as a token, and gets a ``Visitor`` or an error to show.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from kb_pipeline.api.access import Unknown
from kb_pipeline.api.knowledge_base import KnowledgeBase
from kb_pipeline.api.visiting import LOCAL, Visitor
from kb_pipeline.errors import KbError, SettingsError
from kb_pipeline.records import UserKind
from kb_pipeline.store.files import FileState, file_state

_LOG = logging.getLogger(__name__)
_FILES = ("sources.yaml", "taxonomy.yaml", ".env")


class TooMany(KbError):
    """More requests than a token may make: ``seconds`` until the next one may come."""

    code = "too-many"

    def __init__(self, name: str, rpm: int, seconds: float) -> None:
        self.seconds = seconds
        cure = f"Wait {seconds:.0f} s, or raise token_rpm in sources.yaml."
        super().__init__(f"'{name}' asked more than {rpm} times a minute.", where="rate", cure=cure)


class Door:
    """The door to the knowledge base below ``root``. Where it is ``ajar``, whoever brings no token comes in as the one
    who sits at this machine: meant for loopback alone.

    Safe for threads. Edited settings count from the next request on; while they are broken, the last good ones do.
    """

    def __init__(
        self,
        root: Path,
        environ: Mapping[str, str] | None = None,
        *,
        ajar: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._root, self._environ, self._ajar, self._clock = root, environ, ajar, clock
        self._guard = threading.Lock()
        self._stamp = self._stamped()
        self._base = KnowledgeBase(root, environ)
        self._left: list[KnowledgeBase] = []
        self._buckets: dict[str, tuple[float, float]] = {}

    @property
    def base(self) -> KnowledgeBase:
        """The knowledge base with its settings as they are now; requests under way keep theirs."""
        with self._guard:
            stamp = self._stamped()
            if stamp != self._stamp:
                self._stamp = stamp
                try:
                    fresh = KnowledgeBase(self._root, self._environ)
                except SettingsError as error:
                    _LOG.error("the settings are broken, the last good ones stay in force:\n%s", error)
                else:
                    self._left.append(self._base)
                    self._base = fresh
            return self._base

    def warm(self) -> None:
        """Load model and index in a thread of its own, so that the first question does not wait for them."""

        def load() -> None:
            with suppress(KbError):
                self.base.search("warm", k=1)

        threading.Thread(target=load, daemon=True).start()

    def admit(self, secret: str | None, *, face: str, kind: UserKind) -> Visitor:
        """Whoever brings ``secret``, come through ``face``. Raises ``Unknown`` or ``TooMany``."""
        base = self.base
        if not secret:
            if self._ajar:
                return Visitor(base, LOCAL, face, kind)
            cure = "Send 'Authorization: Bearer TOKEN', or sign in; kb token add makes tokens."
            raise Unknown("a token is needed.", where="Authorization", cure=cure)
        principal = base.admit(secret)
        self._count(principal.name, base.settings.options.token_rpm)
        return Visitor(base, principal, face, kind)

    def _count(self, name: str, rpm: int) -> None:
        """A bucket a token: it holds a minute's requests at most, and fills evenly."""
        with self._guard:
            now = self._clock()
            tokens, since = self._buckets.get(name, (float(rpm), now))
            tokens = min(float(rpm), tokens + (now - since) * rpm / 60)
            if tokens < 1:
                raise TooMany(name, rpm, (1 - tokens) * 60 / rpm + 0.5)
            self._buckets[name] = tokens - 1, now

    def _stamped(self) -> tuple[FileState | None, ...]:
        return tuple(file_state(self._root / name) for name in _FILES)

    def close(self) -> None:
        """Close what was opened, once no request is under way."""
        for base in (*self._left, self._base):
            base.close()
