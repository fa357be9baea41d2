"""Web pages: what is content, how it is written, what the page says of itself; and real pages against trafilatura."""

import gzip
import json
import re
from pathlib import Path

import pytest

from kb_pipeline.convert import convert
from kb_pipeline.records import Converted
from kb_pipeline_tests.convert.documents import raw

PROSE = " ".join(f"Sentence number {n} of this paragraph tells the reader something about caches." for n in range(8))


def page(body: str, head: str = "") -> Converted:
    """A converted page."""
    return convert(raw("a.html", f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"))


def markdown(fragment: str) -> str:
    """A fragment in the midst of enough prose, as Markdown without that prose."""
    text = page(f"<main><h1>Caches</h1><p>{PROSE}</p>{fragment}<p>{PROSE}</p></main>").text
    return text.replace(f"# Caches\n\n{PROSE}\n\n", "").replace(PROSE, "").strip()


def test_navigation_and_footers_are_left_out() -> None:
    """What frames a page is no content, by tag, by role or by name."""
    text = page(
        "<nav><a href=/>Home</a> <a href=/b>Blog</a></nav><div class=sidebar><p>Read all our other articles.</p></div>"
        f"<main><h1>Caches</h1><p>{PROSE}</p><p>{PROSE}</p></main>"
        "<div role=contentinfo><p>All rights reserved by Example.</p></div><footer><p>Imprint and privacy.</p></footer>"
    ).text
    assert text == f"# Caches\n\n{PROSE}\n\n{PROSE}\n"


def test_a_chapter_on_cookies_is_no_cookie_banner() -> None:
    """The id of a section names its subject."""
    text = page(
        f"<main><h1>Guide</h1><p>{PROSE}</p><p>{PROSE}</p><section id=cookies><h2>Cookies</h2>"
        "<p>Use the cookies attribute to read them.</p><pre>request.cookies</pre></section></main>"
    ).text
    assert "Use the cookies attribute to read them." in text
    assert "```\nrequest.cookies\n```" in text


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<pre><code class="language-python">a = 1\n  b\n</code></pre>', "```python\na = 1\n  b\n```"),
        ('<div class="highlight-bash"><div><pre>$ <span>ls</span>\n</pre></div></div>', "```bash\n$ ls\n```"),
        ("<pre>a ``` b</pre>", "````\na ``` b\n````"),
        (
            "<table class=highlighttable><tr><td class=linenos><pre>1\n2<td class=code><pre>x = 1\ny = 2</pre></table>",
            "```\nx = 1\ny = 2\n```",
        ),
        ("<p>Call <code>f(x)</code> or <kbd>Ctrl+C</kbd> with <b>care</b>.</p>", "Call `f(x)` or `Ctrl+C` with care."),
        ("<p>See <a href='/x'>the guide</a>.</p>", "See the guide."),
        ("<p>10<sup>6</sup> entries, 5 m<sup>2</sup>, the 20<sup>th</sup></p>", "10^6 entries, 5 m^2, the 20th"),
        ("<p>one<br>two\nthree</p>", "one\ntwo three"),
        ("<ul><li>a<ul><li>b</li></ul></li><li><p>c</p><pre>d</pre></li></ul>", "- a\n  - b\n- c\n\n  ```\n  d\n  ```"),
        ("<ol start=3><li>c</li><li>d</li></ol>", "3. c\n4. d"),
        ("<dl><dt>size</dt><dd>how many entries</dd></dl>", "- size: how many entries"),
        ("<blockquote><p>so</p><p>it is</p></blockquote>", "> so\n>\n> it is"),
        ('<h2 id=x>Limits<a class="headerlink" href="#x">¶</a></h2><p>none</p>', "## Limits\n\nnone"),
        ("<p># not a heading</p>", "\\# not a heading"),
        ("<p>kept</p><p hidden>not</p><p style='display: none'>seen</p><script>no()</script>", "kept"),
        ("<p>x<math alttext='a^2'><mi>a</mi></math></p>", "xa^2"),
    ],
)
def test_elements_are_written_in_their_markdown(html: str, expected: str) -> None:
    """Code, lists, definitions, quotes, powers; no emphasis, link target, permalink or hidden text."""
    assert markdown(html) == expected


def test_tables_keep_every_cell() -> None:
    """A cell over several rows stands in each, pipes are escaped, lists in cells are one line."""
    html = (
        "<table><caption>Limits</caption><thead><tr><th>Tier</th><th>Name</th><th>Value</th></tr></thead><tbody>"
        "<tr><td rowspan=2>free</td><td>rate</td><td>10|s</td></tr><tr><td>size</td><td><ul><li>5</li><li>6</li></ul>"
        "</td></tr></tbody></table>"
    )
    assert markdown(html) == (
        "Limits\n\n| Tier | Name | Value |\n| --- | --- | --- |\n| free | rate | 10\\|s |\n| free | size | 5; 6 |"
    )


