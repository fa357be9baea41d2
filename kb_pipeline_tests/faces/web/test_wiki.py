"""The wiki in the server: pages are read where links lead, notes show their proof, and each sees his own."""

from pathlib import Path

import pytest

from kb_pipeline.faces.web.wiki import address, rendered
from kb_pipeline_tests.driving import opened
from kb_pipeline_tests.faces.web.test_markdown import parsed
from kb_pipeline_tests.two_projects import bearer, served

PAGE = """---
id: "pg_1"
---

# Cache

It holds 16 pages.[^kb_0123456789ab]
<script>alert(1)</script> See [the other](../hardware/gpu.md#size) and [bad](javascript:alert).

[^kb_0123456789ab]: “It holds <b>16</b> pages.” — [notes/a.md](../../normalized/notes/a.md.md), CC0-1.0.
"""


def test_notes_become_proofs_and_links_lead_within() -> None:
    """A note is a link to its item with the quote beside it; front matter and definitions are not shown."""
    html = rendered(PAGE, "kv-cache/cache.md")
    parsed(html)
    assert 'href="/items/kb_0123456789ab"' in html
    assert "“It holds &lt;b&gt;16&lt;/b&gt; pages.” — notes/a.md" in html
    assert 'href="/wiki/hardware/gpu"' in html
    assert "pg_1" not in html
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
