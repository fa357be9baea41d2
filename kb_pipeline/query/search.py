"""The read side's search: a query to ranked rows or documents of one generation. Knows no backend and no file.

``lists`` gathers what is fused, ``ordering`` puts it in order; here both become an answer.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain

from kb_pipeline.errors import KbError
from kb_pipeline.query import lists, ordering
from kb_pipeline.query.lists import Ranking
from kb_pipeline.query.ordering import Candidate, Query
from kb_pipeline.records import Evidence, Explanation, Hit, Row, Scope, SearchResult
from kb_pipeline.rules import fusion, relevance
from kb_pipeline.rules.analyser import exact_forms
from kb_pipeline.rules.fusion import Ranked, Scores
from kb_pipeline.world import Snapshot, World

__all__ = ["DOCUMENTS", "HITS", "Ranking", "documents", "found_by", "ranked_by_each", "search"]

HITS = Ranking(
    {"words": 0.7, "meaning": 0.7, "exact": 1.0} | {"passage words": 1.0, "passage meaning": 0.25, "passage exact": 0.5}
)
DOCUMENTS = Ranking(
    {"words": 0.0, "meaning": 0.85, "exact": 0.25}
    | {"passage words": 1.0, "passage meaning": 0.5, "passage exact": 0.25},
    depth=200,
)
"""Chosen on questions that nobody judged, never on those reported: ``docs/search.md`` has the figures."""

_EVERYWHERE = Scope()
_TOGETHER = 16  # queries: what is held of each is as large as a column of the index
_MOSTLY = 0.5  # share of what a query asks for that must be codes for it to have been pasted

_Gathered = list[dict[str, Ranked]]


def search(
    query: str,
    world: World,
    *,
    scope: Scope = _EVERYWHERE,
    k: int = 10,
    generation: str | None = None,
    ranking: Ranking = HITS,
    explain: bool = False,
    neighbours: bool = False,
) -> SearchResult:
    """The ``k`` best rows for ``query`` within ``scope``, of the live generation unless one is named.

    ``explain`` gives each hit its explanation, ``neighbours`` the passages beside it. Raises ``KbError`` (code
    ``usage``) for an empty query or ``k`` below 1, ``NotFound`` where there is no generation.
    """
    check(query, k)
    with world.index.snapshot(generation) as snapshot:
        started = time.perf_counter()
        hits = found_by(query, world, snapshot, scope=scope, k=k, ranking=ranking, explain=explain)
        if neighbours:
            hits = ordering.with_neighbours(hits, snapshot)
        return SearchResult(query=query, generation=snapshot.generation, ms=_since(started), hits=hits)


def found_by(
    query: str,
    world: World,
    snapshot: Snapshot,
    *,
    scope: Scope = _EVERYWHERE,
    k: int = 10,
    ranking: Ranking = HITS,
    explain: bool = False,
) -> tuple[Hit, ...]:
    """``search`` within a snapshot that is open already."""
    return _Search(world, snapshot, scope, k, ranking.deep(k), explain).hits(query)


def ranked_by_each(
    queries: Sequence[str], world: World, snapshot: Snapshot, *, scope: Scope = _EVERYWHERE, k: int = 10
) -> Iterator[list[str]]:
    """The ids of what ``found_by`` gives for each query, in less time than one by one."""
    asked = _Search(world, snapshot, scope, k, HITS.deep(k))
    parts = [queries[start : start + _TOGETHER] for start in range(0, len(queries), _TOGETHER)]
    for part, gathered in zip(parts, _one_ahead(asked.gathered, parts), strict=True):
        for found in asked.found(part, gathered):
            yield [candidate.row.id for candidate in found.made]


def _one_ahead(gathered: Callable[[Sequence[str]], _Gathered], parts: Sequence[Sequence[str]]) -> Iterator[_Gathered]:
    """The lists of each part: those of the next one are found, for the most part outside of Python, while the caller
    puts these in order."""
    coming: deque[Future[_Gathered]] = deque()
    with ThreadPoolExecutor(1) as other:
        for part in parts:
            coming.append(other.submit(gathered, part))
            if len(coming) > 1:
                yield coming.popleft().result()
        yield from (last.result() for last in coming)


@dataclass(frozen=True)
class _Search:
    """How queries are put to one generation."""

    world: World
    snapshot: Snapshot
    scope: Scope
    k: int
    ranking: Ranking
    explain: bool = False

    def hits(self, query: str) -> tuple[Hit, ...]:
        """The hits of one query."""
        (found,) = self.found([query], self.gathered([query]))
        ranks = fusion.ranks(found.gathered, [candidate.row.id for candidate in found.made])
        return tuple(ordering.hit(c, ranks[c.row.id], self._told(c, found)) for c in found.made)

    def gathered(self, queries: Sequence[str]) -> _Gathered:
        """The lists of each query."""
        return lists.gather(queries, self.world, self.snapshot, self.scope, self.ranking)

    def found(self, queries: Sequence[str], gathered: Sequence[Mapping[str, Ranked]]) -> list["_Found"]:
        """What each query finds in its lists; what they share is asked of the snapshot once."""
        given = self._given(gathered)
        best = [ordering.best(fusion.fuse(scores, self.ranking.weights), self.k, self._wanted) for scores in given]
        rows = {row.id: row for row in self.snapshot.rows(_all(best))}
        return [self._in_order(*asked, rows) for asked in zip(queries, gathered, given, best, strict=True)]

    def _given(self, gathered: Sequence[Mapping[str, Ranked]]) -> list[dict[str, Scores]]:
        """Of each query what each list gives to each unit."""
        found = [lists.units(ranked) for ranked in gathered]
        homes = self.snapshot.passages(_all(found))
        return [
            lists.projected(ranked, lists.spoken_for(units, homes, self.scope), self.ranking)
            for ranked, units in zip(gathered, found, strict=True)
        ]

    @property
    def _wanted(self) -> int:
        """How many are read again."""
        return self.k if self.world.settings.options.rerank == "off" else max(self.k, ordering.REREAD)

    def _in_order(
        self,
        query: str,
        gathered: Mapping[str, Ranked],
        given: Mapping[str, Scores],
        best: Mapping[str, float],
        rows: Mapping[str, Row],
    ) -> "_Found":
        known = _query(query, self.world, self.snapshot)
        made = ordering.merged(ordering.candidates(best, rows, known))
        made = ordering.capped(made, self.ranking.per_document)[: self._wanted]
        ordering.measure(made, known, {row: score for name in _COSINES for row, score in gathered.get(name, ())})
        made, scores, by = _reread(made, self.world, query)
        made = (ordering.capped(made, self.ranking.per_document) if scores else made)[: self.k]
        return _Found(gathered, given, made, scores, by)

    def _told(self, candidate: Candidate, found: "_Found") -> Explanation | None:
        if not self.explain:
            return None
        return ordering.explanation(candidate, found.given, self.ranking, found.scores.get(candidate.row.id), found.by)


@dataclass(frozen=True)
class _Found:
    """What one query found: the lists, what each gives to a unit, and the best in order, with the ``scores`` of those
    that were read again, ``by`` whom."""

    gathered: Mapping[str, Ranked]
    given: Mapping[str, Scores]
    made: Sequence[Candidate]
    scores: Mapping[str, float]
    by: str


def _all(found: Iterable[Iterable[str]]) -> list[str]:
    """Each id once."""
    return list(dict.fromkeys(chain.from_iterable(found)))


def documents(
    query: str,
    world: World,
    *,
    scope: Scope = _EVERYWHERE,
    k: int = 10,
    generation: str | None = None,
    ranking: Ranking = DOCUMENTS,
) -> list[tuple[str, float]]:
    """The ``k`` best documents for ``query``: ``(doc_id, score)``; each list counts a document's best row.

    Raises as ``search``.
    """
    check(query, k)
    ranking = ranking.deep(k)
    with world.index.snapshot(generation) as snapshot:
        (gathered,) = lists.gather([query], world, snapshot, scope, ranking)
        cited = snapshot.documents(list({row for ranked in gathered.values() for row, _ in ranked}))
        found = fusion.fuse(lists.projected(gathered, cited.__getitem__, ranking), ranking.weights)
        return sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))[:k]


def check(query: str, k: int) -> None:
    """Raise ``KbError`` (code ``usage``) for what cannot be searched for."""
    if not query.strip():
        raise KbError("the query is empty.", where="search", cure="Ask with at least one word.", code="usage")
    if k < 1:
        raise KbError(f"{k} hits cannot be shown.", where="search", cure="Ask for one or more.", code="usage")


def _query(text: str, world: World, snapshot: Snapshot) -> Query:
    asked = relevance.asked(text)
    idf = snapshot.idf(list(asked))
    tokens = {token: weight * idf[token] for token, weight in asked.items()}
    codes = {form for forms in exact_forms(text) for form in forms}
    pasted = lists.pasted(text, snapshot) if codes and relevance.covered(tokens, codes) >= _MOSTLY else ()
    options = world.settings.options
    return Query(text, tokens, frozenset(pasted), world.clock.now().date().isoformat(), options.half_lives)


def _reread(made: list[Candidate], world: World, query: str) -> tuple[list[Candidate], dict[str, float], str]:
    """Candidates in the order that ``rerank`` of the settings gives them, their scores by row, and who gave these."""
    way = world.settings.options.rerank
    if way == "off":
        return made, {}, ""
    if way == "heuristic":
        scores, by = ordering.heuristic(made), relevance.NAME
    else:
        given = world.engine.rerank(query, [_evidence(candidate) for candidate in made])
        scores, by = list(given), world.engine.name
    if len(scores) != len(made):
        return made, {}, ""
    named = {candidate.row.id: score for candidate, score in zip(made, scores, strict=True)}
    return ordering.reread(made, scores, by), named, by


def _evidence(candidate: Candidate) -> Evidence:
    row = candidate.row
    kind = "chunk" if row.kind == "burst" else row.kind
    scores = candidate.scores | {"relevance": candidate.relevance}
    return Evidence(
        id=row.id, kind=kind, ref=row.id, text=row.text, heading=row.heading, title=row.title, scores=scores
    )


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)


_COSINES = ("meaning", "passage meaning")
