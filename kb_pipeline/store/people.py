"""What people decided (``kb/dedup/human.jsonl``, tracked and sorted), and item files as a person's verb writes them.

Owns that both are written under the lock of commits, so that no build and no other verb comes between. Refuses to know
what a decision does.
"""

from collections.abc import Callable, Iterable

from kb_pipeline.errors import NotFound
from kb_pipeline.records import HumanDecision, Item
from kb_pipeline.rules.people import filed, ordered
from kb_pipeline.store.codecs import json_lines, parse, pretty
from kb_pipeline.store.files import read_bytes, replace
from kb_pipeline.store.kb import Kb

PATH = "dedup/human.jsonl"


def decisions(kb: Kb) -> list[HumanDecision]:
    """All decisions, oldest first. Raises ``StoreError`` that names the field of a line that cannot be read."""
    lines = (read_bytes(kb.folder / PATH) or b"").splitlines()
    return ordered(parse(HumanDecision, f"kb/{PATH}", line) for line in lines if line)


def keep(kb: Kb, lines: Iterable[HumanDecision]) -> None:
    """Replace what is on record by ``lines``; the caller holds the lock."""
    data = json_lines(filed(lines))
    if (read_bytes(kb.folder / PATH) or b"") != data:
        replace(kb.folder / PATH, data)


def rewrite(kb: Kb, key: str, change: Callable[[Item], Item]) -> tuple[Item, Item]:
    """Write the file of an item anew as ``change`` has it, as a person in an editor would; what it was, and is.

    Raises ``NotFound`` where the item has no file, ``StoreError`` where an earlier edit left it unreadable.
    """
    with kb.locked():
        entry = kb.manifest("tags").get(key)
        path = next((p for p in sorted(entry.outputs) if (kb.folder / p).is_file()), None) if entry else None
        if path is None:
            raise NotFound(f"there is no item '{key}'.", where="kb/items", cure="Find one with `kb search`.")
        before = parse(Item, f"kb/{path}", kb.bytes_of(path))
        after = change(before)
        if after != before:
            replace(kb.folder / path, pretty(after))
    return before, after
