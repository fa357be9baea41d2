"""HTTP for connectors: polite, bounded and unable to reach what is private. Knows no source and no manifest."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kb_pipeline import __version__
from kb_pipeline.world import Response

if TYPE_CHECKING:
    from kb_pipeline.services.http import Session

PRODUCT = "kb-pipeline"
USER_AGENT = f"{PRODUCT}/{__version__}"


@dataclass(frozen=True)
class Limits:
    """What a page may cost: bytes after decompression, redirects, and seconds, ``total_seconds`` in all."""

    max_bytes: int = 20 * 1024 * 1024
    redirects: int = 5
    connect_seconds: float = 10.0
    read_seconds: float = 20.0
    total_seconds: float = 60.0


class HttpFetcher:
    """``world.Fetcher`` over HTTP/1.1.

    robots.txt is honoured for ``PRODUCT``. Every redirect is checked like the first request. Only public addresses
    are contacted, unless ``allow_private``. No cookie outlives a page; proxies of the environment are not used, since
    they would resolve names unchecked.

    ``resolve`` maps host and port to IP addresses (the system's way by default), ``sleep`` waits between pages where
    robots.txt asks for it. HTTP is loaded with the first page: most builds fetch none.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        user_agent: str = USER_AGENT,
        resolve: Callable[[str, int], list[str]] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._limits, self._user_agent = limits or Limits(), user_agent
        self._resolve, self._sleep = resolve, sleep
        self._sessions: dict[bool, Session] = {}

    def get(
        self, url: str, *, etag: str | None = None, last_modified: str | None = None, allow_private: bool = False
    ) -> Response:
        """Fetch ``url``, unless it is still what ``etag`` and ``last_modified`` say (then status 304, no content).

        Raises ``PageGone`` for 404 and 410, ``SourceUnavailable`` for all else but 2xx and 304.
        """
        return self._session(allow_private).get(url, etag, last_modified)

    def close(self) -> None:
        """Close all connections; a later ``get`` opens new ones."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()

    def _session(self, allow_private: bool) -> "Session":
        if allow_private not in self._sessions:
            from kb_pipeline.services.addresses import resolve
            from kb_pipeline.services.http import Session

            self._sessions[allow_private] = Session(
                self._limits, self._user_agent, allow_private, self._resolve or resolve, self._sleep
            )
        return self._sessions[allow_private]
