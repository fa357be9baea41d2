"""Pages and sitemaps as a source, over the real fetcher and a server on loopback."""

import gzip
from typing import Any

import pytest

from kb_pipeline.errors import SourceUnavailable
from kb_pipeline.records import Fetched, Source
from kb_pipeline.sources import KINDS
from kb_pipeline.sources.sitemaps import entries
from kb_pipeline_tests.loopback import Reply, Site
from kb_pipeline_tests.sources.conftest import Listing, remember


def web(*uri: str, include: tuple[str, ...] = (), **options: Any) -> Source:
    return Source(id="site", type="web", uri=uri, include=include, options={"allow_private": True, **options})


def states(lines: list[Fetched], site: Site) -> dict[str, str]:
    return {line.uri.removeprefix(site.url): line.state for line in lines}


def sitemap(site: Site, *paths: str, root: str = "urlset", entry: str = "url") -> Reply:
    places = "".join(f"<{entry}><loc> {site.url}{path} </loc><lastmod>2026-01-01</lastmod></{entry}>" for path in paths)
    head = '<?xml version="1.0"?>'
    return Reply(f'{head}<{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</{root}>'.encode())


def test_a_page_becomes_a_document(listing: Listing, site: Site) -> None:
    """Bytes, type, validators, the date of Last-Modified and a name from the URL."""
    site.page("/a", "hello", ETag='"1"', Last_Modified="Mon, 02 Feb 2026 10:00:00 GMT")
    (line,) = listing.fetch(web(f"{site.url}/a#part"))
    assert (line.state, line.content, line.uri) == ("changed", b"hello", f"{site.url}/a")
    assert (line.media_type, line.source_type, line.effective_date) == ("text/html", "web", "2026-02-02")
    assert (line.etag, line.last_modified) == ('"1"', "Mon, 02 Feb 2026 10:00:00 GMT")
    assert line.path.startswith("127.0.0.1/a-")
    assert line.path.endswith(".html")


def test_an_unchanged_page_is_not_sent_again(listing: Listing, site: Site) -> None:
    """A known page is asked for with its validators; 304 and equal bytes both mean the same."""
    site.page("/a", "a", ETag='"1"')
    site.page("/b", "b")
    source = web(f"{site.url}/a", f"{site.url}/b")
    known = remember(listing.fetch(source))
    lines = listing.fetch(source, known)
    assert states(lines, site) == {"/a": "same", "/b": "same"}
    assert [line.path for line in lines] == list(known)
    assert site.requests[-2][1]["if-none-match"] == '"1"'
    site.page("/a", "new", ETag='"2"')
    assert states(listing.fetch(source, known), site) == {"/a": "changed", "/b": "same"}


def test_equal_bytes_keep_their_date(listing: Listing, site: Site) -> None:
    """A server that stamps every answer with today's date does not make an old page new."""
    site.page("/a", "a", Last_Modified="Mon, 02 Feb 2026 10:00:00 GMT")
    known = remember(listing.fetch(web(f"{site.url}/a")))
    site.page("/a", "a", Last_Modified="Tue, 03 Mar 2026 10:00:00 GMT")
    (line,) = listing.fetch(web(f"{site.url}/a"), known)
    assert (line.state, line.effective_date) == ("same", "2026-02-02")
    assert line.last_modified == "Tue, 03 Mar 2026 10:00:00 GMT"


@pytest.mark.parametrize("nonsense", ["yesterday", "0", "Mon, 99 Foo 2026", ""])
def test_a_nonsense_date_is_no_date(listing: Listing, site: Site, nonsense: str) -> None:
    """A Last-Modified that is no date leaves the page undated."""
    site.page("/a", "a", Last_Modified=nonsense)
    (line,) = listing.fetch(web(f"{site.url}/a"))
    assert line.effective_date is None


def test_a_page_that_is_gone_is_not_listed(listing: Listing, site: Site) -> None:
    """404 and 410 of a known page mean that it was deleted."""
    for path in ("/a", "/b", "/c"):
        site.page(path, path)
    source = web(*(f"{site.url}{path}" for path in ("/a", "/b", "/c")))
    known = remember(listing.fetch(source))
    site.pages["/a"], site.pages["/b"] = Reply(status=404), Reply(status=410)
    assert states(listing.fetch(source, known), site) == {"/c": "same"}
    site.pages["/c"] = Reply(status=404)
    assert listing.fetch(source, known) == []


