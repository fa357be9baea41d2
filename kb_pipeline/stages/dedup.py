"""Drafts of all documents to clusters, one a future item. Writes nothing itself, and asks the engine only what rules
leave open."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import cast

from kb_pipeline.records import (
    Cluster,
    Conflict,
    DedupDecision,
    Draft,
    Extraction,
    HumanDecision,
    Meta,
    Occurrence,
    Pair,
    Quote,
    Side,
    Verdict,
)
from kb_pipeline.rules import clusters, conflicts, decisions, encoded, guards, naming, order, people, weighing
from kb_pipeline.rules.ids import canonical
from kb_pipeline.rules.pairs import NEAREST, all_pairs, bounded, joined, pairs_of, pairs_touching
from kb_pipeline.rules.written import item_of
from kb_pipeline.world import Changes, Embedder, Inputs, Output, Pool, Previous, Vectors, World

_SLICE = 8000  # texts embedded at a time: what an embedder holds beside all vectors stays small
_DOCUMENTS = 1024  # held at a time, as they stand on disk
_PART = 32  # pairs weighed together: about 10 ms

Key = tuple[str, str]


def run(changes: Changes, inputs: Inputs, previous: Previous, world: World) -> Output:
    """Group equal and near-equal drafts of all sources into clusters: merge, keep both, or supersede with evidence."""
    before = _Before.read(previous, changes)
    nodes = _Nodes.read(changes, inputs, before, world)
    decided = _decided(_candidates(nodes, before, world), nodes, before, world)
    groups = clusters.reform(nodes.places, decided, nodes.apart, before.formed, nodes.changed)
    lines = tuple(decided[key] for key in sorted(decided))
    aside = people.set_aside(before.by_people, groups)
    made = naming.records(groups, lines, nodes.places, before.published, aside, nodes.since)
    unchanged = {id(cluster) for cluster in before.published}  # naming.records hands these on as they are
    return Output(
        upserts={"decisions": lines, "clusters": made, "conflicts": _conflicts(lines, made, nodes, previous)},
        kept=sum(id(cluster) in unchanged for cluster in made),
        story=tuple(_story(decided, before.told, nodes)),
        details=_details(nodes, lines, made),
    )


@dataclass(frozen=True)
class _Before:
    """What the last run published, for its ids, and as far as it still counts; and what people decided, which counts
    always."""

    published: tuple[Cluster, ...]
    occurrences: tuple[Occurrence, ...]
    formed: clusters.Before
    by_people: tuple[HumanDecision, ...]
    told: dict[Key, str]

    @classmethod
    def read(cls, previous: Previous, changes: Changes) -> "_Before":
        known = cast(tuple[Cluster, ...], previous.records("clusters"))
        lines = cast(tuple[DedupDecision, ...], previous.records("decisions"))
        by_people = cast(tuple[HumanDecision, ...], previous.records("human"))
        told = {(d.a, d.b): d.reason for d in lines}
        if changes.everything:
            return cls(known, (), clusters.Before((), {}), by_people, told)
        occurrences = tuple(o for cluster in known for o in cluster.occurrences)
        groups = [_group(cluster) for cluster in known]
        return cls(known, occurrences, clusters.Before(groups, {(d.a, d.b): d for d in lines}), by_people, told)


def _group(cluster: Cluster) -> clusters.Group:
    if len(cluster.occurrences) == 1:
        return (cluster.occurrences[0].draft,)
    return tuple(sorted({o.draft for o in cluster.occurrences}))


@dataclass
class _Nodes:
    """The distinct drafts by hash.

    ``places`` tells where each stands, sorted by content so that a move changes nothing; ``new`` are those that no
    document held before, ``changed`` those that a touched document holds or held, ``texts`` the canonical statements
    of what touched documents hold. What else a draft says, and the dates of documents, are read when asked for.
    """

    inputs: Inputs
    places: dict[str, tuple[Occurrence, ...]]
    texts: dict[str, str]
    new: frozenset[str]
    changed: frozenset[str]
    _sides: dict[str, Side] = field(default_factory=dict)
    _spans: dict[str, str] = field(default_factory=dict)
    _documents: dict[str, order.Place] = field(default_factory=dict)
    _dates: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, changes: Changes, inputs: Inputs, before: _Before, world: World) -> "_Nodes":
        held = set(inputs.keys("atomic_items"))
        touched = held if changes.everything else frozenset[str]().union(*changes.touched.values())
        places: dict[str, list[Occurrence]] = {}
        changed = set()
        for o in before.occurrences:
            if o.doc_id in touched:
                changed.add(o.draft)
            else:
                places.setdefault(o.draft, []).append(o)
        known = places.keys() | changed
        texts: dict[str, str] = {}
        for o in _occurrences(inputs, touched & held, texts, world):
            places.setdefault(o.draft, []).append(o)
            changed.add(o.draft)
        grouped = {node: _sorted(places[node]) for node in sorted(places)}
        return cls(inputs, grouped, texts, frozenset(grouped.keys() - known), frozenset(changed))

    def load(self, wanted: Iterable[str]) -> None:
        """Read these drafts, each document once."""
        by_doc: dict[str, set[Key]] = {}
        for node in {node for node in wanted if node not in self._sides}:
            first = self.places[node][0]
            by_doc.setdefault(first.doc_id, set()).add((first.chunk_hash, node))
        for doc in sorted(by_doc):
            for chunk_hash, draft in _drafts(self.inputs, doc):
                if (chunk_hash, draft.hash) in by_doc[doc]:
                    self._sides.setdefault(draft.hash, _side(draft))
                    self._spans.setdefault(draft.hash, draft.source_span)

    def side(self, node: str) -> Side:
        """What a judge may see of a draft."""
        if node not in self._sides:
            self.load([node])
        return self._sides[node]

    def text(self, node: str) -> str:
        """The canonical statement of a draft."""
        return self.texts.get(node) or canonical(self.side(node).statement)

    def quote(self, node: str) -> Quote:
        """The words that a draft rests on, in the first document that holds it."""
        self.load([node])
        return Quote(doc_id=self.places[node][0].doc_id, text=self._spans[node])

    def apart(self, a: str, b: str) -> bool:
        """Whether a guard keeps two drafts apart that were never candidates."""
        return bool(guards.fired(self.side(a), self.side(b)))

    def together(self, a: str, b: str) -> bool:
        """Whether one document states both."""
        return not {o.doc_id for o in self.places[a]}.isdisjoint(o.doc_id for o in self.places[b])

    def heard(self, key: Key, verdict: Verdict) -> Verdict:
        """``verdict`` as it may be recorded where a person wrote one of the two by hand."""
        by_hand = any(item_of(o.doc_id) for node in key for o in self.places[node])
        return decisions.respected(verdict) if by_hand else verdict

    def lineages(self, a: str, b: str) -> tuple[list[order.Place], list[order.Place]]:
        """Where two drafts stand in the lineages that they share."""
        docs = [sorted({o.doc_id for o in self.places[node]}) for node in (a, b)]
        here, there = ({self._place(doc).lineage for doc in side} for side in docs)
        shared = here & there
        if not shared:
            return [], []
        ours, theirs = ([self._dated(doc) for doc in side if self._place(doc).lineage in shared] for side in docs)
        return ours, theirs

    def candidate(self, key: Key, cosine: float) -> weighing.Candidate:
        """A pair to be weighed."""
        a, b = key
        return weighing.Candidate(self.side(a), self.side(b), cosine, *self.lineages(a, b), self.together(a, b))

    def since(self, group: clusters.Group) -> str | None:
        """The earliest explicit date of a document that states one of these drafts."""
        docs = {o.doc_id for node in group for o in self.places[node]}
        return min((date for doc in docs if (date := self._dated(doc).date)), default=None)

    def _place(self, doc: str) -> order.Place:
        if doc not in self._documents:
            self._documents[doc] = order.place(doc)
        return self._documents[doc]

    def _dated(self, doc: str) -> order.Place:
        if doc not in self._dates:
            metas = cast(tuple[Meta, ...], self.inputs.records("normalized", doc))
            self._dates[doc] = (metas[0].effective_date or "") if metas else ""
        return replace(self._place(doc), date=self._dates[doc])


def _side(d: Draft) -> Side:
    return Side(statement=d.statement, detail=d.detail, context=d.context, entities=d.entities, item_type=d.item_type)


def _drafts(inputs: Inputs, doc: str) -> Iterator[tuple[str, Draft]]:
    for extraction in cast(tuple[Extraction, ...], inputs.records("atomic_items", doc)):
        for draft in extraction.drafts:
            yield extraction.chunk_hash, draft


def _occurrences(inputs: Inputs, docs: Iterable[str], texts: dict[str, str], world: World) -> Iterable[Occurrence]:
    """Where the drafts of ``docs`` stand, each once a chunk; what they say is added to ``texts``."""
    found: dict[tuple[str, str, str], Occurrence] = {}
    for doc, drafts in _stated(sorted(docs), inputs, world.pool):
        for draft, chunk_hash, topic, text in drafts:
            place = (draft, chunk_hash, doc)
            if place not in found or topic < found[place].topic:
                key = world.embedder.key(text).hex()
                found[place] = Occurrence(draft=draft, text_key=key, doc_id=doc, chunk_hash=chunk_hash, topic=topic)
                texts[draft] = text
    return found.values()


def _stated(docs: Sequence[str], inputs: Inputs, pool: Pool) -> Iterator[tuple[str, Sequence[encoded.Stated]]]:
    """The drafts of each document."""
    for start in range(0, len(docs), _DOCUMENTS):
        part = docs[start : start + _DOCUMENTS]
        files = [inputs.encoded("atomic_items", doc) for doc in part]
        for doc, drafts in zip(part, pool.map(encoded.stated, files), strict=True):
            if isinstance(drafts, Exception):
                inputs.records("atomic_items", doc)  # tells which file it is, and the cure
                raise drafts
            yield doc, drafts


_where = attrgetter("chunk_hash", "doc_id")


def _sorted(found: Sequence[Occurrence]) -> tuple[Occurrence, ...]:
    return tuple(sorted(found, key=_where)) if len(found) > 1 else tuple(found)


def _candidates(nodes: _Nodes, before: _Before, world: World) -> dict[Key, float]:
    """All pairs above the threshold with their cosines; only those that touch a new draft are computed."""
    threshold = world.settings.options.dedup_candidate
    rows = sorted(nodes.places)
    at = {node: row for row, node in enumerate(rows)}
    known = [d for d in before.formed.decisions.values() if d.cosine >= threshold]
    still = [d for d in known if d.a in at and d.b in at]
    pairs = pairs_of([at[d.a] for d in still], [at[d.b] for d in still], [d.cosine for d in still])
    searched = [at[node] for node in sorted(nodes.new | _starved(known, at))]
    if searched:
        vectors = _vectors(rows, nodes, world.embedder)
        whole = 2 * len(searched) > len(rows)
        found = all_pairs(vectors, threshold) if whole else pairs_touching(searched, vectors, threshold)
        pairs = bounded(joined(pairs, found))
    lines = zip(pairs.left.tolist(), pairs.right.tolist(), pairs.cosine.tolist(), strict=True)
    return {(rows[a], rows[b]): cosine for a, b, cosine in lines}


def _starved(known: Sequence[DedupDecision], held: Mapping[str, int]) -> set[str]:
    """Drafts that lost a neighbour and had as many as are kept: another, unrecorded so far, may take its place."""
    degree = Counter(node for d in known for node in (d.a, d.b))
    lost = {node for d in known for node in (d.a, d.b) if d.a not in held or d.b not in held}
    return {node for node in lost if node in held and degree[node] >= NEAREST}


def _vectors(rows: Sequence[str], nodes: _Nodes, embedder: Embedder) -> Vectors:
    """The vector of each draft's canonical statement; what the cache lost is read and embedded again."""
    vectors, found = embedder.recall([bytes.fromhex(nodes.places[node][0].text_key) for node in rows])
    missing = [row for row in range(len(rows)) if not found[row]]
    for start in range(0, len(missing), _SLICE):
        part = missing[start : start + _SLICE]
        nodes.load(rows[row] for row in part if rows[row] not in nodes.texts)
        vectors[part] = embedder.embed([nodes.text(rows[row]) for row in part])
    return vectors


