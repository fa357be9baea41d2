"""A document's Markdown as a page: its items marked where they stand, nothing in it able to act."""

import re
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_pipeline.faces.web.markdown import PART, part, rendered
from kb_pipeline.records import Brief

ALLOWED = {"href", "rel", "class", "id", "title", "aria-label", "data-place", "start", "align", "style"}
PIECES = ["# T\n\n", "- ", "**b**", "`c`", "| a | b |\n|---|---|\n| 1 | 2 |\n", "<script>x</script>", "\n\n", "```\n"]
PIECES += ["[l](javascript:x)", "[l](https://e.invalid)", "![i](http://e.invalid/p.png)", "&amp;", "\ue000", "\ue100"]
PIECES += ["<img src=x onerror=y>", "> ", "1. ", "word ", '"quoted" ', "_e_ ", "<!-- c -->", "[r]: http://e.invalid\n"]


def brief(name: str, start: int, end: int, statement: str = 'says "so" & <b>') -> Brief:
    return Brief(id=name, statement=statement, category="c", status="active", start=start, end=end)


class Strict(HTMLParser):
    """Collects elements and attributes, and whether they nest."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def parsed(html: str) -> Strict:
    """The HTML, required to nest."""
    found = Strict()
    found.feed(html)
    found.close()
    assert (found.open, found.wrong) == ([], []), html
    return found


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("The cache holds 16 pages.", "The cache holds 16 pages."),
        ("- **Bold** and `code` here.\n- next", "- **Bold** and `code` here."),
        ("| a | b |\n|---|---|\n| one | two |\n", "| one | two |"),
        ("```py\nx = '<b>'\n```\n", "x = '<b>'"),
        ("see [the page](https://e.invalid/a) now", "[the page](https://e.invalid/a) now"),
        ("# Title\n\n> said *so*\n", "# Title"),
    ],
)
def test_a_quote_is_marked_where_it_stands(text: str, quote: str) -> None:
    """Its words are marked, whatever markup stands between them, with a link to its item."""
    start = text.index(quote)
    html = part(text, [brief("kb_1", start, start + len(quote))]).html
    parsed(html)
    marked = " ".join(re.findall(r"<mark[^>]*>(.*?)</mark>", html))
    words = re.findall(r"\w+", re.sub(r"\(.*?\)", "", quote))
    assert re.findall(r"\w+", unescape(marked)) == words
    assert 'href="/items/kb_1"' in html
    assert 'id="at-kb_1"' in html


def test_quotes_that_overlap_share_a_place() -> None:
    """Two items from the same words lead from one mark."""
    found = part("one two three four", [brief("kb_1", 0, 13), brief("kb_2", 4, 18)])
    assert [[b.id for b in place.items] for place in found.places] == [["kb_1", "kb_2"]]
    assert found.html.count("<mark") == 1


def test_a_long_document_comes_in_parts() -> None:
    """Each part holds the place that was asked for, and the parts are the whole."""
    text = "".join(f"Paragraph {n} says something.\n\n" for n in range(6000))
    starts, at = [], 0
    while at < len(text):
        found = part(text, [], at)
        assert found.start == at
        assert found.end - found.start <= PART
        starts.append(found.start)
        at = found.end
    assert len(starts) == -(-len(text) // PART) or len(starts) == len(text) // PART + 1
    place = text.index("Paragraph 5000")
    assert "Paragraph 5000" in part(text, [], place).html


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=25), st.lists(st.tuples(st.integers(0, 99), st.integers(1, 40))))
def test_no_text_becomes_an_element_that_acts(pieces: list[str], quotes: list[tuple[int, int]]) -> None:
    """Whatever stands in a document and wherever its items are: known elements that nest, harmless attributes, links
    to web addresses and items alone."""
    text = "".join(pieces)
    items = [brief(f"kb_{n}", start, min(start + size, len(text))) for n, (start, size) in enumerate(quotes)]
    for html in (part(text, [b for b in items if b.start < b.end]).html, rendered(text)):
        for tag, attributes in parsed(html).tags:
            assert tag not in {"script", "img", "iframe", "object", "embed", "style", "form", "input", "svg"}
            assert attributes.keys() <= ALLOWED
            assert re.match(r"https?://|mailto:|/items/", attributes.get("href") or "/items/")
