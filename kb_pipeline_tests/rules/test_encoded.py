"""Records as bytes: what can be told of them without decoding them."""

import json

from kb_pipeline.rules.encoded import strings


def test_strings_are_those_under_the_field_alone() -> None:
    """At any depth and in any layout, escapes resolved; what a text merely quotes is no field."""
    found = {"doc_id": 'a/"b"\u00e9.md', "sources": [{"doc_id": "c.md"}], "said": '"doc_id": "no.md"', "my_doc_id": "x"}
    for layout in ({}, {"indent": 2}, {"separators": (",", ":")}, {"ensure_ascii": False}):
        assert strings("doc_id", json.dumps(found, **layout).encode()) == {'a/"b"\u00e9.md', "c.md"}
    assert strings("doc_id", b"{}") == set()
