"""Promise 1, proven: every active quote stands verbatim in the stored text at the recorded offsets; what fails is
quarantined with a reason, never published; nothing vanishes. Read from the files as anyone may, without our code."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kb_pipeline.engines.extractive import Extractive
from kb_pipeline.records import Chunk, Extraction
from kb_pipeline_tests.driving import Cli, compile_all, new_root, opened, write
from kb_pipeline_tests.promises.documents import DOCUMENTS, LIMITS


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def unproven(root: Path, status: str) -> list[str]:
    """Citations of items of that status whose quote does not stand where they say."""
    wrong = []
    for path in (root / "kb/items").glob("*/*.json"):
        item = json.loads(path.read_text())
        if item["status"] == status:
            assert item["sources"], f"{path} cites nothing"
            wrong += [f"{path.stem}: {c['source_span']}" for c in item["sources"] if not stands(root, c)]
    return wrong


def stands(root: Path, citation: dict[str, Any]) -> bool:
    """Whether the quote is where the citation says, in the current text or in the kept version that it names."""
    versions = root / "kb/normalized/.versions" / f"{citation['version']}.md"
    for path in (root / "kb/normalized" / f"{citation['doc_id']}.md", versions):
        if path.is_file():
            text = path.read_bytes().decode()
            if text[citation["start"] : citation["end"]] == citation["source_span"]:
                return True
    return False


def test_every_quote_stands_where_its_item_says(cli: Cli) -> None:
    """Quotes of all published items are slices of the normalized text; checks agree."""
    assert len(cli.active()) >= 10
    assert unproven(cli.root, "active") == unproven(cli.root, "superseded") == []
    assert all(finding["ok"] for finding in cli.json("check") if finding["blocking"])


def test_nothing_vanishes_between_document_and_item(cli: Cli) -> None:
    """Chunks cover each document, every chunk has one extraction, every draft is in one cluster, every cluster is an
    item."""
    clusters = lines(cli.root / "kb/dedup/clusters.jsonl")
    clustered = [(o["doc_id"], o["chunk_hash"], o["draft"]) for c in clusters for o in c["occurrences"]]
    drafted = []
    for doc in DOCUMENTS:
        text = (cli.root / "kb/normalized" / f"{doc}.md").read_bytes().decode()
        chunks = lines(cli.root / "kb/chunks" / f"{doc}.jsonl")
        assert "".join("".join(c["text"] for c in chunks).split()) == "".join(text.split())
        extractions = lines(cli.root / "kb/atomic_items" / f"{doc}.jsonl")
        assert [e["chunk_hash"] for e in extractions] == list(dict.fromkeys(c["hash"] for c in chunks))
        drafted += [(doc, e["chunk_hash"], d["hash"]) for e in extractions for d in e.get("drafts", ())]
    assert sorted(clustered) == sorted(drafted)
    assert {c["id"] for c in clusters} == set(cli.items())


def test_an_edit_moves_proofs_and_keeps_the_old_ones(cli: Cli) -> None:
    """After an edit every active item is proven by the new text, and what was retired by the kept old version."""
    write(
        cli.root, {"notes/limits.md": f"# A word before\n\nÄpfel 🍏 first.\n\n{LIMITS.replace('900 rows', '950 rows')}"}
    )
    cli.build()
    retired = [i for i in cli.items().values() if i["status"] == "retired"]
    assert [i["statement"] for i in retired] == ["The export job writes at most 900 rows per second."]
    assert unproven(cli.root, "active") == unproven(cli.root, "retired") == []
    shown = cli.json("show", retired[0]["id"])
    assert shown["passages"][0]["proven"]


def test_a_text_that_was_tampered_with_is_found_and_made_anew(cli: Cli) -> None:
    """A quote that lost its place fails the check by name; a full build restores the text."""
    path = cli.root / "kb/normalized/notes/cache.md.md"
    path.write_text("x" + path.read_text())
    findings = {f["check"]: f for f in cli.json("check", code=1)}
    assert "notes/cache.md" in str(findings["items_are_proven"]["offenders"])
    cli.build("--full")
    assert [f for f in cli.json("check") if f["blocking"] and not f["ok"]] == []


class LyingEngine(Extractive):
    """Adds to each extraction a quote that nobody wrote and a figure that nobody measured."""

    def extract(self, chunks: Sequence[Chunk]) -> Iterator[Extraction | Exception]:
        return map(self._with_lies, super().extract(chunks))

    def _with_lies(self, found: Extraction | Exception) -> Extraction:
        assert isinstance(found, Extraction)
        lies = [
            lie
            for draft in found.drafts[:1]
            for lie in (
                draft.model_copy(update={"hash": "1" * 32, "source_span": f"{draft.source_span[:-2]}?!"}),
                draft.model_copy(update={"hash": "2" * 32, "statement": f"{draft.statement} It costs 777 dollars."}),
            )
        ]
        return found.model_copy(update={"drafts": (*found.drafts, *lies)})


def test_what_is_not_proven_is_quarantined(tmp_path: Path) -> None:
    """A draft with an altered quote or an invented figure reaches no item; it is listed with its reason."""
    root = new_root(tmp_path / "base", {"notes/limits.md": LIMITS})
    with opened(root) as base:
        base.world = replace(base.world, engine=LyingEngine(base.settings, base.world.embedder))
        compile_all(base)
        quarantine = base.status().quarantine
    assert {q.reason for q in quarantine} == {"span-not-verbatim", "number-not-in-source"}
    assert all(q.where == "notes/limits.md" for q in quarantine)
    assert not [s for s in Cli(root).active() if "777" in s]
    assert unproven(root, "active") == []


def occurrences(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def test_a_quote_that_stands_twice_keeps_both_places_apart(tmp_path: Path) -> None:
    """Offsets are those of one of the places where the sentence stands, also among letters wider than a byte."""
    sentence = "The ключ holds 64 bytes — exactly."
    root = new_root(tmp_path / "base", {"notes/twice.md": f"# 𝔄\n\n{sentence}\n\n# 𝔅\n\n{sentence}\n"})
    with opened(root) as base:
        compile_all(base)
    assert unproven(root, "active") == []
    text = (root / "kb/normalized/notes/twice.md.md").read_bytes().decode()
    starts = {c["start"] for i in Cli(root).items().values() for c in i["sources"]}
    assert starts
    assert starts <= set(occurrences(text, sentence))
