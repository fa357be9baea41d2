"""The lists that a search fuses: what is asked of one generation by words, by meaning and by what was pasted.

Three lists are asked for twice, of *units* (items, pages, bursts) and of *passages* (the chunks they stand in). A
passage passes its score on to the units that stand in it, and is a hit of its own only where none of them was found.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kb_pipeline.records import Scope
from kb_pipeline.rules import fusion
from kb_pipeline.rules.analyser import exact_forms, query_tokens
from kb_pipeline.rules.fusion import Ranked, Scores
from kb_pipeline.world import Snapshot, World

PASSAGE = "chunk"
UNITS = ("item", "burst")
"""What is looked for where no kind is asked for. A page says again what its items say, so it comes only on demand."""

RARE_IDF = 4.0
"""A pasted token of this inverse document frequency or more is rare."""
RARE_SHARE = 0.6
"""In a small index, where none reaches 4.0: rare is this share of the frequency of a token that no row holds."""

_OF_PASSAGES = ("passage words", "passage meaning", "passage exact")
_ABSENT = "\0"

Targets = Callable[[str], Iterable[str]]


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

    def deep(self, k: int) -> "Ranking":
        """The same with lists of at least ``k``."""
        return replace(self, depth=max(self.depth, k), passage_depth=max(self.passage_depth, k))


def gather(
    queries: Sequence[str], world: World, snapshot: Snapshot, scope: Scope, ranking: Ranking
) -> list[dict[str, Ranked]]:
    """Of each query the six lists. Passages bear neither category nor tag: they are read wherever the scope's documents
    are."""
    vectors = world.embedder.embed(queries)
    asked = [(query_tokens(query), pasted(query, snapshot)) for query in queries]
    kinds = tuple(kind for kind in scope.kinds or UNITS if kind != PASSAGE)
    wanted = [("", scope.model_copy(update={"kinds": kinds}), ranking.depth)] if kinds else []
    passages = scope.model_copy(update={"kinds": (PASSAGE,), "categories": (), "tags": (), "statuses": ()})
    gathered: list[dict[str, Ranked]] = [{} for _ in queries]
    for prefix, within, depth in (*wanted, ("passage ", passages, ranking.passage_depth)):
        meant = snapshot.nearest(vectors, depth, within)
        for lists, (tokens, codes), near in zip(gathered, asked, meant, strict=True):
            lists[f"{prefix}words"] = snapshot.lexical(tokens, depth, within)
            lists[f"{prefix}meaning"] = near
            lists[f"{prefix}exact"] = snapshot.covering(codes, depth, within) if codes else []
    return gathered


def pasted(query: str, snapshot: Snapshot) -> dict[str, float]:
    """The rare tokens among what was pasted, to their rarity; each piece in its most specific form that exists."""
    pieces = exact_forms(query)
    if not pieces:
        return {}
    idf = snapshot.idf([_ABSENT, *{form for forms in pieces for form in forms}])
    rare = min(RARE_IDF, RARE_SHARE * idf[_ABSENT])
    specific = (next((form for form in forms if idf[form] < idf[_ABSENT]), None) for forms in pieces)
    return {form: idf[form] for form in specific if form and not form.isalpha() and idf[form] >= rare}


def projected(lists: Mapping[str, Ranked], targets: Targets, ranking: Ranking) -> dict[str, Scores]:
    """What each list that counts gives to each target, before its weight."""
    scores = fusion.METHODS[ranking.method]
    return {
        name: fusion.project(scores(ranked, ranking.passage_depth if name in _OF_PASSAGES else ranking.depth), targets)
        for name, ranked in lists.items()
        if ranking.weights[name]
    }


def units(lists: Mapping[str, Ranked]) -> set[str]:
    """The units that were found."""
    return {row for name, ranked in lists.items() if name not in _OF_PASSAGES for row, _ in ranked}


def spoken_for(found: Collection[str], homes: Mapping[str, str], scope: Scope) -> Callable[[str], Sequence[str]]:
    """Maps a row to the units ``found`` that it speaks for: a unit to itself, a passage to those that stand in it, of
    which ``homes`` tells."""
    within: dict[str, list[str]] = {}
    for unit in found:
        if unit in homes:
            within.setdefault(homes[unit], []).append(unit)
    told = scope.categories or scope.tags or scope.statuses
    alone = not told and (not scope.kinds or PASSAGE in scope.kinds)

    def targets(row: str) -> Sequence[str]:
        return (row,) if row in found else within.get(row) or ((row,) if alone else ())

    return targets
