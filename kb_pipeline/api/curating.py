"""The verbs of one who curates: what waits, decisions and their undoing, edits by field, what is brought back.

A decision or an edit is on disk when its verb returns; the next build carries it out.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from kb_pipeline.api.reviewing import OF_EDITS, OF_ITEMS, OF_PAIRS, Standing, reviews
from kb_pipeline.api.session import Session
from kb_pipeline.errors import KbError, NotFound
from kb_pipeline.records import UNCLASSIFIED, Conflict, HumanDecision, Item, Review
from kb_pipeline.records.curation import Action
from kb_pipeline.rules import ids, people
from kb_pipeline.rules.edits import FIELDS, settled
from kb_pipeline.store.people import decisions, keep, rewrite

_NAMES = "pair:ID:ID, conflict:ID:ID, item:ID:WHY or item:ID:edit:FIELD"


class Curating(Session):
    """Settling what the machine leaves open."""

    def reviews(self) -> list[Review]:
        """Everything that waits for a person: edits that clash, conflicts, close pairs, what is uncertain."""
        return reviews(self._run())

    def conflicts(self) -> list[Conflict]:
        """Active items that disagree, with no evidence of which is newer."""
        return list(Standing(self._run()).conflicts)

    def decide(self, name: str, action: str, reason: str, who: str = "") -> HumanDecision:
        """Record a person's decision on the review ``name``; ``skip`` records nothing.

        Two items may be named whether or not they wait for review, in either order: of ``supersede`` and ``retire`` the
        first named stays. Raises ``KbError`` (code ``usage``) for a name or an action that is none and for want of a
        reason, ``NotFound`` for an item that is none.
        """
        with self.kb.locked():
            standing = Standing(self._run())
            parts = _settled(standing, name, action)
            at = people.after(standing.people, self.world.clock.now())
            line = HumanDecision(at=at, reason=reason.strip(), who=who, **parts)
            if action == "skip":
                return line
            if not line.reason:
                raise _usage("a decision needs a reason.", name, "Say why, for those who come later.")
            if line.field:
                before, _ = rewrite(self.kb, line.items[0], lambda item: _settled_field(item, line))
                line = line.model_copy(update={"before": _field_of(before, line.field)})
            keep(self.kb, [*standing.people, line])
        return line

    def undo(self) -> HumanDecision:
        """Take back the last decision on record, which is returned. Raises ``NotFound`` where there is none."""
        with self.kb.locked():
            lines = decisions(self.kb)
            if not lines:
                raise NotFound("there is no decision to take back.", where="kb review --undo")
            line = lines.pop()
            if line.field:
                rewrite(self.kb, line.items[0], lambda item: _with_field(item, line))
            keep(self.kb, lines)
        return line

    def edit(self, item_id: str, fields: Mapping[str, Any]) -> Item:
        """Change fields of an item as a person; what it is now. A status is ``active`` or ``retired``.

        Raises ``KbError`` (code ``usage``) that names the field and the cure, ``NotFound`` for an item that is none.
        """
        unknown = set(fields) - {*FIELDS, "status"}
        if unknown:
            raise _usage(f"'{min(unknown)}' cannot be edited.", item_id, f"Fields: {', '.join(FIELDS)}, status.")
        words = {name: self._checked(name, value) for name, value in fields.items() if name != "status"}
        key = item_id if self.kb.manifest("tags").get(item_id) else Standing(self._run()).resolved(item_id)
        _, item = rewrite(self.kb, key, lambda item: _edited(item, words))
        if "status" in fields:
            self._move(key, fields["status"], item)
        return item

    def restore(self, item_id: str) -> None:
        """Bring back an item that a person hid or retired. Raises ``NotFound`` where nobody did."""
        with self.kb.locked():
            standing = Standing(self._run())
            key = item_id if item_id in standing.clusters else _alias(standing, item_id)
            names = {key, item_id, *standing.drafts(key)} & people.marks(standing.people).keys()
            item = standing.item(key)
            if item is not None and "status" in item.edited:
                rewrite(self.kb, key, lambda item: settled(item, "status", "machine"))
            elif not names and item is None:
                raise NotFound(f"there is no item '{item_id}'.", where="kb/items", cure="Find one with `kb search`.")
            elif not names:
                raise NotFound("nobody hid or retired it.", where=item_id, cure="See `kb show` for its status.")
            if names:
                lines = [line for line in standing.people if not names.isdisjoint((*line.left, *line.items))]
                left = {draft for line in lines if not line.right for draft in line.left}
                items = {name for line in lines if not line.right for name in line.items}
                self._record(standing, "keep", items=tuple(sorted(items)), left=tuple(sorted(left)), reason="restored")

    def _record(self, standing: Standing, action: Action, **parts: Any) -> None:
        line = HumanDecision(at=people.after(standing.people, self.world.clock.now()), action=action, **parts)
        keep(self.kb, [*standing.people, line])

    def _move(self, key: str, status: Any, item: Item) -> None:
        """Set a status by hand, as a decision: it holds for the drafts, whatever becomes of the file."""
        if status not in {"active", "retired"}:
            raise _usage(f"status: '{status}' is not a person's to give.", key, "A status is active or retired.")
        with self.kb.locked():
            standing = Standing(self._run())
            drafts = standing.drafts(key)
            if not drafts:
                raise _usage("no document states it any more.", key, "Bring its document back, or write a new item.")
            aside = standing.clusters[key].aside
            if status == "retired" and not aside:
                self._record(standing, "retire", items=(key,), left=drafts, reason="retired by hand")
            elif status == "active" and (aside or "status" in item.edited):
                self.restore(key)
            elif status == "active" and item.status == "superseded":
                newer = _newer(standing, frozenset(drafts))
                self._record(standing, "keep", items=(key,), left=drafts, right=newer, reason="in force, by hand")

    def _checked(self, name: str, value: Any) -> Any:
        """A value by its field, categories by their name in the closed list."""
        if name not in {"primary_category", "secondary_categories"}:
            return value
        known = [*(c.name for c in self.settings.taxonomy.categories), UNCLASSIFIED]
        closed = {category.casefold(): category for category in known}
        wanted = [value] if name == "primary_category" else list(value)
        for category in wanted:
            if str(category).casefold() not in closed:
                raise _usage(f"'{category}' is not a category.", name, f"Categories: {', '.join(known)}.")
        found = tuple(closed[str(category).casefold()] for category in wanted)
        return found[0] if name == "primary_category" else found


def _usage(what: str, where: str, cure: str) -> KbError:
    return KbError(what, where=where, cure=cure, code="usage")


def _settled(standing: Standing, name: str, action: str) -> dict[str, Any]:
    """What a decision under that name is about, as fields of ``HumanDecision``."""
    kind, *parts = name.split(":")
    if kind in {"pair", "conflict"} and len(parts) == 2:
        return _of_pair(standing, name, action, parts)
    if kind != "item" or len(parts) < 2:
        raise _usage("is no name of a review.", name, f"Names: {_NAMES}; `kb review --list` has those that wait.")
    if parts[1] == "edit":
        _known(action, OF_EDITS, name)
        return {"action": action, "items": (parts[0],), "field": parts[-1] if action != "skip" else ""}
    _known(action, OF_ITEMS, name)
    key = standing.resolved(parts[0])
    return {"action": action, "items": (key,), "left": standing.drafts(key)}


def _of_pair(standing: Standing, name: str, action: str, parts: list[str]) -> dict[str, Any]:
    _known(action, OF_PAIRS, name)
    first, second = map(standing.resolved, parts)
    if first == second:
        return _apart(standing, name, action, parts)
    if action == "retire":
        return {"action": action, "items": (second,), "left": standing.drafts(second)}
    left, right = standing.drafts(first), standing.drafts(second)
    return {"action": action, "items": (first, second), "left": left, "right": right}


def _apart(standing: Standing, name: str, action: str, parts: list[str]) -> dict[str, Any]:
    """Two names of one item that are to be two again: the draft that gave each its id on either side."""
    whole = standing.drafts(standing.resolved(parts[0]))
    sides = [tuple(draft for draft in whole if ids.item_id(draft) == part) for part in parts]
    if action != "keep" or parts[0] == parts[1] or not all(sides):
        cure = "They are merged already. `keep` parts what was merged: name the id of each, as `kb show` does."
        raise _usage("both names lead to one item.", name, cure)
    return {"action": action, "items": tuple(parts), "left": sides[0], "right": sides[1]}


def _known(action: str, actions: tuple[Action, ...], name: str) -> None:
    if action not in actions:
        raise _usage(f"'{action}' does not settle it.", name, f"Actions: {', '.join(actions)}.")


def _alias(standing: Standing, name: str) -> str:
    return next((c.id for c in standing.clusters.values() if name in c.aliases), name)


def _newer(standing: Standing, drafts: frozenset[str]) -> tuple[str, ...]:
    """The drafts of the items that supersede the one of ``drafts``."""
    found = {
        new
        for d in standing.pairs
        if d.decision == "supersede"
        for old, new in ([(d.a, d.b)] if d.newer == "b" else [(d.b, d.a)])
        if old in drafts
    }
    whole = {c.id: standing.drafts(c.id) for c in standing.clusters.values()}
    return tuple(sorted({draft for held in whole.values() if not found.isdisjoint(held) for draft in held}))


def _edited(item: Item, words: Mapping[str, Any]) -> Item:
    try:
        found = Item.model_validate({**item.model_dump(), **words})
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise _usage(f"{field}: {first['msg']}.", item.id, "Correct the value.") from error
    if not found.statement.strip():
        raise _usage("statement: an item must say something.", item.id, "To take it away: kb edit ID --status retired")
    return found


def _settled_field(item: Item, line: HumanDecision) -> Item:
    try:
        return settled(item, line.field, line.action)
    except KeyError as error:
        raise _usage(f"nothing clashes in '{line.field}'.", item.id, "`kb review --list` has what does.") from error


def _field_of(item: Item, name: str) -> dict[str, Any]:
    """All that settling a clash of ``name`` changes."""
    stated = item.model_dump(mode="json", include={name, "edited", "clashes"})
    return {
        "value": stated[name],
        "edited": stated["edited"].get(name, ""),
        "clash": stated["clashes"].get(name),
    }


def _with_field(item: Item, line: HumanDecision) -> Item:
    """``item`` as it was before a clash was settled."""
    before, name = line.before, line.field
    changes = {
        name: before["value"],
        "edited": {**item.edited, name: before["edited"]},
        "clashes": {**item.clashes, name: before["clash"]},
    }
    return Item.model_validate({**item.model_dump(), **changes})
