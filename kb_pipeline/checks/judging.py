"""How a check judges documents, or items, side by side from the bytes of their files. Knows no check."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from kb_pipeline.rules.coverage import Made
from kb_pipeline.rules.encoded import Read
from kb_pipeline.world import Inputs, World

T = TypeVar("T")
_SLICE = 1_000  # documents whose files are held
_PART = 64  # of them that travel to a worker at a time: about 5 ms of work
_ITEMS = 256  # so many items are as much work


def judged(
    judge: Callable[[Made], T], docs: Sequence[str], above: str, below: str, inputs: Inputs, world: World
) -> Iterator[tuple[str, T]]:
    """Each of ``docs`` with what ``judge``, a function for the pool, says of its files in two stages. Raises
    ``StoreError`` that names a file which cannot be read."""
    for start in range(0, len(docs), _SLICE):
        looked = docs[start : start + _SLICE]
        made = [Made(inputs.encoded(above, doc), inputs.encoded(below, doc)) for doc in looked]
        for doc, found in zip(looked, world.pool.map(judge, made, _PART), strict=True):
            if isinstance(found, Exception):
                for stage in (above, below):
                    inputs.records(stage, doc)  # what cannot be read is named, with its cure
                raise found
            yield doc, found


def claimed(claim: Callable[[bytes], T], keys: Iterable[str], inputs: Inputs, world: World) -> Iterator[tuple[str, T]]:
    """Each of these items that is published, by its id, with what ``claim``, a function for the pool, finds in its
    file. One that a person's edit left unreadable is passed over: it has been reported. Raises ``StoreError`` that
    names another."""
    published = frozenset(inputs.keys("tags"))
    standing = [key for key in keys if key in published and not inputs.broken("tags", key)]
    files = Read(partial(inputs.encoded, "tags"), standing)
    for key, found in zip(standing, world.pool.map(claim, files, _ITEMS), strict=True):
        if isinstance(found, Exception):
            inputs.records("tags", key)  # what cannot be read is named, with its cure
            raise found
        yield key, found
