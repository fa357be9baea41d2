"""The wiki in the server: pages are read where links lead, notes show their proof, and each sees his own."""

import re
from pathlib import Path

import pytest

from kb_pipeline.faces.web.wiki import address, rendered, with_contents
from kb_pipeline_tests.driving import compile_all, opened, write
from kb_pipeline_tests.faces.web.test_markdown import parsed
from kb_pipeline_tests.two_projects import bearer, served

PAGE = """---
id: "pg_1"
---

# Cache

It holds 16 pages.[^kb_0123456789ab]
We like `it`.[^by-hand]
<script>alert(1)</script> See [the other](../hardware/gpu.md#size) and [bad](javascript:alert).

[^kb_0123456789ab]: “It holds <b>16</b> pages.” — [notes/a.md](../../normalized/notes/a.md.md), CC0-1.0.
[^by-hand]: A person wrote or changed this sentence; no quote proves it.
"""


def test_notes_become_proofs_and_links_lead_within() -> None:
    """A note is a link to its item with the quote beside it; front matter and definitions are not shown."""
    html = rendered(PAGE, "kv-cache/cache.md")
    parsed(html)
    assert 'href="/items/kb_0123456789ab"' in html
    assert "“It holds &lt;b&gt;16&lt;/b&gt; pages.” — notes/a.md" in html
    assert 'href="/wiki/hardware/gpu"' in html
    assert "pg_1" not in html
    assert html.count("A person wrote or changed this sentence") == 1
    assert "by-hand" not in html
    assert "<script" not in html
    assert 'href="javascript' not in html


@pytest.mark.parametrize(
    ("target", "leads"),
    [
        ("b", "/wiki/kv/b"),
        ("../x/y", "/wiki/x/y"),
        ("../../normalized/notes/a.md", "/documents/notes/a.md"),
        ("../../normalized/notes/a%20b.md", "/documents/notes/a%20b.md"),
    ],
)
def test_where_a_relative_link_leads(target: str, leads: str) -> None:
    """From its place in the wiki to a page or a document of this server."""
    assert address(target, "kv/a.md") == leads


def test_pages_are_read_by_those_who_see_all_that_they_rest_on(root: Path) -> None:
    """Pages, API and resources show a page to its project, and tell the other one that there is none."""
    with opened(root) as base:
        (mine, *_) = [p for p in base.pages() if all(d.startswith("red/") for d in p.docs)]
    with served(root, ajar=False) as client:
        red, blue = bearer(root, "red", "red"), bearer(root, "blue", "blue")
        for path in (f"/wiki/{mine.id}", f"/wiki/{mine.path}", f"/api/pages/{mine.id}"):
            assert client.get(path, headers=red).status_code == 200, path
            reply = client.get(path, headers=blue)
            assert reply.status_code == 404, path
            assert mine.title not in reply.text
        assert mine.title in client.get("/wiki", headers=red).text
        assert mine.title not in client.get("/wiki", headers=blue).text
        assert "<h2>UNCLASSIFIED" not in client.get("/wiki", headers=red).text


def test_headings_can_be_led_to() -> None:
    """Each has a name of its own, made of its words alone."""
    note = '<sup class="cite note"><a href="/items/kb_0">●</a><span class="card-over">said</span></sup>'
    html, contents = with_contents(f"<h1>T</h1><h2>A &amp; b</h2><h3>A &amp; b{note}</h3><h2>???</h2>")
    assert contents == [(2, "a--b", "A & b"), (3, "a--b-1", "A & b"), (2, "section", "???")]
    assert '<h2 id="a--b">A &amp; b</h2>' in html


def test_a_page_shows_those_around_it(root: Path) -> None:
    """The drawing leads to the pages that may be seen, and to no other; a page that stands alone has none."""
    parts = ("valve", "tap", "hatch", "lid", "gate", "flap")
    said = "".join(
        f"The Turquoise pump fills the {part} of the Crimson guide within {n} seconds.\n\n"
        for n, part in enumerate(parts, 20)
    )
    write(root, {"red/pump.md": f"# Turquoise pump\n\n{said}"})
    write(root, {"blue/keel.md": f"# Azure keel\n\n{said.replace('fills', 'wets')}"})
    with opened(root) as base:
        compile_all(base)
    with served(root, ajar=False) as client:
        blue, whole = bearer(root, "blue", "blue"), bearer(root, "all")
        (href,) = re.findall(r'href="(/wiki/[^"]+)"><strong>Azure keel', client.get("/wiki", headers=whole).text)
        page = client.get(href, headers=whole).text
        assert re.findall(r'<a href="(/wiki/[^"]+)"><title>([^<]*)', page) == [
            ("/wiki/unclassified/turquoise-pump", "Turquoise pump")
        ]
        assert 'role="group" aria-labelledby="graph-title"' in page
        mine = client.get(href, headers=blue)
        assert mine.status_code == 200
        assert 'class="graph"' not in mine.text
        assert "turquoise-pump" not in mine.text
        assert "turquoise-pump" not in client.get(f"/api/pages/{href.removeprefix('/wiki/')}", headers=blue).text
