"""The read side's search: a query to ranked rows or documents of one generation. Knows no backend and no file.

Three lists are asked for twice, of *units* (items, pages, bursts) and of *passages* (the chunks they stand in): by
words, by meaning, and by what was pasted (codes, flags, names). A passage passes its score on to the units that stand
in it, and is a hit of its own only where none of them was found.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kb_pipeline.errors import KbError
from kb_pipeline.records import Hit, Row, Scope, SearchResult
from kb_pipeline.rules import fusion
from kb_pipeline.rules.analyser import exact_forms, fold, query_tokens
from kb_pipeline.rules.fusion import Ranked
from kb_pipeline.world import Snapshot, World

PASSAGE = "chunk"
UNITS = ("item", "page", "burst")

RARE_IDF = 4.0
"""A pasted token of this inverse document frequency or more is rare."""
RARE_SHARE = 0.6
"""In a small index, where none reaches 4.0: rare is this share of the frequency of a token that no row holds."""

_OF_PASSAGES = ("passage words", "passage meaning", "passage exact")
_ABSENT = "\0"
_VERBATIM_TOKENS = 3
_FETCHED, _SPARE = 2, 10


@dataclass(frozen=True)
class Ranking:
    """How lists become one ranking: ``weights`` by list and ``method``, a name of ``fusion.METHODS``.

    Lists of units are ``depth`` long, those of passages ``passage_depth``. Of one document ``per_document`` hits come
    before those of others, the rest after them.
    """

    weights: Mapping[str, float]
    method: str = "convex"
    depth: int = 100
    passage_depth: int = 100
    per_document: int = 5


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


def search(
    query: str,
    world: World,
    *,
    scope: Scope = _EVERYWHERE,
    k: int = 10,
    generation: str | None = None,
    ranking: Ranking = HITS,
) -> SearchResult:
    """The ``k`` best rows for ``query`` within ``scope``, of the live generation unless one is named.

    Raises ``KbError`` (code ``usage``) for an empty query or ``k`` below 1, ``NotFound`` where there is no generation.
    """
    _check(query, k)
    ranking = _deep(ranking, k)
    with world.index.snapshot(generation) as snapshot:
        started = time.perf_counter()
        lists = _lists(query, world, snapshot, scope, ranking)
        found = _fused(lists, _units_of(lists, snapshot, scope), ranking)
        hits = _hits(query, found, fusion.ranks(lists), snapshot, k, ranking)
        return SearchResult(query=query, generation=snapshot.generation, ms=_since(started), hits=hits)


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
    _check(query, k)
    ranking = _deep(ranking, k)
    with world.index.snapshot(generation) as snapshot:
        lists = _lists(query, world, snapshot, scope, ranking)
        cited = snapshot.documents(list({row for ranked in lists.values() for row, _ in ranked}))
        found = _fused(lists, cited.__getitem__, ranking)
        return sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))[:k]


def _check(query: str, k: int) -> None:
    if not query.strip():
        raise KbError("the query is empty.", where="search", cure="Ask with at least one word.", code="usage")
    if k < 1:
        raise KbError(f"{k} hits cannot be shown.", where="search", cure="Ask for one or more.", code="usage")


def _deep(ranking: Ranking, k: int) -> Ranking:
    """``ranking`` with lists of at least ``k``."""
    return replace(ranking, depth=max(ranking.depth, k), passage_depth=max(ranking.passage_depth, k))


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)


def _lists(query: str, world: World, snapshot: Snapshot, scope: Scope, ranking: Ranking) -> dict[str, Ranked]:
    """The six lists. Passages bear no category: they are read wherever the scope's documents are."""
    tokens, vector, pasted = query_tokens(query), world.embedder.embed([query])[0], _pasted(query, snapshot)
    kinds = tuple(kind for kind in scope.kinds or UNITS if kind != PASSAGE)
    wanted = [("", scope.model_copy(update={"kinds": kinds}), ranking.depth)] if kinds else []
    passages = scope.model_copy(update={"kinds": (PASSAGE,), "categories": ()})
    lists: dict[str, Ranked] = {}
    for prefix, within, depth in (*wanted, ("passage ", passages, ranking.passage_depth)):
        lists[f"{prefix}words"] = snapshot.lexical(tokens, depth, within)
        lists[f"{prefix}meaning"] = snapshot.vector(vector, depth, within)
        lists[f"{prefix}exact"] = snapshot.covering(pasted, depth, within) if pasted else []
    return lists