def _decided(candidates: Mapping[Key, float], nodes: _Nodes, before: _Before, world: World) -> dict[Key, DedupDecision]:
    """A decision on every candidate pair: a person's, the last where neither side changed, the rules', the judge's."""
    decided = {
        key: line.model_copy(update={"cosine": candidates.get(key, 0.0)})
        for key, line in people.pairs(before.by_people, nodes.places.keys()).items()
    }
    for key in (candidates.keys() & before.formed.decisions.keys()) - decided.keys():
        if nodes.changed.isdisjoint(key) and before.formed.decisions[key].by != "human":
            decided[key] = before.formed.decisions[key]
    todo = sorted(candidates.keys() - decided.keys())
    nodes.load(node for key in todo for node in key)
    pairs = [nodes.candidate(key, candidates[key]) for key in todo]
    questions: dict[Key, Pair] = {}
    for key, pair, found in zip(todo, pairs, world.pool.map(weighing.weighed, pairs, _PART), strict=True):
        if isinstance(found, Exception):
            raise found
        if found.verdict is None:
            questions[key] = weighing.question(pair, found)
        else:
            decided[key] = weighing.line(key, pair.cosine, found, nodes.heard(key, found.verdict))
    if questions:
        answers = world.engine.judge(list(questions.values()))
        for (key, asked), verdict in zip(questions.items(), answers, strict=True):
            newer = order.evidence(asked.a, asked.b, *nodes.lineages(*key)) if verdict.decision == "supersede" else None
            verdict = nodes.heard(key, decisions.adopted(verdict, newer))
            decided[key] = weighing.line(key, asked.cosine, asked, verdict, world.engine.name)
    return decided


