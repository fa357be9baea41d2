"""Source types of the user's own."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kb_pipeline.errors import KbError, SourceUnavailable
from kb_pipeline.records import Source
from kb_pipeline.sources import check_types, kinds
from kb_pipeline_tests.project import ROOT
from kb_pipeline_tests.sources.conftest import Listing, remember

Write = Callable[..., Path]
GOOD = """\
from kb_pipeline.records import Fetched
TYPE = "greeting"
def fetch(source, known, world):
    yield Fetched(path="hello.md", state="changed", content=source.uri[0].encode())
"""


def plugged(kind: str = "greeting", **options: object) -> Source:
    return Source(id="mine", type=kind, uri=("hello",), options=options)


def raised(listing: Listing, source: Source) -> KbError:
    with pytest.raises(SourceUnavailable) as caught:
        listing.fetch(source)
    return caught.value


def test_a_module_adds_a_type(listing: Listing, write: Write) -> None:
    """A file with TYPE and fetch in kb/plugins is a source type, remote until it says otherwise."""
    write("kb/plugins/greeting.py", GOOD)
    write("kb/plugins/_private.py", "raise SystemExit")
    table = kinds(listing.settings)
    assert list(table) == ["greeting", "local", "web"]
    assert table["greeting"].remote
    assert table["greeting"].fingerprint(plugged(), listing.settings) is None
    assert [line.content for line in listing.fetch(plugged())] == [b"hello"]


def test_an_edited_plugin_needs_no_restart(listing: Listing, write: Write) -> None:
    """The module is imported anew when its file changes, and leaves no bytecode in the knowledge base."""
    write("kb/plugins/greeting.py", GOOD)
    listing.fetch(plugged())
    write("kb/plugins/greeting.py", GOOD.replace("source.uri[0].encode()", "b'edited'"))
    assert [line.content for line in listing.fetch(plugged())] == [b"edited"]
    assert [path.name for path in (listing.settings.kb / "plugins").iterdir()] == ["greeting.py"]


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ('TYPE = "greeting"\nimport nowhere_at_all\n', "greeting.py:2", "ModuleNotFoundError"),
        ('TYPE = "greeting"\n\ndef fetch(:\n', "greeting.py:3", "SyntaxError"),
        ('TYPE = "greeting"\n1 / 0\n', "greeting.py:2", "ZeroDivisionError"),
        ('TYPE = "greeting"\nraise SystemExit(3)\n', "greeting.py:2", "SystemExit"),
        ('TYPE = "greeting"\n', "greeting.py", "has no fetch"),
        ("def fetch(source, known, world): return []\n", "greeting.py", "has no TYPE"),
        (GOOD.replace("yield", "1 / 0; yield"), "greeting.py:4", "ZeroDivisionError"),
        (GOOD.replace("yield", "return"), "greeting.py", "is no Fetched"),
        (GOOD.replace("hello.md", "../hello.md"), "greeting.py", "no relative path"),
        (GOOD.replace("hello.md", "/hello.md"), "greeting.py", "no relative path"),
        (GOOD.replace("hello.md", "a//b.md"), "greeting.py", "no relative path"),
        (GOOD.replace("hello.md", "a\\nb.md"), "greeting.py", "unprintable"),
        (GOOD.replace("hello.md", "x" * 300), "greeting.py", "more than 180 bytes"),
        (GOOD.replace("content=source.uri[0].encode()", "uri=''"), "greeting.py", "no content"),
        (GOOD + GOOD.splitlines()[3] + "\n", "greeting.py", "came before"),
    ],
)
def test_a_broken_plugin_breaks_its_own_sources_alone(
    listing: Listing, write: Write, text: str, where: str, what: str
) -> None:
    """Whatever is wrong with it, its sources fail with file and line, the settings stay valid and others go on."""
    write("kb/plugins/greeting.py", text)
    write("notes/a.md")
    error = raised(listing, plugged())
    assert error.where == f"kb/plugins/{where}"
    assert what in error.what
    assert error.cure
    assert [line.path for line in listing.fetch(Source(id="notes", type="local", uri=("notes",)))] == ["a.md"]
    settings = type(listing.settings)(listing.settings.root, sources=(plugged(),))
    assert check_types(settings) == []


def test_a_plugin_may_raise_errors_of_its_own(listing: Listing, write: Write) -> None:
    """A KbError reaches the user as it is."""
    text = GOOD.replace("yield", "from kb_pipeline.errors import Busy; raise Busy('later'); yield")
    write("kb/plugins/greeting.py", text)
    with pytest.raises(KbError, match="later") as caught:
        listing.fetch(plugged())
    assert caught.value.code == "busy"


def test_a_failing_fingerprint_is_an_unavailable_source(listing: Listing, write: Write) -> None:
    """fingerprint makes a type local, and what it raises is told with file and line."""
    write("kb/plugins/greeting.py", GOOD + "\ndef fingerprint(source, settings):\n    return open(source.uri[0])\n")
    kind = kinds(listing.settings)["greeting"]
    assert not kind.remote
    with pytest.raises(SourceUnavailable, match=r"greeting\.py:7.*FileNotFoundError"):
        kind.fingerprint(plugged(), listing.settings)


def test_a_type_is_taken_once(listing: Listing, write: Write) -> None:
    """A plugin that takes a built-in type, or another's, is a mistake; the first keeps it."""
    write("kb/plugins/a.py", GOOD)
    write("kb/plugins/b.py", GOOD)
    write("kb/plugins/c.py", GOOD.replace("greeting", "web"))
    first, second = check_types(listing.settings)
    assert first == "kb/plugins/b.py: TYPE 'greeting' is taken by kb/plugins/a.py. Rename it."
    assert second == "kb/plugins/c.py: TYPE 'web' is taken by a built-in type. Rename it."


