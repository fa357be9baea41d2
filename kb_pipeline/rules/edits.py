"""What a person wrote into an item, and what the machine has to say of it now: one item of both. Pure."""

from collections.abc import Callable, Iterator, Set
from itertools import combinations
from typing import Any

from kb_pipeline.records import Item
from kb_pipeline.rules import ids

FIELDS = (
    "statement",
    "detail",
    "context",
    "item_type",
    "topic",
    "primary_category",
    "secondary_categories",
    "tags",
    "note",
    "entities",
    "confidence",
)
"""What a person may say better; proofs, dates and relations follow the documents."""

UNKNOWN = ""
"""In place of the hash of what the machine said when a person edited a field, where nobody knows."""


def overlaid(person: Item, machine: Item, *, fresh: bool, written: Callable[[Item], bool] = lambda _: False) -> Item:
    """``machine`` with the fields that a person changed.

    ``person`` is the file as it stands. ``fresh`` says that it was edited since it was last overlaid: then the fields
    that differ are the person's, less those that the machine alone changed, where ``written`` (whether the machine
    wrote exactly this before the edit) can tell; otherwise the person's are those that its ``edited`` names, also where
    the machine has come to say the same. A person may retire an active item, not revive what no document states.

    ``edited`` of the result maps each field to the hash of what the machine said when the person changed it;
    ``clashes`` maps those of which it says something else now to what that is.
    """
    differing = {name for name in FIELDS if getattr(person, name) != getattr(machine, name)}
    if person.status == "retired" and (machine.status == "active" or (not fresh and machine.status != "retired")):
        differing.add("status")
    kept = {*person.edited} if not fresh else differing & person.edited.keys()
    if fresh:
        kept |= _changed(person, machine, differing - kept, written)
    elif "status" not in differing:
        kept -= {"status"}
    words = {name: getattr(person, name) for name in kept}
    if machine.status == "retired" and not differing and fresh:  # what the machine says is the person's file itself:
        edited = {**machine.edited, **dict.fromkeys(sorted({*FIELDS} - machine.edited.keys()), UNKNOWN)}
        return machine.model_copy(update={"edited": edited})  # on a return all of it counts
    if machine.edited:
        new = dict.fromkeys(sorted(kept - machine.edited.keys()), UNKNOWN)
        return machine.model_copy(update={**words, "edited": {**machine.edited, **new}})
    said = machine.model_dump(mode="json", include=kept)
    now = {name: ids.digest_json(said[name]) for name in sorted(kept)}
    edited = {name: person.edited.get(name) or seen for name, seen in now.items()}
    clashes = {name: said[name] for name, seen in now.items() if name in differing and edited[name] != seen}
    return machine.model_copy(update={**words, "edited": edited, "clashes": clashes})


def _changed(person: Item, machine: Item, differing: Set[str], written: Callable[[Item], bool]) -> Set[str]:
    """Which of ``differing`` fields the person changed, not the machine since: those without which the file is what the
    machine wrote. All of them where that cannot be told."""
    for chosen in _subsets(differing):
        if written(person.model_copy(update={name: getattr(machine, name) for name in chosen})):
            return frozenset(chosen)
    return differing


def _subsets(names: Set[str]) -> Iterator[tuple[str, ...]]:
    for size in range(1, len(names)):
        yield from combinations(sorted(names), size)


def settled(item: Item, name: str, by: str) -> Item:
    """``item`` with the clash of field ``name`` settled: the words are the person's (``mine``) or the ``machine``'s.

    A status that a person gave may be taken back at any time. Raises ``KeyError`` where nothing clashes.
    """
    edited, clashes = dict(item.edited), dict(item.clashes)
    said = "active" if name == "status" else clashes.pop(name)
    changes: dict[str, Any] = {"edited": edited, "clashes": clashes}
    if by == "mine":
        edited[name] = ids.digest_json(said)
    else:
        del edited[name]
        changes[name] = said
    return Item.model_validate({**item.model_dump(), **changes})
