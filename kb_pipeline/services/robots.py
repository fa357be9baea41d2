"""robots.txt (RFC 9309): may this page be fetched, and how long must one wait? Knows rules, not HTTP."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from protego import Protego

from kb_pipeline.errors import SourceUnavailable
from kb_pipeline.world import Response

_MAX_BYTES = 500 * 1024  # RFC 9309, 2.5: at least this much must be read
_MAX_SITES = 256
_KEEP, _KEEP_FAILURE = 3600.0, 300.0  # seconds; RFC 9309 allows a day
_LATER = "It is tried again at the next refresh."
_MAX_DELAY = 10.0  # seconds; a site that asks for more is asked for fewer pages by its robots.txt than by us


@dataclass
class _Site:
    """One site's rules until ``expires``, or why they could not be read and what helps."""

    rules: Protego | None
    expires: float
    refusal: str = ""
    cure: str = _LATER
    last: float = field(default=float("-inf"))


class Robots:
    """The robots.txt of each site asked, kept an hour, at most 256 sites.

    ``read(url, max_bytes)`` fetches one, whatever its status. Where there is none (4xx) everything is allowed; where
    the server fails (5xx, 429, no answer) nothing is.
    """

    def __init__(
        self, product: str, read: Callable[[str, int], Response], sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._product, self._read, self._sleep = product, read, sleep
        self._sites: OrderedDict[str, _Site] = OrderedDict()

    def check(self, url: str) -> None:
        """Raises ``SourceUnavailable`` where the site's robots.txt forbids ``url``."""
        site = self._site(url)
        site.last = time.monotonic()
        if site.rules is None:
            what = f"robots.txt cannot be read ({site.refusal}), which forbids every page."
            raise SourceUnavailable(what, where=url, cure=site.cure)
        if not site.rules.can_fetch(url, self._product):
            cure = f"Ask the site to allow {self._product}, or leave the page out."
            raise SourceUnavailable("robots.txt forbids it.", where=url, cure=cure)

    def wait(self, url: str) -> None:
        """Sleep as long as the site's ``Crawl-delay`` still asks for since its last page, 10 seconds at most."""
        site = self._sites.get(_origin(url))
        if site is None or site.rules is None:
            return
        delay = min(site.rules.crawl_delay(self._product) or 0.0, _MAX_DELAY)
        left = site.last + delay - time.monotonic()
        if left > 0:
            self._sleep(left)

    def _site(self, url: str) -> _Site:
        origin = _origin(url)
        site = self._sites.pop(origin, None)
        if site is None or site.expires < time.monotonic():
            site = self._fetched(origin)
        self._sites[origin] = site
        if len(self._sites) > _MAX_SITES:
            self._sites.popitem(last=False)
        return site

    def _fetched(self, origin: str) -> _Site:
        now = time.monotonic()
        try:
            response = self._read(f"{origin}/robots.txt", _MAX_BYTES)
        except SourceUnavailable as error:
            return _Site(None, now + _KEEP_FAILURE, error.what.rstrip("."), error.cure)
        if response.status >= 500 or response.status == 429:
            return _Site(None, now + _KEEP_FAILURE, f"the server answered {response.status}")
        text = response.content.decode("utf-8", "replace") if 200 <= response.status < 300 else ""
        return _Site(Protego.parse(text), now + _KEEP)


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()
