"""Clusters to published items: merged fields, category, tags, dates and status. Writes nothing itself."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from operator import attrgetter
from typing import NamedTuple, TypeVar, cast

from kb_pipeline.records import Chunk, Cluster, DedupDecision, Draft, Extraction, Item, Meta, Occurrence, Tagging
from kb_pipeline.rules import history, ids
from kb_pipeline.rules.edits import FIELDS
from kb_pipeline.rules.encoded import lines
from kb_pipeline.rules.merging import Witness, merge
from kb_pipeline.rules.taxonomy import ClosedList
from kb_pipeline.world import Changes, Inputs, Output, Pool, Previous, World

_SLICE = 2000  # items tagged at a time: what a stage holds beside its output
_CASE = 128  # items merged by a worker at a time: about 10 ms of work
_READ = ("atomic_items", "chunks", "normalized")
_Papers = tuple[tuple[Extraction, ...], tuple[Chunk, ...], Meta]
T = TypeVar("T")
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
    closed = ClosedList(world.settings.taxonomy)
    now = world.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    upserts: dict[str, tuple[Item, ...]] = {}
    wanted: list[str] = []
    for item, found in _tagged_items(affected, inputs, world):
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
    taken = _taken([c for c in known if c.id in by_hand], inputs, closed, world)
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


def _made_from(clusters: Sequence[Cluster], data: bytes) -> dict[str, str]:
    """The hash of each cluster as it lies on disk."""
    return {c.id: ids.digest(line) for c, line in zip(clusters, BytesIO(data), strict=True)}


def _tagged_items(clusters: Sequence[Cluster], inputs: Inputs, world: World) -> Iterator[tuple[Item, Tagging]]:
    """The items of clusters, each with its tagging, by their first documents: each slice once the next is begun."""
    merging = (_merging(part, inputs, world.pool) for part in _parts(sorted(clusters, key=_first_document), _SLICE))
    tagging = (_tagging(list(items), world) for items in _one_ahead(merging))
    for begun in _one_ahead(tagging):
        yield from begun


def _tagging(items: Sequence[Item], world: World) -> Iterator[tuple[Item, Tagging]]:
    return zip(items, world.engine.tag(items, world.settings.taxonomy), strict=True)


def _one_ahead(begun: Iterable[T]) -> Iterator[T]:
    """What is begun when it is asked for, in order, each once the next is."""
    held: deque[T] = deque()
    for one in begun:
        held.append(one)
        if len(held) > 1:
            yield held.popleft()
    yield from held


def _parts(clusters: Sequence[Cluster], size: int) -> Iterator[Sequence[Cluster]]:
    return (clusters[at : at + size] for at in range(0, len(clusters), size))


def _first_document(cluster: Cluster) -> str:
    return cluster.occurrences[0].doc_id


class _Case(NamedTuple):
    """What items are merged from: clusters, and drafts, chunks and meta data of the documents that they cite, as they
    lie on disk."""

    clusters: Sequence[bytes]
    documents: Mapping[str, Sequence[bytes]]


def _merging(clusters: Sequence[Cluster], inputs: Inputs, pool: Pool) -> Iterator[Item]:
    """The items of clusters, in order; ``pool`` begins with them at once."""
    parts = list(_parts(clusters, _CASE))
    return _in_order(parts, pool.map(_merged_apart, [_case(part, inputs) for part in parts], part=1), inputs)


def _in_order(
    parts: Iterable[Sequence[Cluster]], merged: Iterable[Sequence[bytes] | Exception], inputs: Inputs
) -> Iterator[Item]:
    for clusters, items in zip(parts, merged, strict=True):
        if isinstance(items, Exception):  # reading it here tells which file it is, and the cure
            library = _Library.of(inputs)
            yield from (_merged(cluster, library) for cluster in clusters)
        else:
            yield from map(Item.model_validate_json, items)


def _case(clusters: Sequence[Cluster], inputs: Inputs) -> _Case:
    docs = dict.fromkeys(o.doc_id for c in clusters for o in c.occurrences)
    files = {doc: [inputs.encoded(stage, doc) for stage in _READ] for doc in docs}
    return _Case([c.model_dump_json(exclude_defaults=True).encode() for c in clusters], files)


def _merged_apart(case: _Case) -> list[bytes]:
    """Items from the bytes of what they are merged from, as bytes."""
    library = _Library(lambda doc: _decoded(*case.documents[doc]))
    items = (_merged(Cluster.model_validate_json(cluster), library) for cluster in case.clusters)
    return [item.model_dump_json(exclude_defaults=True).encode() for item in items]


def _decoded(extractions: bytes, chunks: bytes, meta: bytes) -> _Papers:
    return lines(Extraction, extractions), lines(Chunk, chunks), Meta.model_validate_json(meta)


@dataclass
class _Library:
    """Drafts, chunks and meta data of the documents that clusters cite, each document read once."""

    read: Callable[[str], _Papers]
    drafts: dict[str, dict[tuple[str, str], Draft]] = field(default_factory=dict)
    chunks: dict[str, dict[str, Chunk]] = field(default_factory=dict)
    metas: dict[str, Meta] = field(default_factory=dict)

    @classmethod
    def of(cls, inputs: Inputs) -> "_Library":
        """That of all documents; a file that cannot be read is named."""

        def read(doc: str) -> _Papers:
            extractions, chunks, (meta,) = (inputs.records(stage, doc) for stage in _READ)
            return cast(_Papers, (extractions, chunks, meta))

        return cls(read)

    def witnesses(self, occurrences: Iterable[Occurrence]) -> list[Witness]:
        """Each occurrence with its draft, the first chunk of that content, and its document."""
        found = []
        for occurrence in occurrences:
            doc = occurrence.doc_id
            if doc not in self.metas:
                self._take(doc)
            draft = self.drafts[doc][occurrence.chunk_hash, occurrence.draft]
            found.append(Witness(draft=draft, chunk=self.chunks[doc][occurrence.chunk_hash], meta=self.metas[doc]))
        return found

    def _take(self, doc: str) -> None:
        extractions, chunks, self.metas[doc] = self.read(doc)
        self.drafts[doc] = {(e.chunk_hash, d.hash): d for e in extractions for d in reversed(e.drafts)}
        self.chunks[doc] = {c.hash: c for c in reversed(chunks)}


def stated(cluster: Cluster, inputs: Inputs) -> Item:
    """The item of a cluster as its documents state it, without category, tags and dates."""
    return _merged(cluster, _Library.of(inputs))


def _merged(cluster: Cluster, library: _Library) -> Item:
    item = merge(cluster, library.witnesses(cluster.occurrences))
    return item.model_copy(update={"status": "retired"}) if cluster.aside else item


def _taken(clusters: Sequence[Cluster], inputs: Inputs, closed: ClosedList, world: World) -> dict[str, Item]:
    """What the items would say whose files a person removed: that is for their history to keep."""
    library = _Library.of(inputs)
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
