"""Pages by either writer: every item stated, every sentence carried; what a model invents never reaches a page."""

from collections.abc import Callable
from typing import Any

from kb_pipeline.engines.extractive.pages import written as plainly
from kb_pipeline.engines.openai.pages import write
from kb_pipeline.errors import ModelError
from kb_pipeline.records import Ask, Citation, Item, Material, Page, Part, Written
from kb_pipeline.rules.pages.merging import line_hashes
from kb_pipeline.rules.pages.reading import likely_base
from kb_pipeline.rules.pages.rendering import Rendered, cited, rendered
from kb_pipeline.rules.pages.stating import faults, settled
from kb_pipeline_tests.fakes import ScriptedChat, honestly

STATEMENTS = (
    "The relay is a process that forwards messages.",
    "The relay holds 64 messages in its queue by default.",
    "The relay drops the oldest message when its queue is full.",
    "The relay speaks TLS 1.3 to the gateway.",
    "The relay does not store messages on disk.",
)


def item(number: int, statement: str, **fields: Any) -> Item:
    """A published item."""
    source = Citation(
        doc_id="notes/relay.md",
        uri="notes/relay.md",
        source_type="doc",
        license="CC0-1.0",
        source_span=statement,
        start=0,
        end=len(statement),
        content_hash="c",
        version="v",
        fetched_at="2026-01-02T03:04:05Z",
    )
    return Item(id=f"kb_{number:012x}", statement=statement, sources=(source,), **fields)


ITEMS = tuple(item(n, statement) for n, statement in enumerate(STATEMENTS, start=1))
MATERIAL = Material(title="Relay", category="Stores", parts=(("", ITEMS[:1]), ("Queue", ITEMS[1:])))


def texts(page: Written) -> list[str]:
    """The sentences of a page, the lead's first."""
    blocks = [block for section in page.sections for block in section.blocks]
    return [s.text for s in page.lead] + [s.text for block in blocks for point in block.points for s in point]


def page_of(script: Callable[[Ask], Any]) -> tuple[Written, ScriptedChat]:
    """What stands on the page that a model wrote by ``script``, and what it was asked."""
    chat = ScriptedChat(script)
    (page,) = write([MATERIAL], chat)
    return settled(page if isinstance(page, Written) else plainly(MATERIAL), MATERIAL, plainly), chat


def reply(*sentences: tuple[str, list[int]]) -> dict[str, Any]:
    """A model's page of one paragraph below its lead."""
    told = [{"text": text, "items": numbers} for text, numbers in sentences]
    section = {"facet": "how", "heading": "", "kind": "prose", "sentences": told[1:]}
    return {"lead": told[:1], "sections": [section]}


def test_rules_state_every_item_once_in_its_own_words() -> None:
    """The sentence that says what the subject is leads the page."""
    page = plainly(MATERIAL)
    assert [s.text for s in page.lead] == [STATEMENTS[0]]
    assert sorted(texts(page)) == sorted(STATEMENTS)
    assert faults(page, MATERIAL) == []


def test_items_of_one_statement_stand_in_one_sentence() -> None:
    """It cites them all."""
    twice = Material(title="Relay", category="Stores", parts=(("", (*ITEMS, item(9, STATEMENTS[1]))),))
    page = plainly(twice)
    assert texts(page).count(STATEMENTS[1]) == 1
    assert set(cited(page)) == {i.id for i in (*ITEMS, item(9, ""))}


def test_a_list_keeps_its_lead_in_and_its_points() -> None:
    """Points of one list stand below it, what belongs to a point behind it, and options by themselves."""
    lead = "The following options are supported"
    listed = (
        item(1, "queue_size - How many messages the relay holds.", context=lead, item_type="definition"),
        item(2, "Defaults to 64.", context=f"{lead} > queue_size", confidence="medium"),
        item(3, "drop_policy - Which message the relay drops first.", context=lead, item_type="definition"),
    )
    page = plainly(Material(title="Relay", category="Stores", parts=(("Options", listed),)))
    (section,) = page.sections
    (block,) = section.blocks
    assert (section.facet, block.kind, block.lead_in) == ("options", "list", lead)
    assert [[s.text for s in point] for point in block.points] == [
        ["queue_size - How many messages the relay holds.", "Defaults to 64."],
        ["drop_policy - Which message the relay drops first."],
    ]


def test_what_belongs_to_a_point_tears_no_list() -> None:
    """Points of which each has a sentence of its own stand in one list, and none of them leads the page."""
    listed = (
        item(1, "html - Run in HTML mode.", context="Relay"),
        item(2, "Loads index.html by itself.", context="Relay > html"),
        item(3, "check_dir - Whether the folder must exist.", context="Relay"),
        item(4, "Defaults to True.", context="Relay > check_dir"),
        item(5, "follow - Whether links are followed.", context="Relay"),
    )
    page = plainly(Material(title="Relay", category="Stores", parts=(("", listed),)))
    assert page.lead == ()
    (section,) = page.sections
    (block,) = section.blocks
    assert [len(point) for point in block.points] == [2, 2, 1]


def text_of(*told: Item) -> str:
    """The page of items that stand below no heading."""
    material = Material(title="Relay", category="Stores", parts=(("", told),))
    parts = (Part(heading="", items=tuple(i.id for i in told)),)
    page = Page(id="pg_1", title="Relay", path="relay.md", category="Stores", parts=parts)
    return rendered(Rendered(page, plainly(material), {i.id: i for i in told}, {}))


