"""Whether the index holds what is known, and nothing that is gone."""

from collections.abc import Iterator, Sequence
from typing import cast

from kb_pipeline.checks.findings import finding
from kb_pipeline.records import Finding, Item
from kb_pipeline.rules.encoded import Read
from kb_pipeline.world import Changes, Inputs, World

_PART = 512  # items whose files a worker reads at a time


def run(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """Every row of the candidate rests on a live document, and every active item has its row."""
    generation = world.index.candidate()
    rows = world.index.hashes(generation) if generation else {}
    documents = set(inputs.keys("normalized"))
    ghosts = sorted((row, doc) for row, (_, doc) in rows.items() if doc not in documents)
    bad = [f"{row} rests on {doc}, which is gone" for row, doc in ghosts]
    items = inputs.keys("tags") if changes.everything else sorted(changes.touched["tags"])
    for key, status in _statuses([key for key in items if not inputs.broken("tags", key)], inputs, world):
        if (status == "active") != (key in rows):
            bad.append(f"{key} is {status} and {'in' if key in rows else 'not in'} the index")
    return finding("index", "no_ghosts", str(run.__doc__), bad, "Run `kb build --full`.")


def _statuses(keys: Sequence[str], inputs: Inputs, world: World) -> Iterator[tuple[str, str]]:
    """Each item that there is and its status."""
    parts = [keys[start : start + _PART] for start in range(0, len(keys), _PART)]
    files = Read(lambda part: [inputs.encoded("tags", key) for key in part], parts)
    for part, made in zip(parts, world.pool.map(_statuses_in, files, part=1), strict=True):
        if isinstance(made, Exception):  # reading the files here tells which, why and what to do
            made = [_status(cast(tuple[Item, ...], inputs.records("tags", key))) for key in part]
        yield from ((key, status) for key, status in zip(part, made, strict=True) if status)


def _statuses_in(files: Sequence[bytes]) -> list[str]:
    return [_status([Item.model_validate_json(data)] if data else ()) for data in files]


def _status(items: Sequence[Item]) -> str:
    return items[0].status if items else ""