def test_a_page_that_never_was_fails(listing: Listing, site: Site) -> None:
    """A URL that was mistyped is reported, not silently without documents."""
    site.page("/a", "a")
    lines = listing.fetch(web(f"{site.url}/a", f"{site.url}/typo"))
    assert states(lines, site) == {"/a": "changed", "/typo": "failed"}
    assert "404" in lines[1].reason
    assert "Correct the URL" in lines[1].reason


def test_a_failing_page_keeps_its_last_version(listing: Listing, site: Site) -> None:
    """5xx, a broken answer and a forbidding robots.txt fail one page under its known name; the others go on."""
    for path in ("/a", "/b", "/c", "/d"):
        site.page(path, path)
    source = web(*(f"{site.url}{path}" for path in ("/a", "/b", "/c", "/d")))
    known = remember(listing.fetch(source))
    site.pages["/a"], site.pages["/b"] = Reply(status=503), Reply(send=lambda out: out.write(b"junk"))
    site.pages["/robots.txt"] = Reply(b"User-agent: *\nDisallow: /c\n")
    listing.forget()
    lines = listing.fetch(source, known)
    assert states(lines, site) == {"/a": "failed", "/b": "failed", "/c": "failed", "/d": "same"}
    assert {line.path for line in lines} == set(known)


def test_a_site_that_is_down_is_unavailable(listing: Listing, site: Site) -> None:
    """Where no page answers the listing raises at its end, so that nothing is taken for deleted."""
    site.page("/a", "a")
    source = web(f"{site.url}/a", f"{site.url}/b")
    known = remember(listing.fetch(web(f"{site.url}/a")))
    site.pages["/a"] = site.pages["/b"] = Reply(status=500)
    with pytest.raises(SourceUnavailable, match="no page could be fetched"):
        listing.fetch(source, known)


def test_a_site_that_goes_down_is_given_up(listing: Listing, site: Site) -> None:
    """Ten failures in a row end the listing: the rest is not waited for, and the source is incomplete."""
    site.page("/0", "ok")
    for i in range(1, 30):
        site.pages[f"/{i}"] = Reply(status=500)
    lines = listing.lines(web(*(f"{site.url}/{i}" for i in range(30))))
    assert [next(lines).state for _ in range(11)] == ["changed"] + ["failed"] * 10
    with pytest.raises(SourceUnavailable, match="10 pages in a row"):
        next(lines)
    assert len(site.asked()) == 11


def test_the_refresh_alone_says_when_to_look(listing: Listing) -> None:
    """A remote source has no cheap fingerprint."""
    assert KINDS["web"].remote
    assert KINDS["web"].fingerprint(web("https://example.com/"), listing.settings) is None


def test_private_pages_need_the_option(listing: Listing, site: Site) -> None:
    """Without allow_private a page on loopback is refused, and the cure names the option."""
    site.page("/a", "a")
    with pytest.raises(SourceUnavailable, match="allow_private: true"):
        listing.fetch(Source(id="site", type="web", uri=(f"{site.url}/a",)))
    assert site.requests == []


# --- sitemaps ----------------------------------------------------------------------------------------------------


def test_a_sitemap_lists_pages(listing: Listing, site: Site) -> None:
    """A URL that ends in sitemap.xml, or the option, makes a sitemap; include chooses among its pages."""
    for path in ("/docs/a", "/docs/b", "/blog/c"):
        site.page(path, path)
    site.pages["/sitemap.xml"] = sitemap(site, "/docs/b", "/docs/a", "/blog/c", "/docs/a#top")
    assert states(listing.fetch(web(f"{site.url}/sitemap.xml")), site).keys() == {"/docs/a", "/docs/b", "/blog/c"}
    chosen = listing.fetch(web(f"{site.url}/sitemap.xml", include=("docs/**",)))
    assert states(chosen, site).keys() == {"/docs/a", "/docs/b"}
    site.pages["/map"] = site.pages["/sitemap.xml"]
    assert len(listing.fetch(web(f"{site.url}/map", sitemap=True))) == 3


def test_a_page_that_leaves_the_sitemap_is_deleted(listing: Listing, site: Site) -> None:
    """What a complete sitemap does not list any more has no line."""
    site.page("/a", "a")
    site.page("/b", "b")
    site.pages["/sitemap.xml"] = sitemap(site, "/a", "/b")
    known = remember(listing.fetch(web(f"{site.url}/sitemap.xml")))
    site.pages["/sitemap.xml"] = sitemap(site, "/b")
    assert states(listing.fetch(web(f"{site.url}/sitemap.xml"), known), site) == {"/b": "same"}