def test_a_table_that_arranges_a_page_is_no_table() -> None:
    """Cells with headings are written as blocks."""
    html = "<table><tr><td><h3>Left</h3><p>one</p></td><td><h3>Right</h3><p>two</p></td></tr></table>"
    assert markdown(html) == "### Left\n\none\n\n### Right\n\ntwo"


def test_a_page_within_a_form_is_read() -> None:
    """The form that wraps a whole page goes, one that asks for an address stays out."""
    text = page(
        f"<form><h1>Caches</h1><p>{PROSE}</p><p>{PROSE}</p></form><form><p>Subscribe to our weekly letter.</p></form>"
    ).text
    assert text == f"# Caches\n\n{PROSE}\n\n{PROSE}\n"


def test_posts_that_microdata_names_are_kept() -> None:
    """A short answer of a thread is content where the page says so."""
    posts = "".join(
        f'<div itemprop="comment" itemscope><span itemprop="author">u{n}</span><div itemprop="text"><p>Answer {n}: '
        f"try value {n}.</p></div></div>"
        for n in range(5)
    )
    text = page(f"<div><h1>Which value?</h1><p>{PROSE}</p>{posts}</div>").text
    assert all(f"Answer {n}: try value {n}." in text for n in range(5))


def test_a_page_says_who_wrote_it_and_when() -> None:
    """Title without the site's name, author, and the last change before the publication."""
    head = (
        "<title>Caches | Example</title><meta name=author content='Ada Miller'>"
        "<meta property='article:published_time' content='2024-01-02T03:04:05Z'>"
        "<meta property='article:modified_time' content='2025-06-01'>"
    )
    result = page(f"<main><h1>Caches</h1><p>{PROSE}</p><p>In 2019 it was slower.</p></main>", head)
    assert (result.title, result.authors, result.effective_date) == ("Caches", ("Ada Miller",), "2025-06-01")
    assert page(f"<main><h1>Caches</h1><p>{PROSE} Copyright 2019-05-05.</p></main>").effective_date is None


def test_a_page_drawn_by_script_gives_its_description() -> None:
    """Better than nothing, and said so."""
    description = "A cache of 512 entries that evicts the oldest one first, for small machines and large loads."
    result = page("<div id=root></div>", f"<title>Cache</title><meta name=description content='{description}'>")
    assert result.text == f"# Cache\n\n{description}\n"
    assert "drawn by script" in result.warnings[0]


def test_a_deep_page_is_read_to_its_end() -> None:
    """libxml2 stops at 256 levels without a word; here the containers go, not the text."""
    result = page("<div>" * 5000 + "<p>The retry budget is 5.</p>" + "</div>" * 5000)
    assert result.text == "The retry budget is 5.\n"
    assert "nested too deeply" in result.warnings[0]


def test_spans_of_cells_are_bounded() -> None:
    """A cell that claims ten thousand rows and columns takes no more room than it is allowed."""
    rows = "<tr><td rowspan=9999 colspan=9999>y</td><td>z</td></tr>" * 300
    assert len(markdown(f"<table>{rows}</table>")) < 1_000_000


def test_the_declared_encoding_is_believed() -> None:
    """A page in Shift-JIS that says so."""
    body = "<p>" + "サーバーは最大で五百件の接続を受け付ける。" * 10 + "</p>"
    html = f"<html><head><meta charset=shift_jis></head><body>{body}</body></html>".encode("shift_jis")
    assert "サーバーは最大で五百件の接続を受け付ける。" in convert(raw("a.html", html)).text


def _plain(text: str) -> str:
    """Text without the marks of Markdown, white space and the shapes of quotes, on both sides of a comparison."""
    text = text.translate(str.maketrans("’‘“”", "''\"\""))
    return re.sub(r"[`*_|>#\\\s]", "", text)


def test_real_pages_keep_and_drop_at_least_what_trafilatura_does(corpus: Path) -> None:
    """Over 42 hand-checked pages, and strictly more of what must stay; compared raw and without markup."""
    from trafilatura import extract

    ours, theirs = [0, 0, 0], [0, 0, 0]
    for file in sorted((corpus / "web").glob("*.html.gz")):
        html = gzip.decompress(file.read_bytes())
        truth = json.loads(file.with_name(f"{file.name[:4]}.json").read_text())
        for text, score in (
            (convert(raw("a.html", html, media_type="text/html", uri=truth["url"])).text, ours),
            (extract(html) or "", theirs),
        ):
            spaced = " ".join(text.split())
            score[0] += sum(_plain(s) in _plain(text) for s in truth["with"])
            score[1] += sum(_plain(s) not in _plain(text) for s in truth["without"])
            score[2] += sum(" ".join(s.split()) in spaced for s in truth["with"])
    assert ours[0] > theirs[0]
    assert ours[1] >= theirs[1]
    assert ours[2] >= theirs[2]
