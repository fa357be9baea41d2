"""The pages in a real browser: they work without a script, are livelier with it, and let no document act."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser

from kb_pipeline_tests.driving import compile_all, new_root, opened
from kb_pipeline_tests.faces.web.browser import CHROMIUM, Seen, chromium, looking
from kb_pipeline_tests.two_projects import serving

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed here")

PAGES = ["/", "/search?q=engine", "/browse", "/browse?tag=engine", "/sources", "/sources/open", "/changes", "/review"]
PAGES += ["/evaluation", "/inbox", "/documents/open/hostile.md", "/documents/red/engine.md"]
PAGES += [
    "/wiki",
    "/wiki/unclassified/crimson-guide",
    "/edit/wiki/unclassified/crimson-guide",
    "/changes/wiki?since=g1",
]
PAGES += ["/changes/wiki/unclassified/crimson-guide?since=g1"]
UNNAMED = """[...document.querySelectorAll('a, button, input, select, textarea, summary')].filter(e =>
  e.type !== 'hidden' && !(e.textContent || '').trim() && !e.getAttribute('aria-label') && !e.title
  && !(e.labels && e.labels.length)).map(e => e.outerHTML)"""


@pytest.fixture(scope="module")
def url(compiled: Path) -> Iterator[str]:
    with serving(compiled) as found:
        yield found


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def clean(seen: Seen) -> None:
    """Nothing was fetched from elsewhere, nothing broke."""
    assert (seen.foreign, seen.faults) == ([], [])


def test_hits_come_while_one_types(url: str, window: Browser) -> None:
    """Hits appear without a submit; the keyboard leads to one and opens it."""
    with looking(window, url) as seen:
        page = seen.page
        page.goto(f"{url}/search?q=engine")
        page.keyboard.press("/")
        page.keyboard.type("azure boat")
        page.wait_for_url("**/search?q=azure+boat")
        assert "12 sailors" in page.inner_text(".hit >> nth=0")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_url("**/items/**")
        assert "12 sailors" in page.inner_text("h1")
        assert "12 sailors" in page.inner_text("figure mark")
        clean(seen)


def test_an_answer_streams_with_its_citations(url: str, window: Browser) -> None:
    """Asking shows the answer, or that there is none; a citation shows its quote when it is pointed at."""
    with looking(window, url) as seen:
        page = seen.page
        page.fill("#q", "How many sailors does the azure boat carry?")
        page.keyboard.press("Enter")
        page.wait_for_selector("#answer[aria-busy=false]")
        if page.query_selector(".cite"):
            page.hover(".cite >> nth=0")
            assert page.is_visible(".card-over >> nth=0")
        else:
            assert "Not in the knowledge base" in page.inner_text("#answer h2")
        clean(seen)


def test_everything_works_without_a_script(url: str, window: Browser) -> None:
    """Searching, asking and reading need no script."""
    with looking(window, url, scripts=False) as seen:
        page = seen.page
        page.fill("#q", "azure boat")
        page.click(".box button.quiet")
        assert page.query_selector(".hit")
        page.fill("#q", "How many sailors does the azure boat carry?")
        page.click("button:has-text('Ask')")
        page.click("text=Show the answer")
        assert page.query_selector(".answer h2")
        page.goto(f"{url}/documents/blue/boat.md")
        assert "12 sailors" in page.inner_text(".prose mark >> nth=0")


def test_no_page_lets_a_document_act(url: str, window: Browser) -> None:
    """No script of a document runs, nothing is fetched from elsewhere, every control has a name, one heading leads."""
    with looking(window, url) as seen:
        page = seen.page
        for path in PAGES:
            page.goto(url + path)
            page.wait_for_load_state("networkidle")
            assert page.query_selector_all("main script, main iframe, main img, main [onerror]") == [], path
            assert page.query_selector_all("a[href^='javascript:']") == [], path
            assert page.evaluate(UNNAMED) == [], path
            assert len(page.query_selector_all("h1")) >= 1, path
        clean(seen)


def test_no_page_is_wider_than_a_phone(url: str, window: Browser) -> None:
    """At 360 pixels nothing has to be scrolled sideways."""
    with looking(window, url, width=360, dark=True) as seen:
        for path in PAGES:
            seen.page.goto(url + path)
            assert seen.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path


def test_a_page_is_edited_without_a_script(root: Path, window: Browser) -> None:
    """What is typed is saved and shown; what another saved meanwhile is told, and both texts are there."""
    path = "/edit/wiki/unclassified/crimson-guide"
    with (
        serving(root) as url,
        looking(window, url, scripts=False) as mine,
        looking(window, url, scripts=False) as other,
    ):
        for seen in (mine, other):
            seen.page.goto(url + path)
        body = mine.page.input_value("#body")
        other.page.fill("#body", body.replace("crimson tap", "crimson brass tap"))
        other.page.click("button:has-text('Save')")
        assert "Saved" in other.page.inner_text("[role=status]")
        assert "crimson brass tap" in other.page.inner_text(".prose")
        mine.page.fill("#body", body.replace("crimson lid", "crimson tin lid"))
        mine.page.click("button:has-text('Save')")
        assert "was changed by somebody else" in mine.page.inner_text("[role=alert]")
        assert "crimson brass tap" in mine.page.inner_text(".both")
        assert "crimson tin lid" in mine.page.input_value("#body")
        mine.page.click("button:has-text('Save mine over it')")
        assert "crimson tin lid" in mine.page.inner_text(".prose")
        assert mine.foreign == []
        clean(other)


def test_a_note_at_the_edge_of_a_phone_can_be_read(url: str, window: Browser) -> None:
    """What it shows is wholly on the screen, and nothing has to be scrolled sideways for it."""
    with looking(window, url, width=360) as seen:
        page = seen.page
        page.goto(f"{url}/wiki/unclassified/crimson-guide")
        for note in page.query_selector_all(".note > a"):
            note.focus()
            box = page.locator(".note:focus-within .card-over").bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 360
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_the_theme_can_be_chosen(url: str, window: Browser) -> None:
    """The button turns light to dark, and the choice stays."""
    with looking(window, url) as seen:
        page = seen.page
        colour = "getComputedStyle(document.body.parentElement).backgroundColor"
        before = page.evaluate(colour)
        page.click(".theme")
        after = page.evaluate(colour)
        assert after != before
        page.goto(f"{url}/browse")
        assert page.evaluate(colour) == after


def test_hostile_documents_are_shown_as_text(corpus: Path, tmp_path: Path, window: Browser) -> None:
    """Every document of the corpus' hostile folder that becomes text, and every item of it, is shown without a script
    that runs, a request that leaves, or a page that fails."""
    root = new_root(tmp_path / "base", {}, hostile=str(corpus / "hostile"))
    with opened(root) as base:
        compile_all(base)
        rows = base.sql("select id, doc_id from rows where kind = 'item'")[1]
        documents = sorted({doc for (doc,) in base.sql("select doc_id from rows")[1] if doc})
    assert len(documents) >= 6
    with serving(root) as url, looking(window, url) as seen:
        for path in [*(f"/documents/{quote(name)}" for name in documents), *(f"/items/{row[0]}" for row in rows)]:
            reply = seen.page.goto(url + path)
            assert reply is not None
            assert reply.status == 200, path
            assert seen.page.query_selector_all("main script, main iframe, main img") == [], path
        seen.page.goto(f"{url}/search?q=script+alert+password")
        clean(seen)
