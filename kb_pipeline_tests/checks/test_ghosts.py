"""Nothing live rests on a document that is gone."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kb_pipeline.checks import ghosts
from kb_pipeline.records import Finding, Record
from kb_pipeline.services.embedder import open_embedder
from kb_pipeline.store.index import LocalIndex
from kb_pipeline.world import Changes
from kb_pipeline_tests.fakes import reading_world
from kb_pipeline_tests.store.backends import DIM, item, put


@dataclass
class Documents:
    """Inputs of which only the names of documents are known."""

    names: tuple[str, ...]

    def keys(self, stage: str) -> list[str]:
        return list(self.names) if stage == "raw" else []

    def records(self, stage: str, key: str) -> tuple[Record, ...]:
        return ()

    def encoded(self, stage: str, key: str) -> bytes:
        return b""

    def broken(self, stage: str, key: str) -> bool:
        return False

    def faults(self, stage: str) -> Mapping[str, str]:
        return {}


def checked(index: LocalIndex, *documents: str, gone: str) -> Finding:
    changes = Changes(touched={"raw": frozenset({gone}), "tags": frozenset()}, everything=False)
    return ghosts.run(changes, Documents(documents), reading_world(index, open_embedder("hashing")))


def test_a_row_of_a_document_that_is_gone_is_a_ghost_until_it_is_masked_or_replaced(tmp_path: Path) -> None:
    """It is named with its generation; what people wrote themselves has no document that could go."""
    index = LocalIndex(tmp_path, embedder="unit-8", dim=DIM, retained=3)
    rows = [item("kb_1", "a", docs=("notes/a.md", "web/x.md")), item("kb_2", "b", doc="human/decisions")]
    first = put(index, rows)
    assert checked(index, "notes/a.md", "web/x.md", gone="web/y.md").ok
    found = checked(index, "notes/a.md", gone="web/x.md")
    assert not found.ok
    assert f"{first}: kb_1 rests on web/x.md" in str(found)
    index.mask(frozenset({"web/x.md"}))
    assert checked(index, "notes/a.md", gone="web/x.md").ok
    index.mask(frozenset())
    second = put(index, [item("kb_1", "a")], first)
    assert f"{second}: " not in str(checked(index, "notes/a.md", gone="web/x.md"))
