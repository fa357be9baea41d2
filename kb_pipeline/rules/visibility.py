"""What remains of a record for one who may read some sources alone. Knows no token and no index.

An item belongs to whoever may read a document in whose own words it stands. What other documents added to it (their
citations, their share of the confirmations, what was decided about them) is not there for him.
"""

from collections.abc import Callable, Iterable

from kb_pipeline.records import DocumentView, Item, ItemView
from kb_pipeline.rules import ids

PLAIN = {"cause": "", "others": (), "before": {}, "after": {}, "quotes": (), "lost": ()}
"""What an event loses for one who does not see everything: causes and former words name other items."""
Known = Callable[[Iterable[str]], frozenset[str]]
"""Which of these items exist for the one who asks."""


def origins(item: Item) -> frozenset[str]:
    """The documents in whose own words ``item`` stands; its first one where it was worded anew."""
    same = ids.canonical(item.statement)
    said = frozenset(s.doc_id for s in item.sources if ids.canonical(s.source_span) == same)
    return said or frozenset(s.doc_id for s in item.sources[:1])


def within(doc_id: str, sources: frozenset[str]) -> bool:
    """Whether a document is one of these sources'."""
    return doc_id.partition("/")[0] in sources


def item(view: ItemView, sources: frozenset[str], known: Known) -> ItemView | None:
    """``view`` as far as ``sources`` go; None where the item does not exist for who reads them alone."""
    whole = view.item
    if not any(within(doc, sources) for doc in origins(whole)):
        return None
    cited = tuple(s for s in whole.sources if within(s.doc_id, sources))
    near = known([*whole.related_items, *(n.id for n in view.neighbours), *filter(None, [whole.superseded_by])])
    changes = {
        "sources": cited,
        "confirmations": min(whole.confirmations, len(cited)),
        "related_items": tuple(name for name in whole.related_items if name in near),
        "superseded_by": whole.superseded_by if whole.superseded_by in near else None,
        "aliases": (),
    }
    if len(cited) < len(whole.sources):
        said = whole.statement.casefold()
        changes |= {"detail": "", "note": None, "entities": tuple(e for e in whole.entities if e.casefold() in said)}
    return view.model_copy(
        update={
            "item": whole.model_copy(update=changes),
            "passages": tuple(p for p in view.passages if within(p.citation.doc_id, sources)),
            "neighbours": tuple(n for n in view.neighbours if n.id in near),
            "decisions": (),
        }
    )


def document(view: DocumentView, sources: frozenset[str], known: Known) -> DocumentView | None:
    """``view`` with the items that exist for who reads ``sources`` alone; None where the document does not."""
    if not within(view.meta.doc_id, sources):
        return None
    there = known(brief.id for brief in view.items)
    return view.model_copy(update={"items": tuple(brief for brief in view.items if brief.id in there)})
