"""Clusters to published items: merged fields, category, tags, dates and status. Writes nothing itself."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from operator import attrgetter
from typing import cast

from kb_pipeline.records import Chunk, Cluster, DedupDecision, Draft, Extraction, Item, Meta, Occurrence, Tagging
from kb_pipeline.rules import history, ids
from kb_pipeline.rules.edits import FIELDS
from kb_pipeline.rules.merging import Witness, merge
from kb_pipeline.rules.taxonomy import ClosedList
from kb_pipeline.world import Changes, Inputs, Output, Previous, World

_SLICE = 2000  # items tagged at a time: what a stage holds beside its output
# What a reader would call the item itself: a change of anything else (offsets, versions of a document) moves no date.
_IDENTITY = (*FIELDS, "status", "superseded_by", "related_items", "confirmations", "needs_review")
_identity = attrgetter(*_IDENTITY)

_RETIRED = "retired"  # in place of the hash of a cluster: what an item was made from that no draft supports any more


def run(changes: Changes, inputs: Inputs, previous: Previous, world: World) -> Output:
    """Publish items: one file each, with its category from the closed list, its tags, its proofs and its history."""
    known = cast(tuple[Cluster, ...], inputs.records("dedup", "clusters"))
    clusters = [c for c in known if c.aside != "hidden"]
    hidden = {c.id for c in known if c.aside == "hidden"}
    made_from = _made_from(known, inputs.encoded("dedup", "clusters"))
    published = previous.inputs()
    touched = frozenset[str]().union(*(t for stage, t in changes.touched.items() if stage != "dedup"))
    citing = {c.id for c in clusters for o in c.occurrences if o.doc_id in touched}
    affected = [c for c in clusters if changes.everything or c.id in citing or published.get(c.id) != made_from[c.id]]
    library, closed = _Library(inputs), ClosedList(world.settings.taxonomy)
    now = world.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    upserts: dict[str, tuple[Item, ...]] = {}
    wanted: list[str] = []
    for item, found in _tagged_items(affected, library, world):
        tagging = closed.settled(found, item.entities)
        upserts[item.id] = (_published(item, tagging, _before(previous, item.id), now),)
        wanted += tagging.candidates
    aliases = {alias: c.id for c in clusters for alias in c.aliases}
    vanished = [key for key in previous.keys() if key not in made_from]  # noqa: SIM118
    merged_away = {key for key in vanished if key in aliases and not _edited(previous, key)}
    leaving = [key for key in vanished if key not in merged_away and published.get(key) != _RETIRED]
    retired = _retire(leaving, previous, aliases, now)
    heirs = {key: aliases[key] for key in vanished if key in aliases}
    decisions = cast(tuple[DedupDecision, ...], inputs.records("dedup", "decisions"))
    leavers, standing = [item for (item,) in retired.values()], frozenset(inputs.keys("normalized"))
    causes = history.explained(affected, decisions, leavers, standing, heirs)
    by_hand = hidden & previous.removed()
    taken = _taken([c for c in known if c.id in by_hand], library, closed, world)
    return Output(
        upserts={**upserts, **retired},
        deletes=frozenset(merged_away | (hidden & published.keys())),
        inputs={**{c.id: made_from[c.id] for c in affected}, **dict.fromkeys(retired, _RETIRED)},
        kept=len(clusters) - len(affected),
        warnings=tuple(_left(item) for item in leavers if item.edited),
        causes={**causes, **dict.fromkeys(taken, history.BY_HAND)},
        gone=taken,
        details=_details(upserts.values(), Counter(wanted)),
    )


def _made_from(clusters: Sequence[Cluster], lines: bytes) -> dict[str, str]:
    """The hash of each cluster as it lies on disk."""
    return {c.id: ids.digest(line) for c, line in zip(clusters, BytesIO(lines), strict=True)}


def _tagged_items(clusters: Sequence[Cluster], library: "_Library", world: World) -> Iterator[tuple[Item, Tagging]]:
    """The items of clusters, each with its tagging: of a slice while the one behind it is begun."""
    ahead: Iterable[tuple[Item, Tagging]] = ()
    for start in range(0, len(clusters), _SLICE):
        merged = [_merged(c, library) for c in clusters[start : start + _SLICE]]
        begun = zip(merged, world.engine.tag(merged, world.settings.taxonomy), strict=True)
        yield from ahead
        ahead = begun
    yield from ahead


@dataclass
class _Library:
    """Drafts, chunks and meta data of the documents that clusters cite, each document read once."""

    inputs: Inputs
    drafts: dict[str, dict[tuple[str, str], Draft]] = field(default_factory=dict)
    chunks: dict[str, dict[str, Chunk]] = field(default_factory=dict)
    metas: dict[str, Meta] = field(default_factory=dict)

    def witnesses(self, occurrences: Iterable[Occurrence]) -> list[Witness]:
        """Each occurrence with its draft, the first chunk of that content, and its document."""
        found = []
        for occurrence in occurrences:
            doc = occurrence.doc_id
            if doc not in self.metas:
                self._read(doc)
            draft = self.drafts[doc][occurrence.chunk_hash, occurrence.draft]
            found.append(Witness(draft=draft, chunk=self.chunks[doc][occurrence.chunk_hash], meta=self.metas[doc]))
        return found

    def _read(self, doc: str) -> None:
        extractions = cast(tuple[Extraction, ...], self.inputs.records("atomic_items", doc))
        self.drafts[doc] = {(e.chunk_hash, d.hash): d for e in extractions for d in reversed(e.drafts)}
        chunks = cast(tuple[Chunk, ...], self.inputs.records("chunks", doc))
        self.chunks[doc] = {c.hash: c for c in reversed(chunks)}
        self.metas[doc] = cast(Meta, self.inputs.records("normalized", doc)[0])


def stated(cluster: Cluster, inputs: Inputs) -> Item:
    """The item of a cluster as its documents state it, without category, tags and dates."""
    return _merged(cluster, _Library(inputs))


def _merged(cluster: Cluster, library: _Library) -> Item:
    item = merge(cluster, library.witnesses(cluster.occurrences))
    return item.model_copy(update={"status": "retired"}) if cluster.aside else item


def _taken(clusters: Sequence[Cluster], library: _Library, closed: ClosedList, world: World) -> dict[str, Item]:
    """What the items would say whose files a person removed: that is for their history to keep."""
    items = [merge(c, library.witnesses(c.occurrences)) for c in clusters]
    found = world.engine.tag(items, world.settings.taxonomy) if items else ()
    settled = ((i, closed.settled(t, i.entities)) for i, t in zip(items, found, strict=True))
    return {item.id: item.model_copy(update=_filed(tagging)) for item, tagging in settled}


def _filed(tagging: Tagging) -> dict[str, object]:
    """What an item says of where it belongs."""
    return {
        "primary_category": tagging.primary_category,
        "secondary_categories": tagging.secondary_categories,
        "tags": tagging.tags,
        "note": tagging.note,
    }


def _published(item: Item, tagging: Tagging, before: Item | None, now: str) -> Item:
    """The item where it belongs, with the hash of what it says and the dates that follow from what it said before."""
    filed = _filed(tagging)
    said = {**dict(zip(_IDENTITY, _identity(item), strict=True)), **filed}
    content = ids.digest_json([said, sorted({s.doc_id for s in item.sources})])
    same = before is not None and before.content_hash == content
    return item.model_copy(
        update={
            **filed,
            "content_hash": content,
            "created_at": before.created_at if before else now,
            "updated_at": before.updated_at if before and same else now,
            "valid_to": None if item.status == "active" else item.valid_to or (before and before.valid_to) or now,
        }
    )


def _before(previous: Previous, key: str) -> Item | None:
    records = previous.records(key)
    return cast(Item, records[0]) if records else None


def _edited(previous: Previous, key: str) -> bool:
    """Whether a person's words would be lost with the item of that id."""
    item = _before(previous, key)
    return item is None or bool(item.edited) or not previous.inputs()[key]


