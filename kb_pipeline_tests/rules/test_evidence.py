"""What a draft must keep of its chunk."""

import pytest

from kb_pipeline.records import Chunk, Draft
from kb_pipeline.rules.evidence import around, foreign_units, named
from kb_pipeline.rules.evidence import fault as fault_of
from kb_pipeline.rules.ids import draft_hash

TEXT = (
    "A replica needs 12 GB of disk and 4 CPU cores. The gateway does not retry a failed request.\n\n"
    "Version 2.1 of the relay holds 64 messages. Some words are [UNREADABLE] here."
)
TABLE = "| replica | 12 | 900 |\n"


def chunk(text: str = TEXT, header: str = "") -> Chunk:
    return Chunk(
        id="c", doc_id="d", hash="h", kind="text", heading=("Limits",), text=text, header=header, start=0, end=len(text)
    )


def draft(statement: str, span: str, text: str = TEXT, **fields: str) -> Draft:
    start = max(text.find(span), 0)
    return Draft.model_validate(
        {
            "hash": draft_hash(statement, None),
            "statement": statement,
            "source_span": span,
            "start": start,
            "end": start + len(span),
            "engine": "e",
            **fields,
        }
    )


def fault(found: Draft, source: Chunk) -> tuple[str, str]:
    return fault_of(found, source, around(source))


DISK, RETRY, RELAY = TEXT[:46], TEXT[47:92], TEXT[94:137]


@pytest.mark.parametrize(
    ("statement", "span", "reason"),
    [
        ("A replica needs 12 GB of disk.", DISK, ""),
        ("Each replica takes 12 GB of disk and 4 cores.", DISK, ""),
        ("The gateway does not retry failed requests.", RETRY, ""),
        ("The relay of version 2.1 holds 64 messages.", RELAY, ""),
        ("A replica needs 12 GB of disk.", "A replica needs 12GB of disk.", "span-not-verbatim"),
        ("Some words are here.", TEXT[-36:], "span-unreadable"),
        ("A replica needs 13 GB of disk.", DISK, "number-not-in-source"),
        ("A replica needs 12 MB of disk.", DISK, "unit-not-in-source"),
        ("Version 2.2 of the relay holds 64 messages.", RELAY, "number-not-in-source"),
        ("The gateway does retry a failed request.", RETRY, "negation-not-in-source"),
        ("A replica does not need 12 GB of disk.", DISK, "negation-not-in-source"),
        ("Purple elephants dance every evening.", DISK, "statement-not-in-source"),
        ("Disk", DISK, "no-statement"),
    ],
)
def test_what_a_chunk_proves(statement: str, span: str, reason: str) -> None:
    """A statement keeps quote, figures, units, versions, words and negation of its chunk, or is none."""
    assert fault(draft(statement, span), chunk())[0] == reason


@pytest.mark.parametrize(
    ("text", "quote", "cut"),
    [
        ("It took 1.5 ms. Then it slept.", "5 ms.", True),
        ("It took 1.5 ms. Then it slept.", "It took 1.", True),
        ("It took 15 ms. Then it slept.", "It took 1", True),
        ("Unit XA100 holds it.", "A100 holds it.", True),
        ("It took 15 %. Then it slept.", "It took 15", True),
        ("It took 15 ms. Then it slept.", "It took 15 ms.", False),
        ("* A100 holds it.", "A100 holds it.", False),
    ],
)
def test_a_quote_that_cuts_a_figure_proves_another_one(text: str, quote: str, *, cut: bool) -> None:
    """A statement that is its quote to the letter has the figures of its chunk, unless it begins or ends within one."""
    assert fault(draft(quote, quote, text), chunk(text))[0] == ("number-not-in-source" if cut else "")


@pytest.mark.parametrize("name", ["detail", "context"])
def test_detail_and_context_invent_no_figure(name: str) -> None:
    """Figures of all that a draft says are looked for."""
    assert fault(draft("A replica needs 12 GB of disk.", DISK, **{name: "At 77 degrees."}), chunk())[0] == (
        "number-not-in-source"
    )


def test_headings_and_table_headers_are_part_of_what_a_chunk_says() -> None:
    """A unit at the head of a column belongs to the figures below it."""
    rows = chunk(TABLE, "| name | disk (GB) | rows |\n")
    assert fault(draft("A replica has a disk of 12 GB.", TABLE.strip(), TABLE), rows) == ("", "")
    assert foreign_units("12 MB", "disk (GB): 12") == ("12 MB",)


def test_names_that_occur_nowhere_are_left_out() -> None:
    """Case and typography aside, an entity stands in the chunk or is none of the item's."""
    held = named(("gateway", "RELAY", "Limits", "TensorRT", ""), around(chunk()))
    assert held == ("gateway", "RELAY", "Limits")


def test_languages_without_spaces_are_read() -> None:
    """A statement in Chinese is judged by its figures and its quote."""
    text = "网关最多接受512个连接。"
    assert fault(draft("网关接受512个连接。", text, text), chunk(text)) == ("", "")
    assert fault(draft("网关接受640个连接。", text, text), chunk(text))[0] == "number-not-in-source"
