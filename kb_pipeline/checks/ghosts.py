"""Whether anything live rests on a document that is gone: items, rows of every retained generation, questions."""

from collections.abc import Iterable, Iterator
from typing import cast

from kb_pipeline.checks.findings import finding
from kb_pipeline.errors import NotFound, StoreError
from kb_pipeline.records import Finding, Item, Question
from kb_pipeline.rules.encoded import strings
from kb_pipeline.world import Changes, Inputs, World

BY_HAND = "human"
"""The source of what people wrote themselves, which has no original that could go."""

_RESTING = "select id from rows where list_contains(list_concat([doc_id], docs, origins), '{}') order by id limit 20"


def run(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """No active item, no row that readers of any retained generation may meet and no question rests on a document that
    is gone."""
    documents = frozenset(inputs.keys("raw"))
    items = _items(changes, inputs, documents)
    bad = [f"{item.id} cites {doc}" for item in items for doc in sorted(_gone(item, documents))]
    if changes.everything or not changes.touched["raw"] <= documents:
        for generation in world.index.generations():
            bad += _rows(generation, documents, world)
    bad += _questions(inputs)
    return finding("live", "ghosts", str(run.__doc__), bad, "Run `kb build --full`; then `kb show ID`.")


def _items(changes: Changes, inputs: Inputs, documents: frozenset[str]) -> Iterator[Item]:
    """Active items, of all or of those whose file changed, that cite more than ``documents``: no other is decoded."""
    for key in inputs.keys("tags") if changes.everything else sorted(changes.touched["tags"]):
        if not inputs.broken("tags", key) and not strings("doc_id", inputs.encoded("tags", key)) <= documents:
            yield from (item for item in cast(tuple[Item, ...], inputs.records("tags", key)) if item.status == "active")


def _gone(item: Item, documents: frozenset[str]) -> set[str]:
    return {c.doc_id for c in item.sources if c.source_type != BY_HAND} - documents


def _rows(generation: str, documents: frozenset[str], world: World) -> Iterator[str]:
    """Rows of one generation as readers meet it; one that is damaged serves nobody, and is another check's matter."""
    try:
        with world.index.snapshot(generation) as snapshot:
            gone = sorted(doc for doc in snapshot.named() - documents if not doc.startswith(f"{BY_HAND}/"))
            for doc in gone:
                for (row,) in snapshot.sql(_RESTING.format(doc.replace("'", "''")))[1]:
                    yield f"{generation}: {row} rests on {doc}"
    except (NotFound, StoreError):
        return


def _questions(inputs: Inputs) -> Iterator[str]:
    """Questions of ours about an item that is not active. Those of people are theirs to take back."""
    asked = cast(tuple[Question, ...], inputs.records("eval", "qa_gold"))
    active = {key for key in {q.about for q in asked if q.about} if _is_active(inputs, key)}
    yield from _dead(asked, active)


def _dead(asked: Iterable[Question], active: set[str]) -> Iterator[str]:
    for question in asked:
        if question.about and question.about not in active:
            yield f"question {question.id} is about {question.about}, which is not active"


def _is_active(inputs: Inputs, key: str) -> bool:
    if inputs.broken("tags", key):
        return True
    return any(cast(Item, record).status == "active" for record in inputs.records("tags", key))
