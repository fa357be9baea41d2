"""Which proposals to clean a document are taken, and what becomes of the others."""

from pathlib import Path
from typing import Any

import pytest

from kb_pipeline.errors import ModelError
from kb_pipeline.records import Ask, Document, Meta, Rewrite
from kb_pipeline.rules.ids import sha256
from kb_pipeline.stages.normalized import cleaned
from kb_pipeline_tests.driving import Cli, compile_all, new_root
from kb_pipeline_tests.engines.modelled import modelled
from kb_pipeline_tests.fakes import ScriptedChat, honestly

TEXT = """# Limits

Home | Contact

The gateway accepts 512
connections at once.

It drops a request after 30 seconds."""
PAGE = """<html><head><title>Limits</title></head><body><main><h1>Limits</h1>
<p>The gateway accepts at most 512 connections at once, and it drops a request that took more than 30 seconds.</p>
<p>The relay holds 64 messages in its queue by default, and the export job writes 900 rows every second.</p>
</main></body></html>"""


def document(text: str = TEXT) -> Document:
    return Document(
        text=text,
        meta=Meta(
            doc_id="notes/a.html",
            source_id="notes",
            title="Limits",
            uri="file:///a.html",
            source_type="web",
            license="CC0-1.0",
            language="en",
            raw_sha256="0" * 64,
            text_sha256=sha256(text.encode()),
            fetched_at="2026-01-01T00:00:00Z",
            converter="trafilatura",
            converter_version="1",
        ),
    )


def proposal(old: str, new: str | None, reason: str = "") -> Rewrite:
    return Rewrite(start=TEXT.index(old), end=TEXT.index(old) + len(old), text=new, reason=reason)


def test_a_faithful_proposal_is_taken() -> None:
    """A line of navigation goes, a broken line is joined, and the text's hash follows."""
    better = TEXT.replace("512\n", "512 ").replace("\n\nHome | Contact", "")
    found = cleaned(document(), [proposal(TEXT, better)])
    assert found.text == better
    assert found.meta.text_sha256 == sha256(found.text.encode())
    assert found.meta.warnings == ()


@pytest.mark.parametrize(
    ("proposed", "reason"),
    [
        (proposal("30 seconds", "31 seconds"), "it has what the original has not"),
        (proposal("30 seconds", None, "the model refused to answer"), "the model refused to answer"),
        (proposal("It drops a request after 30 seconds.", ""), "nothing is left"),
    ],
)
def test_any_other_leaves_the_text_as_it_was(proposed: Rewrite, reason: str) -> None:
    """What says something else, or nothing, is not taken, and the document says so."""
    found = cleaned(document(), [proposed])
    assert found.text == TEXT
    assert len(found.meta.warnings) == 1
    assert reason in found.meta.warnings[0]


def test_without_proposals_nothing_is_touched() -> None:
    """A document about which nobody proposes anything is the same object."""
    plain = document()
    assert cleaned(plain, []) is plain


def test_proposals_do_not_overlap() -> None:
    """Of two about the same passage the first one counts."""
    found = cleaned(document(), [proposal("accepts 512\nconnections", "accepts 512 connections")] * 2)
    assert found.text == TEXT.replace("512\n", "512 ")
    assert "overlaps" in found.meta.warnings[0]


def script(markdown: str) -> Any:
    def say(ask: Ask) -> Any:
        return {"markdown": markdown} if ask.task == "normalize" else honestly(ask)

    return say


@pytest.mark.parametrize(
    "said", ["# Limits\n\nPWNED", "The gateway accepts at most 5120 connections at once.", "", "Limits are limits."]
)
def test_a_model_that_rewrites_a_page_changes_nothing(tmp_path: Path, said: str) -> None:
    """Whatever it says of a page, what is published is the converter's text, with a warning."""
    roots = []
    for name, chat in (("honest", ScriptedChat(honestly)), ("lying", ScriptedChat(script(said)))):
        root = new_root(tmp_path / name, {"notes/limits.html": PAGE})
        with modelled(root, chat) as base:
            compile_all(base)
        roots.append(root)
    honest, lying = ((r / "kb/normalized/notes/limits.html.md").read_text() for r in roots)
    assert honest == lying
    assert "not cleaned" in str(Cli(roots[1]).json("show", "notes/limits.html")["meta"]["warnings"])
    assert Cli(roots[1]).active().keys() == Cli(roots[0]).active().keys()


def test_a_page_waits_for_a_model_that_is_away(tmp_path: Path) -> None:
    """While nobody can be asked a page keeps its last text; it is not published as if it had been cleaned."""
    root = new_root(tmp_path / "base", {"notes/limits.html": PAGE})
    away = [False]

    def say(ask: Ask) -> Any:
        return ModelError("away", code="unavailable") if away[0] and ask.task == "normalize" else honestly(ask)

    chat = ScriptedChat(say)
    with modelled(root, chat) as base:
        compile_all(base)
    text = (root / "kb/normalized/notes/limits.html.md").read_text()
    away[0] = True
    (root / "notes/limits.html").write_text(PAGE.replace("64 messages", "128 messages"))
    with modelled(root, chat) as base, pytest.raises(ModelError, match="wait for the model"):
        compile_all(base)
    assert (root / "kb/normalized/notes/limits.html.md").read_text() == text
    away[0] = False
    with modelled(root, chat) as base:
        compile_all(base)
    assert "128 messages" in (root / "kb/normalized/notes/limits.html.md").read_text()


def test_what_loses_nothing_is_not_asked_about(tmp_path: Path) -> None:
    """Markdown, code and tables are as they were written: no model reads them to clean them."""
    documents = {
        "notes/a.md": "# A\n\nThe cache holds 16 pages.\n",
        "notes/b.py": "X = 1\n",
        "notes/c.csv": "a,b\n1,2\n",
    }
    chat = ScriptedChat(honestly)
    with modelled(new_root(tmp_path / "base", documents), chat) as base:
        compile_all(base)
    assert "normalize" not in chat.tasks()
