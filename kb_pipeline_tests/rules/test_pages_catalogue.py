"""A page in one line of the catalogue."""

from kb_pipeline.records import Item, Page, Part, Written
from kb_pipeline.rules.pages.catalogue import brief_of
from kb_pipeline.rules.pages.rendering import tags_of


def test_keys_are_figures_with_their_units_and_no_word_beside_them() -> None:
    """A figure is a key as it is written, with a unit where one follows, never with the word or comma after it."""
    item = Item(
        id="kb_1",
        statement="The pool sets the budget to 4096, half of 0.6 and a 13B model needs 140 GB or 80% of 16,384 tokens.",
    )
    page = Page(id="pg_1", title="Pool", path="pool.md", category="Memory", parts=(Part(heading="", items=("kb_1",)),))
    brief = brief_of(page, Written(), {"kb_1": item})
    assert set(brief.keys) == {"4096", "0.6", "13B", "140 GB", "80%", "16,384"}


def test_a_page_is_tagged_with_what_its_items_share() -> None:
    """A tag of one item among many is none of the page; where none is shared, the first few stand."""
    items = [Item(id=f"kb_{n}", statement="x", tags=("pool", f"own-{n}")) for n in range(5)]
    assert tags_of(items) == ["pool"]
    assert tags_of([item.model_copy(update={"tags": item.tags[1:]}) for item in items]) == ["own-0", "own-1", "own-2"]