def quoting(number: int, statement: str, quote: str) -> Item:
    """An item that more than its statement proves."""
    made = item(number, statement)
    return made.model_copy(update={"sources": (made.sources[0].model_copy(update={"source_span": quote}),)})


def test_what_announces_code_does_not_end_amid_a_thought() -> None:
    """Where the code is no part of the item, the sentence says so if it hangs on it."""
    text = text_of(item(1, "You can change the address by setting client:"), item(2, "Then you can use it as:"))
    assert "by setting client.[^" in text
    assert "use it as …[^" in text
    assert 'summary: "You can change the address by setting client"' in text
    assert {line for line in line_hashes(text) if line} <= set(likely_base(text))


def test_code_that_a_quote_shows_stands_below_its_sentence() -> None:
    """With the language of its fence, once, whatever it holds; the footnote shows the sentence alone."""
    quote = "You can set the port:\n\n~~~python\n# Not a heading\nport = 80\n\n```\n"
    text = text_of(item(1, STATEMENTS[0]), quoting(2, "You can set the port:", quote))
    shown = "You can set the port:[^kb_000000000002]\n\n````python\n# Not a heading\nport = 80\n\n```\n````\n"
    assert shown in text
    assert text.count("port = 80") == 1
    assert "[^kb_000000000002]: “You can set the port:” and the code that it shows — " in text
    assert {line for line in line_hashes(text) if line} <= set(likely_base(text))


def test_names_stand_as_code_where_their_document_has_them_so() -> None:
    """Each time that a name occurs counts by itself."""
    told = "You can change the client by setting client or a {prefix} of <b>."
    text = text_of(
        quoting(1, told, told.replace("setting client", "setting `client`").replace("{prefix}", "`{prefix}`"))
    )
    assert "You can change the client by setting `client` or a `{prefix}` of \\<b>.[^" in text


def test_what_leans_on_a_sentence_stays_behind_it() -> None:
    """A sentence tied by a connective follows its neighbour, whatever kind of knowledge either is."""
    told = ("The relay may fail.", "In this case, restart the relay.", "It keeps 64 messages.", "It speaks TLS 1.3.")
    kinds = ("fact", "procedure", "fact", "fact")
    items = [item(n, s, item_type=k) for n, (s, k) in enumerate(zip(told, kinds, strict=True), start=1)]
    text = text_of(item(9, "The relay is old."), *items)
    assert f"{told[0]}[^kb_000000000001]\n{told[1]}[^kb_000000000002]\n" in text


def test_an_honest_model_is_asked_once() -> None:
    """Its page stands as it is."""
    page, chat = page_of(honestly)
    assert sorted(texts(page)) == sorted(STATEMENTS)
    assert chat.tasks() == {"write_page": 1}


def test_prose_that_joins_items_stands() -> None:
    """A sentence may state several items, as long as it is carried by them."""
    joined = "The relay holds 64 messages in its queue by default and drops the oldest message when the queue is full."
    sentences = ((STATEMENTS[0], [1]), (joined, [2, 3]), (STATEMENTS[3], [4]), (STATEMENTS[4], [5]))
    page, _ = page_of(lambda _: reply(*sentences))
    assert joined in texts(page)
    assert set(cited(page)) == {i.id for i in ITEMS}


def test_what_is_invented_is_repaired_once_or_replaced() -> None:
    """Foreign numbers, names and citations, a lost negation and left-out items: asked about once, then the items' own
    statements stand there."""
    lies = (
        ("The relay is a process that forwards messages.", [1]),
        ("The relay holds 640 messages in its queue by default.", [2]),
        ("The relay drops the oldest message, as Kafka does, when its queue is full.", [3]),
        ("The relay speaks TLS 1.3 to the gateway.", [4, 77]),
        ("The relay stores messages on disk.", [5]),
    )
    page, chat = page_of(lambda _: reply(*lies))
    assert sorted(texts(page)) == sorted(STATEMENTS)
    assert chat.tasks() == {"write_page": 2}
    asked = chat.asked[1].user
    assert "number-not-in-evidence" in asked
    assert "unknown-citation" in asked


def test_half_of_the_items_is_not_enough() -> None:
    """What the model leaves out is stated all the same."""
    page, chat = page_of(lambda _: reply((STATEMENTS[0], [1]), (STATEMENTS[1], [2])))
    assert set(cited(page)) == {i.id for i in ITEMS}
    assert "ITEM 5 is not used" in chat.asked[1].user


def test_a_repair_that_is_no_better_is_not_taken() -> None:
    """The first page counts, with its faults replaced."""
    good = reply(*((text, [n]) for n, text in enumerate(STATEMENTS[:4], start=1)))
    worse = reply(("Nothing is known.", [1]))
    page, _ = page_of(lambda ask: worse if "is not used" in ask.user else good)
    assert sorted(texts(page)) == sorted(STATEMENTS)


def test_a_failed_call_fails_its_page_alone() -> None:
    """Other pages are written; the one that failed says why."""
    other = Material(title="Gateway", category="Stores", parts=(("", (item(8, "The gateway logs refusals."),)),))

    def script(ask: Ask) -> Any:
        return ModelError("cut", code="cut") if "Gateway" in ask.user else honestly(ask)

    first, second = write([MATERIAL, other], ScriptedChat(script))
    assert isinstance(first, Written)
    assert isinstance(second, ModelError)


def test_what_a_page_shows_a_model_holds_no_id() -> None:
    """Items go by numbers, so that a move of a document asks nothing again."""
    _, chat = page_of(honestly)
    shown = chat.asked[0].user + chat.asked[0].system
    assert "kb_0" not in shown
    assert "notes/relay.md" not in shown
