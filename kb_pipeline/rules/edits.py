"""What a person wrote into an item, and what the machine has to say of it now: one item of both. Pure."""

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


def overlaid(person: Item, machine: Item, *, fresh: bool) -> Item:
    """``machine`` with the fields that a person changed.

    ``person`` is the file as it stands. ``fresh`` says that it was edited since it was last overlaid: then every field
    that differs is the person's, otherwise those that its ``edited`` names. ``edited`` of the result maps each to the
    hash of what the machine would have said. A person may retire an active item, not revive what no document states.
    """
    differing = {name for name in FIELDS if getattr(person, name) != getattr(machine, name)}
    if (person.status, machine.status) == ("retired", "active"):
        differing.add("status")
    kept = differing if fresh else differing & person.edited.keys()
    words = {name: getattr(person, name) for name in kept}
    if fresh and machine.status == "retired":
        kept = set(FIELDS)  # what the machine says is the person's file itself: on a return all of it counts
    said = machine.model_dump(mode="json", include=kept)
    edited = {**machine.edited, **{name: ids.digest_json(said[name]) for name in sorted(kept)}}
    return machine.model_copy(update={**words, "edited": edited})
