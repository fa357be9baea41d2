"""What ``fetcher`` does once a page is asked for: requests, redirects and limits over httpx2."""

from collections.abc import Callable, Iterator, Mapping
from urllib.parse import urljoin

import httpcore2
import httpx2

from kb_pipeline.errors import PageGone, SourceUnavailable
from kb_pipeline.services.addresses import CheckedBackend, Refused, Resolve, deadline, expired
from kb_pipeline.services.fetcher import PRODUCT, Limits
from kb_pipeline.services.robots import Robots
from kb_pipeline.sources.urls import normal, shown
from kb_pipeline.world import Response

_MAX_ERROR_BYTES = 64 * 1024
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_GONE = frozenset((404, 410))
_CODINGS = frozenset(("identity", "", "gzip", "x-gzip", "deflate"))
_ACCEPT = "text/html,application/xhtml+xml,text/markdown,text/plain,application/pdf,*/*;q=0.8"

_LEAVE_OUT = "Leave the page out, or put the file in a local source."
_TIMEOUTS = (httpx2.TimeoutException, httpcore2.TimeoutException)
_FAILURES = (
    *_TIMEOUTS,
    httpx2.HTTPError,
    httpx2.InvalidURL,
    httpx2.StreamError,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.UnsupportedProtocol,
)

_CURES: Mapping[int, str] = {
    401: "The page needs a login: fetch it another way, or leave it out.",
    403: "The site refuses automatic readers: ask its owner, or leave it out.",
    404: "Correct the URL, or leave it out.",
    410: "Leave it out.",
    429: "The site is asked too often: choose a longer refresh.",
}


class Session:
    """Connections to public addresses, or to all, and the robots.txt of the sites behind them."""

    def __init__(
        self, limits: Limits, user_agent: str, allow_private: bool, resolve: Resolve, sleep: Callable[[float], None]
    ) -> None:
        self._limits = limits
        self._robots = Robots(PRODUCT, self._robots_txt, sleep)
        self._client = httpx2.Client(
            transport=_Transport(CheckedBackend(resolve, allow_private)),
            headers={"User-Agent": user_agent, "Accept": _ACCEPT, "Accept-Encoding": "gzip, deflate"},
            timeout=httpx2.Timeout(limits.read_seconds, connect=limits.connect_seconds),
            follow_redirects=False,
            trust_env=False,
        )

    def get(self, url: str, etag: str | None, last_modified: str | None) -> Response:
        """See ``world.Fetcher.get``."""
        asked = {"If-None-Match": etag, "If-Modified-Since": last_modified}
        headers = {name: value for name, value in asked.items() if value}
        self._robots.wait(url)
        with deadline(self._limits.total_seconds):
            response = self._follow(url, headers, self._robots.check, self._limits.max_bytes)
        if response.status == 304 and headers:
            return response
        if not 200 <= response.status < 300:
            kind = PageGone if response.status in _GONE else SourceUnavailable
            cure = _CURES.get(response.status, "It is tried again at the next refresh.")
            raise kind(f"the server answered {response.status}.", where=url, cure=cure)
        return response

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _robots_txt(self, url: str, max_bytes: int) -> Response:
        return self._follow(url, {}, lambda url: None, max_bytes, cut=True)

    def _follow(
        self, url: str, headers: Mapping[str, str], check: Callable[[str], None], max_bytes: int, cut: bool = False
    ) -> Response:
        """The response at the end of the redirects; ``check`` may raise at every hop."""
        self._client.cookies.clear()  # the order of pages must not matter
        first = url
        for _ in range(self._limits.redirects + 1):
            _check_url(url, first)
            check(url)
            try:
                with self._client.stream("GET", url, headers=headers) as response:
                    read = self._read(url, response, max_bytes, cut)
                    target = response.headers.get("location", "")
            except _FAILURES as error:
                raise _unreachable(error, first) from error
            if read.status not in _REDIRECTS or not target:
                return read
            url = urljoin(url, target)
        what = f"more than {self._limits.redirects} redirects."
        raise SourceUnavailable(what, where=first, cure="Name the page they lead to.")

    def _read(self, url: str, response: httpx2.Response, max_bytes: int, cut: bool) -> Response:
        """The whole response. Of one without success only the start is read, so that the connection can be kept."""
        if not response.is_success:
            max_bytes, cut = _MAX_ERROR_BYTES, True
        content = bytearray()
        for piece in _pieces(response, url):
            content += piece
            if len(content) > max_bytes:
                if cut:
                    break
                raise SourceUnavailable(f"more than {max_bytes / 2**20:g} MB.", where=url, cure=_LEAVE_OUT)
        return Response(
            url=url,
            status=response.status_code,
            content=bytes(content[:max_bytes]),
            media_type=_media_type(response.headers.get("content-type", "")),
            etag=response.headers.get("etag"),
            last_modified=response.headers.get("last-modified"),
        )


def _pieces(response: httpx2.Response, url: str) -> Iterator[bytes]:
    """The body unpacked, a megabyte at most at once, until the deadline."""
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding not in _CODINGS:
        raise SourceUnavailable(f"comes in the encoding {coding!r}, not asked for.", where=url, cure=_LEAVE_OUT)
    for piece in response.iter_bytes():
        if expired():
            raise httpx2.ReadTimeout("out of time")
        yield piece


class _Transport(httpx2.BaseTransport):
    """httpx2's requests over a pool whose connections are made by a backend of ours."""

    def __init__(self, backend: httpcore2.NetworkBackend) -> None:
        self._pool = httpcore2.ConnectionPool(
            ssl_context=httpx2.create_ssl_context(trust_env=False),
            max_connections=10,
            keepalive_expiry=5.0,
            network_backend=backend,
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send ``request``. Raises the errors of httpcore2."""
        assert isinstance(request.stream, httpx2.SyncByteStream)
        url = request.url
        sent = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        got = self._pool.handle_request(sent)
        return httpx2.Response(got.status, headers=got.headers, stream=_Body(got), extensions=got.extensions)

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


class _Body(httpx2.SyncByteStream):
    def __init__(self, response: httpcore2.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        return self._response.iter_stream()

    def close(self) -> None:
        """Give the connection back."""
        self._response.close()


def _check_url(url: str, first: str) -> None:
    try:
        normal(url)
    except ValueError as error:
        via = "" if url == first else f"redirects to {shown(url)}, which "
        raise SourceUnavailable(f"{via}{error}.", where=shown(first), cure="Name another URL.") from error


def _unreachable(error: Exception, url: str) -> SourceUnavailable:
    if isinstance(error, Refused):
        cure = "If you trust that server, set options: {allow_private: true} for the source."
        return SourceUnavailable(f"{error}.", where=url, cure=cure)
    told = "took too long" if isinstance(error, _TIMEOUTS) else str(error) or type(error).__name__
    return SourceUnavailable(f"cannot be fetched: {told}.", where=url, cure="It is tried again at the next refresh.")


def _media_type(header: str) -> str:
    """``text/html; charset=…`` in one spelling; other parameters are dropped."""
    kind, *parameters = (part.strip() for part in header.lower().split(";"))
    charset = next((p for p in parameters if p.startswith("charset=")), "")
    return "; ".join(filter(None, (kind, charset.replace('"', ""))))
