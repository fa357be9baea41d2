"""HTTP with limits, against a server on loopback."""

import gzip
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kb_pipeline.errors import PageGone, SourceUnavailable
from kb_pipeline.services.addresses import is_public
from kb_pipeline.services.fetcher import HttpFetcher, Limits
from kb_pipeline_tests.loopback import Reply, Site, serve


@pytest.fixture
def site() -> Iterator[Site]:
    """A server on loopback with no pages, and so no robots.txt."""
    with serve() as site:
        yield site


@pytest.fixture
def fetcher() -> Iterator[HttpFetcher]:
    """A fetcher with small limits, so that tests meet them soon."""
    fetcher = HttpFetcher(Limits(max_bytes=100_000, total_seconds=2, read_seconds=1))
    yield fetcher
    fetcher.close()


def get(fetcher: HttpFetcher, url: str, **options: Any) -> bytes:
    return fetcher.get(url, allow_private=True, **options).content


def test_a_page_arrives_with_its_validators(site: Site, fetcher: HttpFetcher) -> None:
    """Content, media type with charset, ETag and Last-Modified are returned, and the product names itself."""
    site.pages["/a"] = Reply(
        b"hello", headers={"Content-Type": 'Text/HTML; x=1; Charset="ISO-8859-1"', "ETag": '"1"', "Last-Modified": "x"}
    )
    response = fetcher.get(f"{site.url}/a", allow_private=True)
    assert (response.content, response.status, response.url) == (b"hello", 200, f"{site.url}/a")
    assert (response.media_type, response.etag, response.last_modified) == ("text/html; charset=iso-8859-1", '"1"', "x")
    assert site.requests[-1][1]["user-agent"].startswith("kb-pipeline/")


def test_an_unchanged_page_is_not_sent_again(site: Site, fetcher: HttpFetcher) -> None:
    """ETag and Last-Modified of the last fetch make the server answer 304 without content."""
    site.page("/a", "hello", ETag='"1"', Last_Modified="Mon, 02 Feb 2026 00:00:00 GMT")
    for validator in ({"etag": '"1"'}, {"last_modified": "Mon, 02 Feb 2026 00:00:00 GMT"}):
        response = fetcher.get(f"{site.url}/a", allow_private=True, **validator)
        assert (response.status, response.content) == (304, b"")
    assert get(fetcher, f"{site.url}/a", etag='"0"') == b"hello"


def test_an_unasked_304_is_an_error(site: Site, fetcher: HttpFetcher) -> None:
    """A server that says "not modified" to a first request gives no page."""
    site.pages["/a"] = Reply(status=304)
    with pytest.raises(SourceUnavailable, match="304"):
        get(fetcher, f"{site.url}/a")


def test_gone_is_told_apart_from_failing(site: Site, fetcher: HttpFetcher) -> None:
    """404 and 410 say that the page is no more; anything else but 2xx that it cannot be had now."""
    for status in (404, 410):
        site.pages["/a"] = Reply(status=status)
        with pytest.raises(PageGone, match=str(status)):
            get(fetcher, f"{site.url}/a")
    for status in (401, 403, 429, 500, 503):
        site.pages["/a"] = Reply(status=status)
        with pytest.raises(SourceUnavailable, match=str(status)) as caught:
            get(fetcher, f"{site.url}/a")
        assert not isinstance(caught.value, PageGone)
        assert caught.value.cure


def test_redirects_are_followed_five_times(site: Site, fetcher: HttpFetcher) -> None:
    """Five redirects lead to the page, which tells its own URL; the sixth, and so a loop, is an error."""
    for i in range(6):
        site.pages[f"/{i}"] = Reply(status=302, headers={"Location": f"/{i + 1}"})
    site.page("/6", "there")
    assert fetcher.get(f"{site.url}/1", allow_private=True).url == f"{site.url}/6"
    with pytest.raises(SourceUnavailable, match="more than 5 redirects"):
        get(fetcher, f"{site.url}/0")
    site.pages["/loop"] = Reply(status=301, headers={"Location": "/loop"})
    with pytest.raises(SourceUnavailable, match="more than 5 redirects"):
        get(fetcher, f"{site.url}/loop")


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://example.com/", "http://user:pw@127.0.0.1/"])
def test_redirects_cannot_leave_http(site: Site, fetcher: HttpFetcher, target: str) -> None:
    """A redirect to another scheme, or to one with credentials is refused."""
    site.pages["/a"] = Reply(status=302, headers={"Location": target})
    with pytest.raises(SourceUnavailable):
        get(fetcher, f"{site.url}/a")
    assert site.asked() == ["/a"]


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "gopher://x/", "http://u:p@example.com/", "example.com", "http:///x"]
)
def test_only_plain_web_addresses_are_fetched(fetcher: HttpFetcher, url: str) -> None:
    """Other schemes and URLs with credentials are refused before any connection, and no password is shown."""
    with pytest.raises(SourceUnavailable) as caught:
        get(fetcher, url)
    assert "u:p" not in str(caught.value)


