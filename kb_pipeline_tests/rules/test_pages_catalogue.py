"""A page in one line of the catalogue."""

from kb_pipeline.records import Item, Page, PageBrief, Part, Stated, Written
from kb_pipeline.rules.catalogue import kind_of, telling
from kb_pipeline.rules.pages.catalogue import Indexes, brief_of
from kb_pipeline.rules.pages.rendering import tags_of


def test_keys_are_figures_with_their_units_and_no_word_beside_them() -> None:
    """A figure is a key as it is written, with a unit where one follows, never with the word or comma after it."""
    item = Item(
        id="kb_1",
        statement="The pool sets the budget to 4096, half of 0.6 and a 13B model needs 140 GB or 80% of 16,384 tokens.",
    )
    page = Page(id="pg_1", title="Pool", path="pool.md", category="Memory", parts=(Part(heading="", items=("kb_1",)),))
    brief = brief_of(page, Written(), {"kb_1": item})
    figures = {key for key in brief.keys if kind_of(key) == "figure"}
    assert figures == {"4096", "0.6", "13B", "140 GB", "80%", "16,384"}


def test_keys_hold_words_that_title_and_summary_lack() -> None:
    """Those that the page uses once come first; names, particles and what the line says anyway are left out."""
    told = ("The pool splits blocks.", "The pool keeps blocks warm.", "A rusty valve in Berlin keeps the pool of it.")
    items = {f"kb_{n}": Item(id=f"kb_{n}", statement=text) for n, text in enumerate(told)}
    page = Page(id="pg_1", title="Pools", path="pool.md", category="M", parts=(Part(heading="", items=tuple(items)),))
    lead = Written(lead=(Stated(text=told[0], cites=("kb_0",)),))
    assert brief_of(page, lead, items).keys == ("rusty", "valve", "warm", "keep")


def test_an_index_shows_the_words_that_fewest_pages_have() -> None:
    """Its lines stay short, whatever a page is about; a long page keeps all its words for those who search them."""
    words = tuple(f"word{letter}" for letter in "abcdefghijklmnop")
    pages = [PageBrief(id=f"pg_{n}", title=f"P{n}", path=f"p{n}.md", category="M", keys=words) for n in range(2)]
    pages.append(PageBrief(id="pg_3", title="P3", path="p3.md", category="M", keys=("GB-1", "140 GB", *words, "valve")))
    *_, line = Indexes(pages).master().splitlines()
    assert line.startswith("- [P3](p3.md):  | keys: `GB-1`, `140 GB`, `valve`, `worda`, ")
    assert "`wordp`" not in line


def test_a_card_tells_of_each_kind_what_fewest_have() -> None:
    """A code that one page has is not crowded out by figures of which each has its own."""
    keys = (*(str(n) for n in range(100, 120)), "pool", "Tracer", "KX-7", "rusty")
    held = {"Tracer": 90, "pool": 80, "KX-7": 1, "rusty": 2}
    assert telling(keys, held, {"name": 1, "figure": 2, "word": 1}) == ["KX-7", "100", "101", "rusty"]


def test_a_page_is_tagged_with_what_its_items_share() -> None:
    """A tag of one item among many is none of the page; where none is shared, the first few stand."""
    items = [Item(id=f"kb_{n}", statement="x", tags=("pool", f"own-{n}")) for n in range(5)]
    assert tags_of(items) == ["pool"]
    assert tags_of([item.model_copy(update={"tags": item.tags[1:]}) for item in items]) == ["own-0", "own-1", "own-2"]