def _pasted(query: str, snapshot: Snapshot) -> dict[str, float]:
    """The rare tokens among what was pasted, to their rarity; each piece in its most specific form that exists."""
    pasted = exact_forms(query)
    if not pasted:
        return {}
    idf = snapshot.idf([_ABSENT, *{form for forms in pasted for form in forms}])
    rare = min(RARE_IDF, RARE_SHARE * idf[_ABSENT])
    specific = (next((form for form in forms if idf[form] < idf[_ABSENT]), None) for forms in pasted)
    return {form: idf[form] for form in specific if form and not form.isalpha() and idf[form] >= rare}


def _fused(lists: Mapping[str, Ranked], targets: Callable[[str], Iterable[str]], ranking: Ranking) -> dict[str, float]:
    scores = fusion.METHODS[ranking.method]
    projected = {
        name: fusion.project(scores(ranked, ranking.passage_depth if name in _OF_PASSAGES else ranking.depth), targets)
        for name, ranked in lists.items()
        if ranking.weights[name]
    }
    return fusion.fuse(projected, ranking.weights)


def _units_of(lists: Mapping[str, Ranked], snapshot: Snapshot, scope: Scope) -> Callable[[str], Sequence[str]]:
    """Maps a row to the rows that it speaks for: a unit to itself, a passage to the units found within it."""
    units = {row for name, ranked in lists.items() if name not in _OF_PASSAGES for row, _ in ranked}
    within: dict[str, list[str]] = {}
    for unit, passage in snapshot.passages(sorted(units)).items():
        within.setdefault(passage, []).append(unit)
    alone = not scope.categories and (not scope.kinds or PASSAGE in scope.kinds)

    def targets(row: str) -> Sequence[str]:
        return (row,) if row in units else within.get(row) or ((row,) if alone else ())

    return targets


def _hits(
    query: str,
    found: Mapping[str, float],
    ranks: Mapping[str, Mapping[str, int]],
    snapshot: Snapshot,
    k: int,
    ranking: Ranking,
) -> tuple[Hit, ...]:
    """The best rows as hits. Those that hold a pasted sentence to the letter come first; newer wins a tie."""
    best = sorted(found, key=lambda row: (-found[row], row))
    rows = snapshot.rows(best[: _FETCHED * k + _SPARE])
    holds = _verbatim(query)
    rows.sort(key=lambda row: row.id)
    rows.sort(key=lambda row: row.effective_date or row.updated_at, reverse=True)
    rows.sort(key=lambda row: (not holds(row), -round(found[row.id], 9)))
    chosen = _spread(rows, ranking.per_document)[:k]
    return tuple(_hit(row, found[row.id], ranks.get(row.id, {})) for row in chosen)


def _verbatim(query: str) -> Callable[[Row], bool]:
    """Whether a row holds the query as it stands; asked only of what is long or odd enough to have been pasted."""
    if len(query_tokens(query)) < _VERBATIM_TOKENS and not exact_forms(query):
        return lambda row: False
    words = r"\s+".join(re.escape(word) for word in fold(query).casefold().split())
    pattern = re.compile(rf"(?<!\w){words}(?!\w)")
    return lambda row: pattern.search(fold(row.text).casefold()) is not None


def _spread(rows: Iterable[Row], per_document: int) -> list[Row]:
    """Rows in order without copies of one text under one heading; what is beyond ``per_document`` comes last."""
    seen: set[tuple[str, str]] = set()
    taken: Counter[str] = Counter()
    first: list[Row] = []
    rest: list[Row] = []
    for row in rows:
        copy = (row.text, row.heading)
        if copy not in seen:
            seen.add(copy)
            taken[row.doc_id] += 1
            (first if taken[row.doc_id] <= per_document else rest).append(row)
    return first + rest


def _hit(row: Row, score: float, ranks: Mapping[str, int]) -> Hit:
    shared = {name: getattr(row, name) for name in _SHARED}
    return Hit(**shared, score=round(score, 6), lists=dict(ranks))


_SHARED = tuple(name for name in Hit.model_fields if name in Row.model_fields)
