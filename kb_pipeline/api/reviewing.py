"""What waits for a person: edits that clash, conflicts, close pairs, what is filed nowhere or hardly certain.

Owns which of these are still open, their names and the actions that settle them. Decides and changes nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, cast

from kb_pipeline.errors import NotFound, StoreError
from kb_pipeline.records import (
    UNCLASSIFIED,
    Brief,
    Cluster,
    Conflict,
    DedupDecision,
    HumanDecision,
    Item,
    Quote,
    Review,
)
from kb_pipeline.records.curation import Action, ReviewKind
from kb_pipeline.rules import conflicts as rules
from kb_pipeline.rules import ids, people
from kb_pipeline.rules.decisions import score
from kb_pipeline.runner import Run
from kb_pipeline.store.people import decisions

OF_PAIRS: tuple[Action, ...] = ("merge", "keep", "supersede", "retire", "skip")
OF_ITEMS: tuple[Action, ...] = ("keep", "retire", "skip")
OF_EDITS: tuple[Action, ...] = ("mine", "machine", "skip")

_WHY: Mapping[ReviewKind, str] = {
    "unclassified": "no category of the closed list fits: kb edit ID --category NAME",
    "low_confidence": "it may not stand on its own: kb edit ID --statement TEXT",
}
_OPEN = """
select id, text, category, doc_id, quote, confidence from rows
where kind = 'item' and (category = 'UNCLASSIFIED' or confidence = 'low') order by id
"""


@dataclass
class Standing:
    """Items, clusters and decisions as they stand on disk."""

    run: Run

    @cached_property
    def people(self) -> list[HumanDecision]:
        """What people decided."""
        return decisions(self.run.kb)

    @cached_property
    def clusters(self) -> Mapping[str, Cluster]:
        """Clusters by id."""
        return {c.id: c for c in cast(tuple[Cluster, ...], self._records("clusters"))}

    @cached_property
    def conflicts(self) -> tuple[Conflict, ...]:
        """The conflicts on record."""
        return cast(tuple[Conflict, ...], self._records("conflicts"))

    @cached_property
    def pairs(self) -> tuple[DedupDecision, ...]:
        """The decisions on pairs of drafts."""
        return cast(tuple[DedupDecision, ...], self._records("decisions"))

    @cached_property
    def home(self) -> Mapping[str, str]:
        """The id of each draft's item, as far as it is live."""
        live = (c for c in self.clusters.values() if not c.superseded_by and not c.aside)
        return {o.draft: c.id for c in live for o in c.occurrences}

    def _records(self, key: str) -> tuple[Any, ...]:
        entry = self.run.kb.manifest("dedup").get(key)
        return self.run.kb.read("dedup", entry) if entry else ()

    def item(self, key: str) -> Item | None:
        """The item of that id as its file has it; None where there is none that can be read."""
        entry = self.run.kb.manifest("tags").get(key)
        try:
            return cast(Item, self.run.kb.read("tags", entry)[0]) if entry else None
        except StoreError:
            return None

    def resolved(self, name: str) -> str:
        """The id of the cluster that ``name``, an id, an alias or the id that one of its drafts would have alone, leads
        to. Raises ``NotFound``."""
        if name in self.clusters:
            return name
        named = (c.id for c in self.clusters.values() if name in c.aliases)
        stated = (c.id for c in self.clusters.values() if any(ids.item_id(o.draft) == name for o in c.occurrences))
        found = next(chain(named, stated), None)
        if found is None:
            raise NotFound(f"there is no item '{name}'.", where="kb/items", cure="Find one with `kb search`.")
        return found

    def drafts(self, key: str) -> tuple[str, ...]:
        """Sorted hashes of the drafts that are that item; empty where no document states it any more."""
        cluster = self.clusters.get(key)
        return tuple(sorted({o.draft for o in cluster.occurrences})) if cluster else ()


def reviews(run: Run) -> list[Review]:
    """Everything that waits for a person, what contradicts first."""
    standing = Standing(run)
    return [*_edits(standing), *_conflicts(standing), *_pairs(standing), *_uncertain(standing)]


def _edits(standing: Standing) -> Iterator[Review]:
    """Fields that a person changed and of which the machine says something else since."""
    for entry in standing.run.kb.manifest("tags"):
        item = standing.item(entry.key) if entry.edited else None
        for name, said in sorted(item.clashes.items()) if item else ():
            yield Review(
                name=f"item:{entry.key}:edit:{name}",
                kind="edit",
                why=f"a person worded {name}, and the machine says something else since",
                items=(_brief(cast(Item, item)),),
                quotes=_quotes(cast(Item, item)),
                actions=OF_EDITS,
                field=name,
                values={"mine": cast(Item, item).model_dump(mode="json")[name], "machine": said},
            )


def _conflicts(standing: Standing) -> Iterator[Review]:
    for conflict in standing.conflicts:
        items = [item for key in (conflict.a, conflict.b) if (item := standing.item(key))]
        if len(items) == 2:
            yield Review(
                name=f"conflict:{conflict.a}:{conflict.b}",
                kind="conflict",
                why=conflict.why,
                items=tuple(map(_brief, items)),
                quotes=conflict.quotes,
                actions=OF_PAIRS,
            )


def _pairs(standing: Standing) -> Iterator[Review]:
    """Pairs that nobody could decide, the closest first, each two items once."""
    known = {(c.a, c.b) for c in standing.conflicts}
    undecided = (d for d in standing.pairs if d.needs_review and d.decision == "keep_both" and not rules.kind(d))
    for decision in sorted(undecided, key=lambda d: (-score(d.cosine, d.ratio), d.a, d.b)):
        ids = sorted({standing.home.get(draft, "") for draft in (decision.a, decision.b)})
        pair = (ids[0], ids[-1])
        items = [item for key in ids if (item := standing.item(key))]
        if len(items) == 2 and pair not in known:
            known.add(pair)
            quotes = tuple(quote for item in items for quote in _quotes(item)[:1])
            yield Review(
                name=f"pair:{ids[0]}:{ids[1]}",
                kind="pair",
                why=f"{decision.reason} ({decision.cosine:.3f})",
                items=tuple(map(_brief, items)),
                quotes=quotes,
                actions=OF_PAIRS,
            )


def _uncertain(standing: Standing) -> Iterator[Review]:
    """Live items that are filed nowhere or hardly certain, less those that a person looked at."""
    index = standing.run.world.index
    if index.live() is None or index.fault():
        return
    with index.snapshot() as snapshot:
        _, rows = snapshot.sql(_OPEN)
    seen = people.seen(standing.people)
    for key, text, category, doc_id, quote, confidence in rows:
        if not seen.isdisjoint(standing.drafts(key)):
            continue
        for kind in _kinds(category, confidence):
            yield Review(
                name=f"item:{key}:{kind}",
                kind=kind,
                why=_WHY[kind],
                items=(Brief(id=key, statement=text, category=category, status="active"),),
                quotes=(Quote(doc_id=doc_id, text=quote),),
                actions=OF_ITEMS,
            )


def _kinds(category: str, confidence: str) -> list[ReviewKind]:
    found: list[ReviewKind] = ["unclassified"] if category == UNCLASSIFIED else []
    return [*found, "low_confidence"] if confidence == "low" else found


def _brief(item: Item) -> Brief:
    return Brief(id=item.id, statement=item.statement, category=item.primary_category, status=item.status)


def _quotes(item: Item) -> tuple[Quote, ...]:
    return tuple(Quote(doc_id=s.doc_id, text=s.source_span) for s in item.sources)
