"""How a check judges documents side by side, from the bytes of what was made of them. Knows no check."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from kb_pipeline.rules.coverage import Made
from kb_pipeline.world import Inputs, World

T = TypeVar("T")
_SLICE = 1_000  # documents whose files are held
_PART = 64  # of them that travel to a worker at a time: about 5 ms of work


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
