"""What an editor may do through a served face: see what waits, decide, reword pages and items. Decides nothing itself.

One who sees some projects alone curates what they alone prove: what another project rests on too is not his to change.
A page is his to see only where all is his that it rests on, so whoever sees one may edit it.
"""

from collections.abc import Mapping
from typing import Any

from kb_pipeline.api.access import Forbidden
from kb_pipeline.api.visiting import Visitor
from kb_pipeline.errors import NotFound
from kb_pipeline.records import Conflict, Event, HumanDecision, Item, ItemView, PageDraft, PageWords, Review
from kb_pipeline.rules import visibility


def reviews(visitor: Visitor) -> list[Review]:
    """What waits for a person and is wholly his to see; of pages the knowledge base itself knows which are."""
    visitor.require("editor")
    found, sees = visitor.seen.reviews(), visitor.seen.sees
    if sees is None:
        return found
    known = visitor.known(brief.id for review in found for brief in review.items)
    return [
        review
        for review in found
        if review.kind == "page"
        or (
            {brief.id for brief in review.items} <= known
            and all(visibility.within(quote.doc_id, sees) for quote in review.quotes)
        )
    ]


def decide(visitor: Visitor, name: str, action: str, reason: str) -> HumanDecision:
    """Record a decision on a review that is his. Raises as ``KnowledgeBase.decide``, ``NotFound`` for another's."""
    visitor.require("editor")
    if visitor.seen.sees is not None:
        waiting = {review.name: review for review in reviews(visitor)}
        if name not in waiting:
            raise NotFound(f"there is no review '{name}'.", where="review", cure="The list has those that wait.")
        for brief in waiting[name].items if waiting[name].kind != "page" else ():
            _own(visitor, brief.id)
    return visitor.seen.decide(name, action, reason, visitor.principal.name)


def page_draft(visitor: Visitor, name: str) -> PageDraft:
    """A page opened for editing. Raises ``NotFound`` as for one who reads it."""
    visitor.require("editor")
    return visitor.seen.page_draft(name)


def write_page(visitor: Visitor, name: str, words: PageWords, loaded: str) -> bool:
    """Write a page as a person's edit. Raises as ``Rewording.write_page``."""
    visitor.require("editor")
    return visitor.seen.write_page(name, words, loaded)


def item_draft(visitor: Visitor, item_id: str) -> tuple[Item, str]:
    """An item opened for editing. Raises ``NotFound``, and ``Forbidden`` where it rests on more than he sees."""
    visitor.require("editor")
    found = visitor.item(item_id).item.id
    _own(visitor, found)
    return visitor.base.item_draft(found)


def reword_item(visitor: Visitor, item_id: str, fields: Mapping[str, Any], loaded: str) -> Item:
    """Change fields of an item. Raises as ``item_draft`` and ``Rewording.reword_item``."""
    visitor.require("editor")
    found = visitor.item(item_id).item.id
    _own(visitor, found)
    return visitor.base.reword_item(found, fields, loaded)


def history(visitor: Visitor, item_id: str) -> list[Event]:
    """What happened to an item, oldest first; who does not see everything is told what and when, but not why."""
    shown = visitor.item(item_id)
    found = visitor.base.history(shown.item.id)
    return found if visitor.seen.sees is None else [event.model_copy(update=visibility.PLAIN) for event in found]


def disagreeing(visitor: Visitor, item_id: str) -> list[Conflict]:
    """The conflicts that an item is in, as far as the other side may be seen."""
    found = [conflict for conflict in visitor.base.conflicts() if item_id in {conflict.a, conflict.b}]
    if visitor.seen.sees is None:
        return found
    known = visitor.known(name for conflict in found for name in (conflict.a, conflict.b))
    return [conflict for conflict in found if {conflict.a, conflict.b} <= known]


def _own(visitor: Visitor, item_id: str) -> None:
    visitor.item(item_id)
    whole = visitor.base.show(item_id)
    sees = visitor.seen.sees
    assert isinstance(whole, ItemView)
    if sees is not None and not all(visibility.within(s.doc_id, sees) for s in whole.item.sources):
        cure = "Ask someone whose token sees everything."
        raise Forbidden("rests on more than this token sees.", where=item_id, cure=cure)