def _retire(keys: Sequence[str], previous: Previous, heirs: Mapping[str, str], now: str) -> dict[str, tuple[Item, ...]]:
    """Items that no document supports any more, or that a person had edited before they were merged into their heir:
    kept on disk with their last proofs, out of everything live."""
    retired: dict[str, tuple[Item, ...]] = {}
    for key in keys:
        item = _before(previous, key)
        if item is not None and item.status == "retired":
            retired[key] = (item,)  # by a run that was killed before it could record it
        elif item is not None:
            gone = {"status": "retired", "valid_to": now, "updated_at": now, "related_items": ()}
            retired[key] = (item.model_copy(update={**gone, "superseded_by": heirs.get(key)}),)
    return retired


def _left(item: Item) -> str:
    """What to tell a person whose words leave with an item: a document that rewords its fact states another one."""
    words = ", ".join(name for name in FIELDS if name in item.edited) or "its status"
    why = f"became one with {item.superseded_by}" if item.superseded_by else "is stated by no document any more"
    return f"{item.id} {why}: what a person wrote into it ({words}) is kept, and served no longer: kb show {item.id}"


def _details(items: Iterable[tuple[Item, ...]], wanted: Counter[str]) -> Mapping[str, object]:
    by_category = Counter(item.primary_category for (item,) in items)
    top = sorted(wanted, key=lambda tag: (-wanted[tag], tag))[:20]
    return {"categories": dict(sorted(by_category.items())), "tag_candidates": {tag: wanted[tag] for tag in top}}
