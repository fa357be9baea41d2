"""The pages around a page: which they are, and that what is drawn of them stays apart and in place."""

from itertools import pairwise

from kb_pipeline.records import Link, Neighbour, Neighbourhood, Page
from kb_pipeline.rules.pages.neighbourhood import MOST, WIDTH, drawn, neighbourhood

TEXT = """# Relay

The relay feeds the Gateway.[^kb_0123456789ab]

## Related pages

- [Store](store.md)

## My own words

See [the map](../maps/map.md#legend), [gone](gone.md) and [elsewhere](https://example.org/a.md).
"""


def page(title: str, *related: str, backlinks: tuple[str, ...] = (), folder: str = "kv") -> Page:
    """A page that lies in ``folder``, with links to others by their titles."""
    to = [tuple(Link(title=t, path=f"kv/{t.lower()}.md") for t in names) for names in (related, backlinks)]
    path = f"{folder}/{title.lower()}.md"
    return Page(id=f"pg_{title}", title=title, category="KV", path=path, related=to[0], backlinks=to[1])


def plan(*pages: Page) -> dict[str, Page]:
    """The pages by path."""
    return {one.path: one for one in pages}


RELAY = page("Relay", "Gateway", "Store", backlinks=("Index", "Hidden"))
PLAN = plan(RELAY, page("Gateway", "Store"), page("Store"), page("Index"), page("Map", folder="maps"))


def test_a_page_stands_among_those_that_lead_to_it_and_those_that_it_leads_to() -> None:
    """Pages that lead here, that a sentence names or a person linked, and others that are related; those that may not
    be seen, or are not there, are not among them, and neither is what only the lists of links name."""
    found = neighbourhood(RELAY, TEXT, PLAN)
    assert [(n.title, n.kind) for n in found.neighbours] == [
        ("Index", "leads"),
        ("Gateway", "named"),
        ("Map", "named"),
        ("Store", "related"),
    ]
    assert found.links == ((1, 3),)
    assert found.more == 0


def test_of_too_many_the_nearest_are_shown_and_the_rest_counted() -> None:
    """What the page names stays before what merely leads to it."""
    names = [f"P{n:02}" for n in range(40)]
    middle = page("Relay", *names[:10], backlinks=tuple(names[10:]))
    found = neighbourhood(middle, "# Relay\n\nP03 feeds it.\n", plan(middle, *map(page, names)))
    assert len(found.neighbours) == MOST
    assert found.more == 40 - MOST
    assert {n.title for n in found.neighbours if n.kind != "leads"} == set(names[:10])


def test_nothing_is_drawn_over_anything_else() -> None:
    """Rows keep apart, the page stands between those that lead to it and the others, long titles are cut, and a wide
    letter takes the room of two."""
    kinds = ("leads", "named", "related")
    around = [
        Neighbour(title="一" * 40 if n == 1 else f"Page {n:02} " + "x" * 40, path=f"{n}", kind=kinds[n % 3])
        for n in range(24)
    ]
    around.sort(key=lambda n: kinds.index(n.kind))
    found = drawn(Neighbourhood(title="Middle", path="m", neighbours=tuple(around), links=((0, 23),)))
    rows = sorted([*(node.y for node in found.nodes), found.page.y])
    assert all(b - a >= 24 for a, b in pairwise(rows))
    above = [node.y < found.page.y for node in found.nodes]
    assert above == [n.kind == "leads" for n in around]
    assert rows[-1] + 13 <= found.height
    assert len(found.arcs) == 24
    assert len(found.between) == 1
    assert {len(node.label) for node in found.nodes} <= {16, 32}
    assert found.width == WIDTH
    assert found == drawn(Neighbourhood(title="Middle", path="m", neighbours=tuple(around), links=((0, 23),)))