def test_cookies_do_not_travel_between_pages(site: Site, fetcher: HttpFetcher) -> None:
    """What one page sets, the next does not send: the order of pages cannot matter."""
    site.page("/a", "a", Set_Cookie="seen=1; Path=/")
    get(fetcher, f"{site.url}/a")
    get(fetcher, f"{site.url}/a")
    assert "cookie" not in site.requests[-1][1]


def test_http_is_loaded_with_the_first_page() -> None:
    """A build that fetches nothing does not pay for importing HTTP."""
    code = (
        "import sys, kb_pipeline.sources, kb_pipeline.services.fetcher as f; f.HttpFetcher().close();"
        "print([m for m in ('httpx2', 'httpcore2', 'protego') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


# --- limits ------------------------------------------------------------------------------------------------------


def test_a_page_that_is_too_large_is_refused(site: Site, fetcher: HttpFetcher) -> None:
    """The limit holds for what arrives, whatever the headers promise."""
    site.pages["/a"] = Reply(b"x" * 100_001)
    with pytest.raises(SourceUnavailable, match="more than"):
        get(fetcher, f"{site.url}/a")
    site.pages["/b"] = Reply(b"x" * 100_000)
    assert len(get(fetcher, f"{site.url}/b")) == 100_000


def test_a_decompression_bomb_is_refused(site: Site, fetcher: HttpFetcher) -> None:
    """The limit holds after decompression, and nested or unknown codings are not unpacked at all."""
    bomb = gzip.compress(b"\0" * 50_000_000)
    assert len(bomb) < 100_000
    site.pages["/a"] = Reply(bomb, headers={"Content-Encoding": "gzip"})
    with pytest.raises(SourceUnavailable, match="more than"):
        get(fetcher, f"{site.url}/a")
    for coding in ("gzip, gzip", "br", "zstd"):
        site.pages["/b"] = Reply(gzip.compress(bomb), headers={"Content-Encoding": coding})
        with pytest.raises(SourceUnavailable, match="encoding"):
            get(fetcher, f"{site.url}/b")


def test_broken_compression_is_an_error(site: Site, fetcher: HttpFetcher) -> None:
    """A body that is not what its coding says is an unavailable page, not a traceback."""
    site.pages["/a"] = Reply(b"not gzip at all", headers={"Content-Encoding": "gzip"})
    with pytest.raises(SourceUnavailable):
        get(fetcher, f"{site.url}/a")


def _drip(start: bytes, piece: bytes) -> Any:
    def send(out: Any) -> None:
        out.write(start)
        for _ in range(200):
            out.write(piece)
            out.flush()
            time.sleep(0.05)

    return send


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n"),
        (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\nContent-Encoding: gzip\r\n\r\n", gzip.compress(b"")),
    ],
    ids=["body", "headers", "hints", "empty gzip members"],
)
def test_a_slow_server_cannot_hold_the_run(site: Site, start: bytes, piece: bytes) -> None:
    """A server that sends a little now and then is given up at the total limit, whatever it is sending."""
    fetcher = HttpFetcher(Limits(total_seconds=0.5, read_seconds=30))
    site.pages["/a"] = Reply(send=_drip(start, piece))
    with pytest.raises(SourceUnavailable, match="took too long"):
        get(fetcher, f"{site.url}/a")
    fetcher.close()


