"""The verb of one look-up: the tools of an answer one by one, for who plans on his own. Asks no model.

Owns what remains of conflicts and changes for one who sees some sources alone: never a word about the other ones.
"""

from collections.abc import Iterable
from typing import Literal

from kb_pipeline.api.answering import Answering
from kb_pipeline.api.lookups import Records
from kb_pipeline.errors import KbError
from kb_pipeline.query.executor import carried_out
from kb_pipeline.query.tools import Desk
from kb_pipeline.records import Conflict, Event, Scope, ToolCall, ToolResult
from kb_pipeline.rules import visibility

Looked = Literal["recent_changes", "who_knows", "conflicts"]
_MANY = 100_000
"""Events that are looked through for those that may be told."""


class LookingUp(Answering):
    """Looking things up without an answer written of them."""

    def look_up(
        self, tool: Looked, query: str = "", *, k: int = 10, scope: Scope | None = None, project: str | None = None
    ) -> ToolResult:
        """What one tool finds: ``query`` is words (``who_knows``, ``conflicts``) or a day (``recent_changes``).

        Raises ``KbError`` (code ``usage``) where the look-up cannot be made, ``NotFound`` as ``search`` does.
        """
        within = self._within(scope, project)
        records = Records(self._run(), self.settings.sources, self._in_conflict, self.recent_changes)
        reader = self._opened.reader
        with reader.index.snapshot() as snapshot:
            desk = Desk(query, reader, snapshot, within)
            call = ToolCall(tool=tool, query=query, k=k)
            (found,) = carried_out([call], records.tools(), desk, self.settings.options.ask_seconds)
        if found.failed:
            raise KbError(found.failed, where=tool, cure="Ask otherwise.", code="usage")
        return found

    def _in_conflict(self) -> list[Conflict]:
        found = super()._in_conflict()
        if self.sees is None:
            return found
        known = self._visible(name for conflict in found for name in (conflict.a, conflict.b))
        return [conflict for conflict in found if {conflict.a, conflict.b} <= known]

    def recent_changes(self, since: str, limit: int = 100) -> list[Event]:
        """As ``Remembering.recent_changes``. Who does not see everything is told that an item changed, not why: causes
        and former words name others."""
        found = super().recent_changes(since, limit if self.sees is None else _MANY)
        if self.sees is None:
            return found
        known = self._visible(event.item for event in found)
        return [event.model_copy(update=visibility.PLAIN) for event in found if event.item in known][:limit]

    def _visible(self, names: Iterable[str]) -> frozenset[str]:
        with self.world.index.snapshot() as snapshot:
            return frozenset(row.id for row in snapshot.rows(list(dict.fromkeys(names))))
