"""Publishing items: who merges them, and what becomes of a file that cannot be read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest

from kb_pipeline.errors import StoreError
from kb_pipeline.records import UNCLASSIFIED, Extraction, Item, Record, Tagging, Taxonomy
from kb_pipeline.rules.merging import Witness
from kb_pipeline.services.pool import WorkerPool
from kb_pipeline.stages import tags
from kb_pipeline.store.codecs import json_lines
from kb_pipeline.world import Changes, Output, World
from kb_pipeline_tests.rules.test_merging import cluster, witness
from kb_pipeline_tests.stages.test_dedup import Published, world


@dataclass
class Memory:
    """Inputs held in memory: drafts, a group an item; no file of ``broken_file``, a stage, can be read."""

    held: Sequence[Sequence[Witness]]
    broken_file: str = ""

    def keys(self, stage: str) -> list[str]:
        return sorted({w.meta.doc_id for group in self.held for w in group})

    def encoded(self, stage: str, key: str) -> bytes:
        return b"{broken" if stage == self.broken_file else json_lines(self.records(stage, key))

    def broken(self, stage: str, key: str) -> bool:
        return False

    def faults(self, stage: str) -> Mapping[str, str]:
        return {}

    def records(self, stage: str, key: str) -> tuple[Record, ...]:
        if stage == self.broken_file:
            raise StoreError("is broken.", where=f"kb/{stage}/{key}.jsonl")
        if stage == "dedup":
            named = (cluster(*group, id=f"kb_{n:03}") for n, group in enumerate(self.held))
            return tuple(named) if key == "clusters" else ()
        here = [w for group in self.held for w in group if w.meta.doc_id == key]
        if stage == "normalized":
            return (here[0].meta,)
        drafted = [Extraction(chunk_hash=w.chunk.hash, drafts=(w.draft,)) for w in here]
        return tuple(drafted) if stage == "atomic_items" else tuple(w.chunk for w in here)


class Librarian:
    """Files every item under no category, and tags it with the last word of what it says."""

    def tag(self, items: Sequence[Item], taxonomy: Taxonomy) -> list[Tagging]:
        return [Tagging(primary_category=UNCLASSIFIED, tags=(i.statement.split()[-1].strip("."),)) for i in items]


def build(inputs: Memory, w: World | None = None) -> Output:
    changes = Changes({stage: frozenset(inputs.keys(stage)) for stage in ("dedup", "chunks")}, everything=True)
    return tags.run(changes, inputs, Published(), w or world(cast(Any, Librarian())))


def documents(n: int) -> list[list[Witness]]:
    """``n`` items, every fifth of which stands in two documents, in an order that is not that of documents."""
    alone = [[witness(f"The pool {at} has {at} workers of kind{at}.", f"a/{at * 7 % 100}.md")] for at in range(n)]
    again = [witness(group[0].draft.statement, f"b/{at}.md", date="2025-01-01") for at, group in enumerate(alone)]
    return [[*group, again[at]] if at % 5 == 0 else group for at, group in enumerate(alone)]


def test_worker_processes_publish_the_same() -> None:
    """Whoever merges and tags items, they are the same, and in every one are all proofs of its cluster."""
    held = documents(300)
    with WorkerPool(2, patience=0) as pool:
        there = build(Memory(held), replace(world(cast(Any, Librarian())), pool=pool))
    here = build(Memory(held))
    assert there.upserts == here.upserts
    items = [cast(Item, records[0]) for _, records in sorted(here.upserts.items())]
    assert [len(item.sources) for item in items] == [len(group) for group in held]
    assert [item.tags for item in items][:2] == [("kind0",), ("kind1",)]


@pytest.mark.parametrize("stage", ["atomic_items", "chunks", "normalized"])
def test_a_document_that_cannot_be_decoded_is_named(stage: str) -> None:
    """Whoever decodes it, its own error says which file it is."""
    inputs = Memory(documents(1), broken_file=stage)
    with pytest.raises(StoreError, match=rf"kb/{stage}/a/0\.md"):
        build(inputs)