def _conflicts(
    lines: Sequence[DedupDecision], made: Sequence[Cluster], nodes: _Nodes, previous: Previous
) -> tuple[Conflict, ...]:
    """What active items disagree about; those that no change touched are as they were."""
    live = (c for c in made if not c.superseded_by and not c.aside)
    home = {o.draft: cluster.id for cluster in live for o in cluster.occurrences}
    known = {(c.a, c.b): c for c in cast(tuple[Conflict, ...], previous.records("conflicts"))}
    found = []
    for pair, line in sorted(conflicts.between(lines, home).items()):
        drafts = (line.a, line.b) if home[line.a] == pair[0] else (line.b, line.a)
        old = known.get(pair)
        if old and (old.drafts, old.why) == (drafts, line.reason) and nodes.changed.isdisjoint(drafts):
            found.append(old)
            continue
        quotes = (nodes.quote(drafts[0]), nodes.quote(drafts[1]))
        kind = conflicts.kind(line) or "other"
        found.append(Conflict(a=pair[0], b=pair[1], kind=kind, why=line.reason, drafts=drafts, quotes=quotes))
    return tuple(found)


def _story(decided: Mapping[Key, DedupDecision], told: Mapping[Key, str], nodes: _Nodes) -> Iterator[str]:
    """What was decided anew, in words, with both statements."""
    news = [key for key in sorted(decided) if told.get(key) != decided[key].reason]
    nodes.load(node for key in news for node in key)
    for key in news:
        line, (a, b) = decided[key], (nodes.side(node).statement for node in key)
        review = " To be reviewed." if line.needs_review else ""
        yield f"{line.decision} by {line.by} ({line.cosine:.3f}): {line.reason}{review}\n  - {a}\n  - {b}"


def _details(nodes: _Nodes, lines: Sequence[DedupDecision], made: Sequence[Cluster]) -> dict[str, int]:
    """Counts for people."""
    decided = Counter(line.decision for line in lines)
    return {
        "drafts": sum(len(occurrences) for occurrences in nodes.places.values()),
        "distinct": len(nodes.places),
        "pairs": len(lines),
        "judged": sum(line.by == "judge" for line in lines),
        "merged": decided["merge"],
        "kept": decided["keep_both"],
        "superseded": decided["supersede"],
        "review": sum(line.needs_review for line in lines),
        "clusters": len(made),
    }
