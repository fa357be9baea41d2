"""What changed on pages of the wiki between a generation that is retained and the files as they stand."""

from typing import Literal

from kb_pipeline.records.history import EventKind
from kb_pipeline.records.record import Record


class Piece(Record):
    """Words of a changed sentence, in order: those of both, those that came and those that went."""

    kind: Literal["same", "added", "removed"]
    text: str


class SentenceChange(Record):
    """One sentence that came, went or was worded otherwise, in its ``section`` (headings, the outer first).

    ``before`` and ``now`` are its words as plain text; of one that went ``before`` is empty where its words may not be
    shown, because a document that it rested on is gone. ``pieces`` are those of a changed one. ``items`` are the items
    behind it, those of now if there are any. ``event`` and ``cause`` are what the history knows of why; ``moved`` says
    that it stands on another page now, or stood on another before.
    """

    kind: Literal["added", "removed", "changed"]
    section: tuple[str, ...] = ()
    before: str = ""
    now: str = ""
    pieces: tuple[Piece, ...] = ()
    items: tuple[str, ...] = ()
    event: EventKind | Literal["", "moved"] = ""
    cause: str = ""
    by: Literal["machine", "person"] = "machine"


class PageChanges(Record):
    """What changed on one page. ``unknown`` where nothing earlier is retained to compare it with; ``since`` is the
    generation that it was compared with. ``shifted`` sentences stand in another order or section, word for word."""

    id: str
    title: str
    path: str
    kind: Literal["created", "removed", "changed", "unchanged", "unknown"]
    since: str = ""
    former_title: str = ""
    changes: tuple[SentenceChange, ...] = ()
    shifted: int = 0

    def count(self, kind: str) -> int:
        """How many sentences came, went or changed."""
        return sum(change.kind == kind for change in self.changes)


class WikiChanges(Record):
    """The pages that changed since a generation, by title; ``more`` of them are not listed. ``retained`` are all
    generations that can be compared with, oldest first; ``since`` is empty where there is none but the newest."""

    since: str = ""
    at: str = ""
    retained: tuple[str, ...] = ()
    pages: tuple[PageChanges, ...] = ()
    more: int = 0