def test_an_index_of_sitemaps_is_followed(listing: Listing, site: Site) -> None:
    """Indexes, zipped sitemaps and plain lists are read; an index that names itself ends."""
    site.page("/a", "a")
    site.page("/b", "b")
    site.pages["/sitemap.xml"] = sitemap(
        site, "/sitemap.xml", "/one.xml.gz", "/two.txt", root="sitemapindex", entry="sitemap"
    )
    site.pages["/one.xml.gz"] = Reply(gzip.compress(sitemap(site, "/a").body))
    site.pages["/two.txt"] = Reply(f"{site.url}/b\n\n".encode())
    assert states(listing.fetch(web(f"{site.url}/sitemap.xml")), site).keys() == {"/a", "/b"}


@pytest.mark.parametrize(
    "broken",
    [
        Reply(status=500),
        Reply(status=404),
        Reply(b"<html><body>Not here</body></html>"),
        Reply(b"<urlset><url><loc>https://example.com/"),
        Reply(b"just words"),
        Reply(b""),
        Reply(b'<!DOCTYPE x [<!ENTITY a "aaaa">]><urlset><url><loc>&a;</loc></url></urlset>'),
        Reply(gzip.compress(b"x" * 60 * 2**20)),
        Reply(b"\x1f\x8b broken"),
    ],
    ids=["500", "404", "html", "cut", "words", "empty", "entities", "bomb", "broken gzip"],
)
def test_a_sitemap_that_cannot_be_read_raises(listing: Listing, site: Site, broken: Reply) -> None:
    """Without its sitemap, or one of those it names, a listing is incomplete: nothing counts as deleted."""
    site.page("/a", "a")
    site.pages["/good.xml"] = sitemap(site, "/a")
    site.pages["/part.xml"] = broken
    site.pages["/sitemap.xml"] = sitemap(site, "/good.xml", "/part.xml", root="sitemapindex", entry="sitemap")
    for uri in ("/part.xml", "/sitemap.xml"):
        with pytest.raises(SourceUnavailable):
            listing.fetch(web(f"{site.url}{uri}", sitemap=True))


def test_too_many_sitemaps_raise(listing: Listing, site: Site) -> None:
    """An index without end is refused."""
    site.pages["/sitemap.xml"] = sitemap(site, *(f"/{i}.xml" for i in range(120)), root="sitemapindex", entry="sitemap")
    for i in range(120):
        site.pages[f"/{i}.xml"] = sitemap(site)
    with pytest.raises(SourceUnavailable, match="more than 100 sitemaps"):
        listing.fetch(web(f"{site.url}/sitemap.xml"))


def test_max_pages_cuts_what_is_new(listing: Listing, site: Site) -> None:
    """A sitemap that grows past max_pages keeps the known pages, and says how many it left out."""
    for i in range(5):
        site.page(f"/{i}", str(i))
    source = web(f"{site.url}/sitemap.xml", max_pages=2)
    site.pages["/sitemap.xml"] = sitemap(site, "/3", "/4")
    known = remember(listing.fetch(source))
    site.pages["/sitemap.xml"] = sitemap(site, "/0", "/1", "/2", "/3", "/4")
    lines = listing.fetch(source, known)
    assert states(lines, site) == {"/3": "same", "/4": "same", "/sitemap.xml": "failed"}
    assert lines[-1].reason.startswith("3 more pages are listed than max_pages lets in")


def test_only_the_pages_own_addresses_count() -> None:
    """Addresses of images, videos and translations in a sitemap are no pages; prefixes and CDATA are understood."""
    text = b"""<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://x/image">
      <s:url><s:loc><![CDATA[https://example.com/a?x=1&y=2]]></s:loc>
        <image:image><image:loc>https://example.com/a.png</image:loc></image:image></s:url>
      <s:url><s:loc>https://example.com/b?x=1&amp;y=2</s:loc><image:loc>https://example.com/b.png</image:loc>
      </s:url>
    </s:urlset>"""
    assert entries(text, "") == [("page", "https://example.com/a?x=1&y=2"), ("page", "https://example.com/b?x=1&y=2")]