@pytest.mark.parametrize(
    "sent",
    [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort"],
    ids=["none", "junk", "cut"],
)
def test_a_broken_answer_is_an_error(site: Site, fetcher: HttpFetcher, sent: bytes) -> None:
    """No answer, no HTTP and a body cut short are unavailable pages: a part is never taken for the whole."""
    site.pages["/a"] = Reply(send=lambda out: out.write(sent))
    with pytest.raises(SourceUnavailable, match="cannot be fetched"):
        get(fetcher, f"{site.url}/a")


def test_nobody_listening_is_an_error(fetcher: HttpFetcher) -> None:
    """A refused connection says so, with the cure."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(SourceUnavailable, match="tried again") as caught:
            get(fetcher, f"http://127.0.0.1:{taken.getsockname()[1]}/")
    assert caught.value.code == "source-unavailable"


# --- private addresses -------------------------------------------------------------------------------------------

PRIVATE = [
    "127.0.0.1",
    "127.8.8.8",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "192.0.2.1",
    "198.18.0.1",
    "::1",
    "::",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a00:1",
    "2002:7f00:1::",
    "2001:0:7f00:1::",
]
PUBLIC = ["93.184.216.34", "1.1.1.1", "2606:4700:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_are_known(address: str) -> None:
    """Every range that does not belong to the public internet is refused, also inside an IPv6 address."""
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_known(address: str) -> None:
    """Public addresses are allowed, also where IPv6 carries them."""
    assert is_public(address)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1", "[::1]", "[::ffff:127.0.0.1]"]
)
def test_private_hosts_are_refused_however_written(site: Site, fetcher: HttpFetcher, host: str) -> None:
    """No spelling of a loopback address reaches the server, and the message names the option that allows it."""
    with pytest.raises(SourceUnavailable):
        fetcher.get(f"http://{host}:{site.port}/")
    assert site.requests == []


def test_the_cure_names_the_option(site: Site, fetcher: HttpFetcher) -> None:
    """A refused address says how to allow it for one source."""
    with pytest.raises(SourceUnavailable, match="allow_private: true"):
        fetcher.get(f"{site.url}/")


def names(**table: list[str]) -> Any:
    """A resolver that knows these names alone."""

    def resolve(host: str, port: int) -> list[str]:
        if host.split(".")[0] not in table:
            raise OSError("unknown name")
        return table[host.split(".")[0]]

    return resolve


def test_a_name_that_leads_to_a_private_address_is_refused(site: Site) -> None:
    """What counts is the address that the name resolves to."""
    fetcher = HttpFetcher(resolve=names(evil=["10.0.0.1", "::1", "127.0.0.1"]))
    with pytest.raises(SourceUnavailable, match="not on the public internet"):
        fetcher.get(f"http://evil.example:{site.port}/")
    assert site.requests == []
    fetcher.close()


def test_a_name_cannot_change_between_check_and_connection(site: Site) -> None:
    """The address that was checked is the one connected to: the name is resolved once a connection."""
    asked: list[str] = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    fetcher = HttpFetcher(resolve=resolve)
    site.page("/a", "hello")
    assert get(fetcher, f"http://rebound.example:{site.port}/a") == b"hello"
    assert asked == ["rebound.example"]  # robots.txt and the page share one connection
    assert site.requests[-1][1]["host"] == f"rebound.example:{site.port}"
    fetcher.close()


def test_the_next_address_is_tried_where_one_does_not_answer(site: Site) -> None:
    """A name with several addresses is reached by the first that answers."""
    fetcher = HttpFetcher(resolve=names(many=["127.0.0.2", "127.0.0.1"]))
    site.page("/a", "hello")
    assert get(fetcher, f"http://many.example:{site.port}/a") == b"hello"
    fetcher.close()


def test_a_redirect_to_a_private_address_is_refused(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each hop is checked like the first request: a public page cannot send the fetcher inside."""
    monkeypatch.setattr("kb_pipeline.services.addresses.is_public", lambda address: address == "127.0.0.1")
    fetcher = HttpFetcher(resolve=names(public=["127.0.0.1"], inside=["127.0.0.3"]))
    site.pages["/a"] = Reply(status=302, headers={"Location": f"http://inside.example:{site.port}/secret"})
    with pytest.raises(SourceUnavailable, match=r"127\.0\.0\.3"):
        fetcher.get(f"http://public.example:{site.port}/a")
    assert site.asked() == ["/a"]
    fetcher.close()


def test_a_name_that_does_not_exist_is_an_error() -> None:
    """A name that cannot be resolved is an unavailable page that says so."""
    fetcher = HttpFetcher(resolve=names())
    with pytest.raises(SourceUnavailable, match="cannot be resolved"):
        fetcher.get("https://nowhere.example/")
    fetcher.close()


# --- robots.txt --------------------------------------------------------------------------------------------------


def test_robots_txt_is_honoured(site: Site, fetcher: HttpFetcher) -> None:
    """What the site forbids this product is not fetched, and robots.txt is read once."""
    site.pages["/robots.txt"] = Reply(b"User-agent: kb-pipeline\nDisallow: /private\n\nUser-agent: *\nDisallow: /\n")
    site.page("/a", "a")
    site.page("/private/b", "b")
    assert get(fetcher, f"{site.url}/a") == b"a"
    with pytest.raises(SourceUnavailable, match=r"robots\.txt forbids"):
        get(fetcher, f"{site.url}/private/b")
    assert [path for path, _ in site.requests] == ["/robots.txt", "/a"]


def test_robots_txt_holds_after_a_redirect(site: Site, fetcher: HttpFetcher) -> None:
    """A redirect into a forbidden place is not followed."""
    site.pages["/robots.txt"] = Reply(b"User-agent: *\nDisallow: /private\n")
    site.pages["/a"] = Reply(status=302, headers={"Location": "/private/b"})
    with pytest.raises(SourceUnavailable, match=r"robots\.txt forbids"):
        get(fetcher, f"{site.url}/a")
    assert site.asked() == ["/a"]


@pytest.mark.parametrize(("status", "allowed"), [(404, True), (403, True), (410, True), (429, False), (500, False)])
def test_a_missing_robots_txt_allows_and_a_failing_one_forbids(
    site: Site, fetcher: HttpFetcher, status: int, allowed: bool
) -> None:
    """No robots.txt means everything is allowed; a server in trouble is left alone."""
    site.pages["/robots.txt"] = Reply(status=status)
    site.page("/a", "a")
    if allowed:
        assert get(fetcher, f"{site.url}/a") == b"a"
    else:
        with pytest.raises(SourceUnavailable, match=r"robots\.txt cannot be read"):
            get(fetcher, f"{site.url}/a")


def test_a_huge_or_garbled_robots_txt_is_read_as_far_as_it_goes(site: Site, fetcher: HttpFetcher) -> None:
    """Rules in the first 500 kB count, whatever comes behind or between."""
    site.pages["/robots.txt"] = Reply(b"\xff\xfe junk\nUser-agent: *\nDisallow: /b\n" + b"# padding\n" * 100_000)
    site.page("/a", "a")
    site.page("/b", "b")
    assert get(fetcher, f"{site.url}/a") == b"a"
    with pytest.raises(SourceUnavailable, match=r"robots\.txt forbids"):
        get(fetcher, f"{site.url}/b")


def test_a_crawl_delay_is_waited_for(site: Site) -> None:
    """Between two pages of one site the fetcher sleeps as robots.txt asks, but never longer than ten seconds."""
    slept: list[float] = []
    fetcher = HttpFetcher(sleep=slept.append)
    site.pages["/robots.txt"] = Reply(b"User-agent: *\nCrawl-delay: 3600\n")
    site.page("/a", "a")
    get(fetcher, f"{site.url}/a")
    assert slept == []
    get(fetcher, f"{site.url}/a")
    assert len(slept) == 1
    assert 0 < slept[0] <= 10
    fetcher.close()


# --- TLS ---------------------------------------------------------------------------------------------------------


def _certificate(folder: Path, host: str) -> Path:
    """A self-signed certificate and key for ``host``, in one file."""
    from datetime import UTC, datetime, timedelta

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "cert.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return path


def test_certificates_are_checked_against_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pinned connection still presents and verifies the host's name: the right one is served, another refused."""
    path = _certificate(tmp_path, "right.example")
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(path)
    trusting = ssl.create_default_context(cafile=str(path))
    monkeypatch.setattr("httpx2.create_ssl_context", lambda **_: trusting)
    fetcher = HttpFetcher(resolve=names(right=["127.0.0.1"], wrong=["127.0.0.1"]))
    with serve(server) as site:
        site.page("/a", "hello")
        assert get(fetcher, f"https://right.example:{site.port}/a") == b"hello"
        with pytest.raises(SourceUnavailable, match="certificate"):
            get(fetcher, f"https://wrong.example:{site.port}/a")
    fetcher.close()
