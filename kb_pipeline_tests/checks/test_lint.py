"""What of the wiki a reader would stumble over."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kb_pipeline.checks import lint
from kb_pipeline.records import PageBrief, Record
from kb_pipeline.services.embedder import open_embedder
from kb_pipeline.store.index import LocalIndex
from kb_pipeline.store.pages import encode
from kb_pipeline.world import Changes
from kb_pipeline_tests.fakes import reading_world
from kb_pipeline_tests.store.backends import DIM

CATALOGUE = "catalogue"


@dataclass
class Catalogue:
    """Inputs of which only the names of documents and the catalogue are known."""

    documents: tuple[str, ...]
    briefs: tuple[PageBrief, ...]

    def keys(self, stage: str) -> list[str]:
        return list(self.documents) if stage == "normalized" else [CATALOGUE]

    def records(self, stage: str, key: str) -> tuple[Record, ...]:
        return self.briefs

    def encoded(self, stage: str, key: str) -> bytes:
        (data,) = encode(key, self.briefs, None).values()
        return data

    def broken(self, stage: str, key: str) -> bool:
        return False

    def faults(self, stage: str) -> Mapping[str, str]:
        return {}


def test_a_page_that_rests_on_what_is_gone_is_named(tmp_path: Path) -> None:
    """With the document; nothing is said while all documents stand."""
    docs = ("notes/a.md", "notes/[b].md")
    briefs = tuple(PageBrief(id=f"pg_{n}", title="T", path=f"{n}.md", category="c", docs=docs[n:]) for n in range(2))
    index = LocalIndex(tmp_path, embedder="unit-8", dim=DIM, retained=3)
    world, changes = reading_world(index, open_embedder("hashing")), Changes(touched={}, everything=True)
    assert lint.sourced(changes, Catalogue(docs, briefs), world).ok
    found = lint.sourced(changes, Catalogue(docs[1:], briefs), world)
    assert found.offenders == ("0.md rests on notes/a.md",)
