"""The plan of the wiki: one home for every item, stable, convergent, with titles of any script."""

import operator
import random
from collections.abc import Iterable, Sequence

from kb_pipeline.records import Category, Outline, Page, Placed, Section, Taxonomy
from kb_pipeline.rules.pages.planning import plan
from kb_pipeline.rules.pages.sizing import MOST, MOST_STANDING
from kb_pipeline.rules.pages.titles import slug
from kb_pipeline.rules.pages.topics import form_of

TAXONOMY = Taxonomy(categories=(Category(name="Stores", description="Stores.", keywords=("redis", "cache")),))


def outline(doc: str, title: str, *sections: tuple[str, int], names: Sequence[str] = ()) -> Outline:
    """A document of sections (heading, how many items); an empty heading is that of the title."""
    made = [
        Section(
            heading=(heading,) if heading else (),
            items=tuple(
                Placed(f"kb_{doc}_{heading}_{n}", "Stores", tuple(names), tuple(sorted(map(form_of, names))))
                for n in range(size)
            ),
        )
        for heading, size in sections
    ]
    return Outline(doc_id=f"notes/{doc}.md", title=title, sections=tuple(made))


def planned(outlines: Iterable[Outline], previous: Sequence[Page] = ()) -> dict[str, Page]:
    """The pages of a plan by title."""
    return {page.title: page for page in plan(outlines, TAXONOMY, previous)}


def homes(pages: Iterable[Page]) -> dict[str, str]:
    """The page of each item; an item at home on two raises."""
    found: dict[str, str] = {}
    for page in pages:
        for item in page.items:
            assert item not in found
            found[item] = page.id
    return found


def library(chance: random.Random) -> list[Outline]:
    """Documents of all sizes, some with one title, some without headings."""
    made = []
    for n in range(60):
        title = f"Subject {chance.randint(1, 40)}"
        sections = [(f"Part {k}" if k else "", chance.choice((0, 1, 2, 9, 45))) for k in range(chance.randint(1, 6))]
        made.append(outline(f"d{n}", title, *sections, names=(f"Name{chance.randint(1, 5)}",)))
    return made


def test_every_item_has_one_home_whatever_the_order() -> None:
    """Equal items give equal pages in whatever order they come, each item on exactly one, titles and paths unique."""
    chance = random.Random(7)
    for _ in range(20):
        outlines = library(chance)
        pages = plan(outlines, TAXONOMY)
        items = {item.id for o in outlines for section in o.sections for item in section.items}
        assert homes(pages).keys() == items
        assert len({page.title.casefold() for page in pages}) == len({page.path for page in pages}) == len(pages)
        chance.shuffle(outlines)
        assert plan(outlines, TAXONOMY) == pages


def test_a_plan_follows_upon_itself() -> None:
    """Planning again over the same items changes nothing: the pages are those of the plan before."""
    chance = random.Random(11)
    for _ in range(20):
        outlines = library(chance)
        pages = plan(outlines, TAXONOMY)
        again = plan(outlines, TAXONOMY, pages)
        assert again == pages
        assert all(map(operator.is_, again, pages))


def test_one_item_more_moves_no_other() -> None:
    """At the edge of a size a page that exists stays, so that an added item finds its place and nothing else moves."""
    whole = outline("guide", "Guide", ("One", MOST // 2), ("Two", MOST // 2))
    before = plan([whole], TAXONOMY)
    grown = outline("guide", "Guide", ("One", MOST // 2), ("Two", MOST // 2 + 1))
    after = plan([grown], TAXONOMY, before)
    assert len(before) == len(after) == 1
    assert len(plan([grown], TAXONOMY)) > 1
    moved = {item for item, page in homes(before).items() if homes(after)[item] != page}
    assert moved == set()


def test_a_long_subject_parts_along_its_headings_and_a_thin_one_joins() -> None:
    """Headings with enough items become pages that know each other; small ones stay with their document."""
    pages = planned([outline("guide", "Guide", ("", 3), ("Install", 30), ("Tune", 30), ("Credits", 2))])
    assert pages.keys() == {"Guide", "Install", "Tune"}
    assert [part.heading for part in pages["Guide"].parts] == ["", "Credits"]
    assert {link.title for link in pages["Guide"].related} >= {"Install", "Tune"}
    assert {link.title for link in pages["Tune"].related} >= {"Guide"}


def test_no_page_outgrows_its_size_without_headings_either() -> None:
    """A text without headings falls into runs that an item more moves little of."""
    flat = [Outline(doc_id="notes/log.md", title="Field log", sections=(Section(heading=(), items=placed(400)),))]
    before = plan(flat, TAXONOMY)
    assert all(len(page.items) <= MOST_STANDING for page in before)
    longer = Section(heading=(), items=(*placed(1, "new"), *placed(400)))
    after = plan([flat[0].model_copy(update={"sections": (longer,)})], TAXONOMY, before)
    moved = [item for item, page in homes(before).items() if homes(after)[item] != page]
    assert len(moved) <= MOST


def placed(count: int, name: str = "line") -> tuple[Placed, ...]:
    """Items in a row."""
    return tuple(Placed(id=f"kb_{name}{n}", category="Stores") for n in range(count))


def test_versions_of_a_document_are_one_page() -> None:
    """The newest comes first, and the title is without version."""
    older = outline("guide-v0.5", "Engine guide, v0.5", ("Memory", 6))
    newer = outline("guide-v0.10", "Engine guide, v0.10", ("Memory", 6))
    (page,) = plan([older, newer], TAXONOMY)
    assert page.title == "Engine guide"
    assert set(page.aliases) == {"Engine guide, v0.5", "Engine guide, v0.10"}
    assert page.items[0].startswith("kb_guide-v0.10")


def test_titles_that_differ_by_a_word_or_in_script_are_separate_pages() -> None:
    """No title swallows another, and every one has a path of its own letters."""
    titles = (
        "Redis",
        "Redis Cluster Failover",
        "Kubernetes 部署",
        "Kubernetes 监控",
        "캐시 정책",
        "ذاكرة التخزين",
        "C++",
        "C#",
    )
    pages = planned([outline(f"d{n}", title, ("", 6)) for n, title in enumerate(titles)])
    assert pages.keys() == set(titles)
    assert pages["Kubernetes 部署"].path == "stores/kubernetes-部署.md"
    assert pages["ذاكرة التخزين"].path == "stores/ذاكرة-التخزين.md"
    assert len({page.path for page in pages.values()}) == len(titles)


def test_thin_documents_gather_by_the_name_they_speak_of() -> None:
    """Notes of a line or two that name one thing share its page; the rest stands under its category."""
    notes = [outline(f"n{n}", f"Note {n}", ("", 2), names=("Turnstile",)) for n in range(4)]
    pages = planned([*notes, outline("odd", "Odd one", ("", 2))])
    assert {title: len(page.items) for title, page in pages.items()} == {"Turnstile": 8, "Stores": 2}


def test_namesakes_say_what_they_are_part_of() -> None:
    """Sections and files of one name that says nothing get titles that do."""
    first = outline("a", "Relay", ("", 3), ("Limits", 40))
    second = outline("b", "Gateway", ("", 3), ("Limits", 40))
    assert planned([first, second]).keys() == {"Relay", "Relay: Limits", "Gateway", "Gateway: Limits"}


def test_a_slug_is_never_empty() -> None:
    """Whatever the title, there is a file name."""
    assert [slug(title) for title in ("Redis", "C++", "???", "index")] == ["redis", "c-plus-plus", "page", "index-page"]
