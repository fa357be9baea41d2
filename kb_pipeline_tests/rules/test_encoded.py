"""Records as bytes: what can be told of them without decoding them."""

import json

import pytest
from pydantic import ValidationError

from kb_pipeline.records import PageBrief
from kb_pipeline.rules.encoded import Read, listed, named, stated, strings


def test_strings_are_those_under_the_field_alone() -> None:
    """At any depth and in any layout, escapes resolved; what a text merely quotes is no field."""
    found = {"doc_id": 'a/"b"\u00e9.md', "sources": [{"doc_id": "c.md"}], "said": '"doc_id": "no.md"', "my_doc_id": "x"}
    for layout in ({}, {"indent": 2}, {"separators": (",", ":")}, {"ensure_ascii": False}):
        assert strings("doc_id", json.dumps(found, **layout).encode()) == {'a/"b"\u00e9.md', "c.md"}
    assert strings("doc_id", b"{}") == set()


def test_strings_of_lists_are_those_under_the_field_alone() -> None:
    """Brackets, quotes and escapes in them are theirs; an empty list has none, and a string is no list."""
    found = {"docs": ["a]/b.md", 'c"\u00e9,.md'], "pages": [{"docs": []}, {"docs": ["d.md"]}], "said": '"docs": ["no"]'}
    for layout in ({}, {"indent": 2}, {"separators": (",", ":")}, {"ensure_ascii": False}):
        assert listed("docs", json.dumps(found, **layout).encode()) == {"a]/b.md", 'c"\u00e9,.md', "d.md"}
    assert listed("docs", b'{"docs": "a.md"}') == set()


def test_drafts_are_told_from_the_lines_of_a_document() -> None:
    """Each draft by its hash, with its chunk, its topic and its canonical statement, in order."""
    one = {"hash": "a1", "statement": "The Cache is  Full.", "source_span": "", "start": 0, "end": 0, "engine": ""}
    drafts = [one, {**one, "hash": "b2", "topic": "t"}]
    data = "".join(json.dumps({"chunk_hash": c, "drafts": d}) + "\n" for c, d in (("c1", drafts), ("c2", []))).encode()
    assert stated(data) == [("a1", "c1", "", "the cache is full"), ("b2", "c1", "t", "the cache is full")]


def test_what_is_read_for_a_pool_is_read_when_asked_for() -> None:
    """A part at a time, in order, and nothing ahead of it."""
    asked: list[str] = []

    def read(key: str) -> str:
        asked.append(key)
        return key.upper()

    shown = Read(read, "abcd")
    assert (len(shown), asked) == (4, [])
    assert (shown[1:3], asked) == (["B", "C"], ["b", "c"])
    assert list(shown) == ["A", "B", "C", "D"]


def test_of_a_list_only_those_asked_for_are_decoded() -> None:
    """One a line, as the catalogue is written; what cannot be decoded hurts only who asks for it, and another layout
    has nothing to give."""
    briefs = [PageBrief(id=f"pg_{n}", title="t", path="p.md", category="c") for n in range(3)]
    told = [brief.model_dump_json(exclude_defaults=True) for brief in briefs]
    data = f'[\n{told[0]},\n{told[1]},\n{{"id":"pg_x"}},\n{told[2]}\n]\n'.encode()
    assert named(PageBrief, data, {"pg_2", "pg_0", "pg_9"}) == (briefs[0], briefs[2])
    assert named(PageBrief, f"[{','.join(told)}]".encode(), {"pg_0"}) == ()
    with pytest.raises(ValidationError):
        named(PageBrief, data, {"pg_x"})
