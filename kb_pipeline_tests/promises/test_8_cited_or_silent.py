"""Promise 8, cited or silent: every sentence of an answer cites items that carry it, checked by code, or the answer is
that it is not in the knowledge base; a failure is an error, never an empty result."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from kb_pipeline_tests.driving import Cli, new_root
from kb_pipeline_tests.endpoint import FakeEndpoint, serve
from kb_pipeline_tests.lying import LIES

QUESTIONS = {
    "How many connections does the gateway accept at once?": "at most",
    "How many pages does the block cache keep in memory?": "The block cache keeps 16 pages of 4 KB in memory.",
    "After how long does the gateway drop a request?": "The gateway drops a request after 30 seconds.",
}
FOREIGN = ("Who painted the Mona Lisa?", "How long should lentils cook?", "Which rivers flow through Vienna?")


def modelled(cli: Cli, endpoint: FakeEndpoint) -> Cli:
    """The same knowledge base, answered by the model behind ``endpoint``."""
    return Cli(cli.root, KB_LLM_BASE_URL=endpoint.url, KB_LLM_MODEL="m", KB_LLM_TIMEOUT="5")


def proven(cli: Cli, answer: Any) -> bool:
    """Whether each sentence cites evidence of the answer, whose quotes stand in their documents."""
    evidence = {found["id"]: found for found in answer["evidence"]}
    for found in answer["evidence"]:
        text = (cli.root / "kb/normalized" / f"{found['doc_id']}.md").read_text()
        assert not found["quote"] or text[found["start"] : found["end"]] == found["quote"]
    return all(sentence["cites"] and evidence.keys() >= set(sentence["cites"]) for sentence in answer["sentences"])


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_is_known_is_answered_with_its_sources(cli: Cli, question: str) -> None:
    """Without a model the best sentences are quoted, each with the document it stands in."""
    answer = cli.json("ask", question)
    assert answer["answered"]
    assert QUESTIONS[question] in answer["sentences"][0]["text"]
    assert proven(cli, answer)
    shown = cli.run("ask", question).stdout
    assert QUESTIONS[question] in shown
    assert answer["evidence"][0]["doc_id"] in shown


def test_real_documents_answer_or_do_not(corpus: Path, tmp_path: Path) -> None:
    """Over the documentation of a library questions about it are answered in its words, others are not."""
    root = new_root(tmp_path / "base", {}, docs="docs")
    shutil.copytree(corpus / "starlette-docs" / "0.47.3", root / "docs")
    cli = Cli(root)
    cli.build()
    answer = cli.json("ask", "What does GZipMiddleware handle?")
    assert "GZip" in answer["sentences"][0]["text"]
    assert proven(cli, answer)
    assert not cli.json("ask", FOREIGN[0])["answered"]


@pytest.mark.parametrize("question", FOREIGN)
def test_what_is_not_known_is_said_not_to_be(cli: Cli, question: str) -> None:
    """A question on another subject has no answer, which is no failure."""
    answer = cli.json("ask", question)
    assert (answer["answered"], answer["sentences"]) == (False, [])
    assert cli.run("ask", question).stdout.startswith("Not in the knowledge base.")


def test_an_honest_model_is_heard(cli: Cli) -> None:
    """A simple question costs one plan and one answer; what passes the verifier is shown, with its quotes."""
    with serve(["kb_pipeline_tests.honest:honest"]) as endpoint:
        for question in QUESTIONS:
            before = endpoint.count()
            answer = modelled(cli, endpoint).json("ask", question)
            assert answer["answered"], answer
            assert QUESTIONS[question] in answer["sentences"][0]["text"]
            assert proven(cli, answer)
            assert endpoint.count() - before == answer["calls"] == 2
        assert not modelled(cli, endpoint).json("ask", FOREIGN[0])["answered"]


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_never_shown(cli: Cli, lie: str) -> None:
    """A wrong id, a changed figure, a false quote, a sentence without evidence: dropped and counted, the nearest shown
    in its place."""
    with serve([f"kb_pipeline_tests.lying:{lie}"]) as endpoint:
        question = "How many pages of what size does the block cache keep in memory?"
        answer = modelled(cli, endpoint).json("ask", question)
        assert answer["dropped"]
        for sentence in answer["sentences"]:
            assert sentence["text"] not in {dropped["text"] for dropped in answer["dropped"]}
            assert sentence["text"] in " ".join(found["text"] for found in answer["evidence"])
        if not answer["answered"]:
            assert answer["nearest"]
            shown = modelled(cli, endpoint).run("ask", question).stdout
            assert shown.startswith("Not in the knowledge base.")
            assert "dropped by the verifier" in shown


def test_a_failure_is_an_error(cli: Cli) -> None:
    """Where the model cannot be asked there is no answer, neither an empty one nor one by other means."""
    with serve(["kb_pipeline_tests.honest:honest"]) as endpoint:
        endpoint.fault("401", times=99)
        failed = modelled(cli, endpoint).run("ask", "How many connections does the gateway accept?", code=1)
    assert failed.stdout == ""
    assert "kb:" in failed.stderr
    assert cli.run("ask", "x", "--project", "nobody", code=1).stderr


def test_the_same_question_is_answered_from_what_was_kept(cli: Cli) -> None:
    """Over the same generation it costs no call and is marked; over a new one, or asked afresh, it is answered anew."""
    question = "How many pages does the block cache keep in memory?"
    with serve(["kb_pipeline_tests.honest:honest"]) as endpoint:
        model = modelled(cli, endpoint)
        first, count = model.json("ask", question), endpoint.count()
        again = model.json("ask", question)
        assert (again["kept"], again["calls"], endpoint.count()) == (True, 0, count)
        assert again["sentences"] == first["sentences"]
        assert not model.json("ask", question, "--fresh")["kept"]
        assert not cli.json("ask", question)["kept"]


def test_a_kept_answer_goes_with_its_document(cli: Cli) -> None:
    """Once a document is deleted no kept answer repeats it."""
    question = "How many rows per second does the export job write?"
    assert "900 rows" in cli.json("ask", question)["sentences"][0]["text"]
    (cli.root / "notes/limits.md").unlink()
    cli.build("--accept-deletions", "notes")
    assert "900" not in cli.run("ask", question).stdout


def test_a_filed_answer_is_derived_and_no_evidence(cli: Cli) -> None:
    """``--keep`` writes a page that says it is derived; it is found by no search and proves nothing."""
    question = "After how long does the gateway drop a request?"
    path = cli.root / cli.json("ask", question, "--keep")["filed"]
    page = path.read_text()
    assert page.startswith("---\nderived: true\n")
    assert "notes/limits.md" in page
    assert path.parent == cli.root / "kb/wiki/answers"
    cli.build()
    assert path.read_text() == page
    assert all("wiki" not in hit["doc_id"] for hit in cli.hits(question))


def test_a_licence_that_forbids_quoting_is_kept(cli: Cli) -> None:
    """What may not be quoted is not, whoever answers."""
    closed = {"KB_UNQUOTABLE_LICENSES": ""}
    root: Path = cli.root
    text = (root / "sources.yaml").read_text()
    (root / "sources.yaml").write_text(f"{text}settings:\n  unquotable_licenses: [CC0-1.0]\n")
    quiet = Cli(root, **closed)
    answer = quiet.json("ask", "After how long does the gateway drop a request?")
    assert not answer["answered"]
    assert "30 seconds" not in quiet.run("ask", "After how long does the gateway drop a request?").stdout
    with serve(["kb_pipeline_tests.honest:honest"]) as endpoint:
        answer = modelled(quiet, endpoint).json("ask", "After how long does the gateway drop a request?")
    assert {dropped["fault"] for dropped in answer["dropped"]} <= {"licence-forbids-quoting"}
    assert not any(sentence["quotes"] for sentence in answer["sentences"])
