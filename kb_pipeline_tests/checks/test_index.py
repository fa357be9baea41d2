"""The index holds what is known, and nothing that is gone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kb_pipeline.checks import index
from kb_pipeline.records import Finding, Item, Record
from kb_pipeline.services.embedder import open_embedder
from kb_pipeline.store.index import LocalIndex
from kb_pipeline.world import Changes
from kb_pipeline_tests.fakes import reading_world
from kb_pipeline_tests.store.backends import DIM, item, put


@dataclass
class Published:
    """Inputs of which the names of documents and the items are known."""

    documents: tuple[str, ...]
    items: Mapping[str, Item] = field(default_factory=dict)

    def keys(self, stage: str) -> list[str]:
        return sorted(self.items) if stage == "tags" else list(self.documents)

    def records(self, stage: str, key: str) -> tuple[Record, ...]:
        return (self.items[key],)

    def encoded(self, stage: str, key: str) -> bytes:
        return self.items[key].model_dump_json().encode()

    def broken(self, stage: str, key: str) -> bool:
        return False

    def faults(self, stage: str) -> Mapping[str, str]:
        return {}


def checked(folder: LocalIndex, inputs: Published) -> Finding:
    changes = Changes(touched={"normalized": frozenset(), "tags": frozenset()}, everything=True)
    return index.run(changes, inputs, reading_world(folder, open_embedder("hashing")))


def test_rows_and_active_items_are_the_same(tmp_path: Path) -> None:
    """An active item without a row is told, as is a row of one that is not active, or of a document that is gone."""
    folder = LocalIndex(tmp_path, embedder="unit-8", dim=DIM, retained=3)
    put(folder, [item("kb_1", "a", doc="notes/a.md")])
    active = Item(id="kb_1", statement="a")
    assert checked(folder, Published(("notes/a.md",), {"kb_1": active})).ok
    more = {"kb_1": active.model_copy(update={"status": "retired"}), "kb_2": Item(id="kb_2", statement="b")}
    told = str(checked(folder, Published(("notes/b.md",), more)))
    assert "kb_1 rests on notes/a.md, which is gone" in told
    assert "kb_1 is retired and in the index" in told
    assert "kb_2 is active and not in the index" in told
