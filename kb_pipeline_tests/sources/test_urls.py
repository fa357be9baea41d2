"""URLs as names of documents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.sources.paths import unsafe
from kb_pipeline.sources.urls import normal, path_of


@pytest.mark.parametrize(
    ("url", "media_type", "path"),
    [
        ("https://ex.com", "text/html", "ex.com/index.html"),
        ("https://ex.com/a/b.html", "text/html; charset=utf-8", "ex.com/a/b.html"),
        ("https://ex.com/a/", "text/html", "ex.com/a/index.html"),
        ("https://ex.com/v1.2/b.htm", "text/html", "ex.com/v1.2/b.htm"),
        ("https://ex.com/a.pdf", "application/pdf", "ex.com/a.pdf"),
        ("https://ex.com/raw/readme.md", "text/plain", "ex.com/raw/readme.md"),
        ("https://ex.com/raw/x.rs", "application/octet-stream", "ex.com/raw/x.rs"),
    ],
)
def test_a_plain_url_is_its_own_name(url: str, media_type: str, path: str) -> None:
    """Where host and path say all, the name is just them with the type's extension."""
    assert path_of(normal(url), media_type) == path


@pytest.mark.parametrize(
    ("url", "start", "end"),
    [
        ("https://ex.com/a", "ex.com/a-", ".html"),
        ("https://ex.com/a/index.html", "ex.com/a/index-", ".html"),
        ("https://ex.com/a?x=1", "ex.com/a-", ".html"),
        ("http://ex.com/a.html", "ex.com/a-", ".html"),
        ("https://ex.com:8080/a.html", "ex.com/a-", ".html"),
        ("https://ex.com/A.html", "ex.com/a-", ".html"),
        ("https://ex.com/%E4%BD%A0.html", "ex.com/你-", ".html"),
        ("https://ex.com/a-0123abcd.html", "ex.com/a-0123abcd-", ".html"),
        ("https://ex.com/" + "x" * 300, "ex.com/xxx", ".html"),
        ("https://ex.com/" + "x/" * 900, "ex.com/x/x", ".html"),
        ("https://ex.com/../.a/..b//c", "ex.com/", ".html"),
        ("https://ex.com/a.html/b", "ex.com/a-html/b-", ".html"),
        ("https://ex.com//", "ex.com/-/index-", ".html"),
    ],
)
def test_what_a_name_cannot_say_becomes_a_hash(url: str, start: str, end: str) -> None:
    """Query, port, case, length and odd characters are replaced by eight digits of the URL's hash."""
    path = path_of(normal(url), "text/html")
    assert path.startswith(start)
    assert path.endswith(end)
    assert unsafe(path) is None


URLS = st.builds(
    "{}://{}{}{}{}".format,
    st.sampled_from(["https", "http"]),
    st.sampled_from(["ex.com", "EX.com", "www.ex.com", "ex.com:8080", "ex.com:443", "[2001:db8::1]", "bücher.de"]),
    st.lists(
        st.one_of(
            st.sampled_from(
                ["/", "/a", "/A", "/a.html", "/index", "/index.html", "/..", "/.a", "/a-0123abcd.html", "//"]
            ),
            st.text(alphabet="abAB.-~_ %20é你/:;", min_size=1, max_size=8).map("/{}".format),
        ),
        max_size=4,
    ).map("".join),
    st.sampled_from(["", "?", "?a=1", "?A=1", "?a=%20"]),
    st.sampled_from(["", "#top"]),
)


@given(st.lists(URLS, min_size=2, max_size=30), st.sampled_from(["text/html", "text/plain", "application/pdf"]))
def test_no_two_pages_share_a_name(urls: list[str], media_type: str) -> None:
    """Different pages have different names, equal ones the same, and every name is safe on disk."""
    pages = {normal(url) for url in urls}
    paths = {path_of(page, media_type) for page in pages}
    assert len(paths) == len(pages)
    assert all(unsafe(path) is None for path in paths)


@given(URLS)
def test_the_normal_spelling_is_stable(url: str) -> None:
    """The normal form of a normal form is itself."""
    assert normal(normal(url)) == normal(url)


@pytest.mark.parametrize(
    "url", ["", "ex.com", "ftp://ex.com/", "https:///a", "https://u:p@ex.com/", "http://ex.com:x/"]
)
def test_what_is_no_web_page_is_refused(url: str) -> None:
    """Other schemes, missing hosts, credentials and broken ports raise with the reason."""
    with pytest.raises(ValueError, match=r"\w"):
        normal(url)