def test_options_of_a_plugin_are_checked(listing: Listing, write: Write) -> None:
    """OPTIONS names what may stand under options, with or without types; without it anything may."""
    write("kb/plugins/greeting.py", GOOD)

    def mistakes() -> list[str]:
        source = plugged(mood="glad", tmes=2)
        return check_types(type(listing.settings)(listing.settings.root, sources=(source,)))

    assert mistakes() == []
    write("kb/plugins/greeting.py", GOOD + 'OPTIONS = ["mood", "times"]\n')
    (line,) = mistakes()
    assert line == (
        "sources.yaml:1: source 'mine': unknown option 'tmes'. Did you mean 'times'? Known options: mood, times."
    )
    write("kb/plugins/greeting.py", GOOD + 'OPTIONS = {"mood": ("sad", "calm"), "tmes": int}\n')
    (line,) = mistakes()
    assert "option 'mood' must be one of sad, calm, not 'glad'" in line


def test_the_example_works(listing: Listing, write: Write) -> None:
    """examples/plugins/jsonl.py, copied as its docstring says, lists, skips, fails and deletes line by line."""
    (listing.settings.kb / "plugins").mkdir(parents=True)
    shutil.copy(ROOT / "examples/plugins/jsonl.py", listing.settings.kb / "plugins/jsonl.py")
    source = Source(
        id="tickets", type="jsonl", uri=("t.jsonl",), options={"key": "number", "text": "body", "title": "subject"}
    )
    assert check_types(type(listing.settings)(listing.settings.root, sources=(source,))) == []
    tickets = [{"number": i, "subject": f"S{i}", "body": f"text {i}"} for i in (1, 2)]
    write("t.jsonl", "\n".join(json.dumps(t) for t in tickets) + "\n\nnot json\n")
    lines = listing.fetch(source)
    assert [(line.path, line.state, line.title) for line in lines] == [
        ("1.md", "changed", "S1"),
        ("2.md", "changed", "S2"),
        ("line-4", "failed", ""),
    ]
    known = remember(lines)
    before = kinds(listing.settings)["jsonl"].fingerprint(source, listing.settings)
    write("t.jsonl", json.dumps({"number": "1/b", "body": "new"}) + "\n" + json.dumps(tickets[1]))
    assert [line.state for line in listing.fetch(source, known)] == ["changed", "same"]
    assert kinds(listing.settings)["jsonl"].fingerprint(source, listing.settings) != before
    (listing.settings.root / "t.jsonl").unlink()
    assert "t.jsonl" in raised(listing, source).what
