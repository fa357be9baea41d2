"""The wiki outside: a site without a server, and a bundle for other tools."""

import re
from pathlib import Path
from urllib.parse import quote

import yaml

from kb_pipeline.faces.rendering.okf import write_bundle
from kb_pipeline.faces.rendering.site import write_site
from kb_pipeline.records import Link, Page, PageBrief, PageView

TEXT = """---
title: "Relay"
status: "current"
---

# Relay

The relay forwards <b>messages</b>.[^kb_a]

## Related pages

- [Gateway](gateway.md)

[^kb_a]: “The relay forwards.” — [notes/relay.md](../../normalized/notes/relay.md.md), CC0-1.0, read 2026-01-02.
"""


def view(title: str, path: str, text: str = TEXT) -> PageView:
    """A page as a face shows it."""
    page = Page(id=f"pg_{title}", title=title, category="Stores", path=path, related=(Link(title="x", path="x"),))
    brief = PageBrief(id=page.id, title=title, path=path, category="Stores", summary="What it is.", tags=("relay",))
    return PageView(page=page, brief=brief, text=text, front={"status": "current"})


PAGES = [view("Relay", "stores/relay.md"), view("缓存", "stores/缓存.md"), view("Gateway", "stores/gateway.md")]


def test_a_site_needs_no_server(tmp_path: Path) -> None:
    """Pages link to each other, footnotes are numbered with their quotes, and no markup of a document is markup."""
    assert write_site(PAGES, tmp_path) == 3
    page = (tmp_path / "stores/relay.html").read_text()
    assert 'href="gateway.html"' in page
    assert '<sup><a href="#fn1" title="“The relay forwards.”' in page
    assert "<b>" not in page
    assert "normalized" not in re.sub(r"title=\"[^\"]*\"", "", page)
    assert (tmp_path / "stores/缓存.html").is_file()
    assert "const PAGES = [[" in (tmp_path / "search.js").read_text()
    assert 'href="stores/relay.html"' in (tmp_path / "index.html").read_text()


def test_a_page_of_the_site_shows_those_around_it(tmp_path: Path) -> None:
    """As a drawing whose links lead to their files, whatever the script; a page that stands alone has none."""
    links = (Link(title="缓存", path="stores/缓存.md"), Link(title="A <b> & c", path="other/a.md"))
    first = PAGES[0].model_copy(update={"page": PAGES[0].page.model_copy(update={"related": links})})
    write_site([first, PAGES[1], view("A <b> & c", "other/a.md", "# Alone\n")], tmp_path)
    page = (tmp_path / "stores/relay.html").read_text()
    assert f'<a href="{quote("缓存.html")}"><title>缓存</title>' in page
    assert '<a href="../other/a.html"><title>A &lt;b&gt; &amp; c</title>' in page
    assert page.index("<svg") < page.index('<section class="notes">')
    assert "<svg" not in (tmp_path / "other/a.html").read_text()


def test_what_no_category_holds_comes_last(tmp_path: Path) -> None:
    """Under the name that people read."""
    first = PAGES[0]
    loose = first.model_copy(
        update={"brief": first.brief.model_copy(update={"category": "UNCLASSIFIED", "title": "Apart"})}
    )
    zoo = first.model_copy(update={"brief": first.brief.model_copy(update={"category": "Zoo"})})
    write_site([loose, zoo], tmp_path)
    index = (tmp_path / "index.html").read_text()
    assert index.index("<h2>Zoo</h2>") < index.index("<h2>Other notes</h2>")


def test_a_bundle_is_conformant(tmp_path: Path) -> None:
    """Every concept has a type, each folder an index, and the first one names the version."""
    assert write_bundle(PAGES, tmp_path) == 3
    front = yaml.safe_load((tmp_path / "stores/relay.md").read_text().split("---\n")[1])
    assert (front["type"], front["title"], front["status"]) == ("Topic", "Relay", "stable")
    body = (tmp_path / "stores/relay.md").read_text().split("---\n", 2)[2]
    assert "normalized" not in body
    assert "[Gateway](gateway.md)" in body
    assert "[Relay](relay.md): What it is." in (tmp_path / "stores/index.md").read_text()
    assert yaml.safe_load((tmp_path / "index.md").read_text().split("---\n")[1]) == {"okf_version": "0.3"}
