"""From fused scores to hits in order: copies merged, a cap a document, ties broken, the first twenty read again.

Owns every reason for which a hit stands elsewhere than its fused score would have it, and tells it when asked.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import cast

from kb_pipeline.query.lists import PASSAGE, Ranking
from kb_pipeline.records import Explanation, Hit, Row, SourceType
from kb_pipeline.rules import relevance
from kb_pipeline.rules.analyser import analyse, exact_forms, fold, query_tokens
from kb_pipeline.rules.fusion import Scores
from kb_pipeline.world import Snapshot

REREAD = 20
"""How many of the best are scored again; a diverse twenty, since a document's further hits come after them."""
EVEN = 3
"""Decimals of a fused score as a share of the best: what is equal in these is a tie. It goes to what more independent
texts confirm, then to the newer."""

_HALF_LIFE = 365  # days, of a row whose source has no type
_VERBATIM_TOKENS = 3
_FETCHED, _SPARE = 2, 10
_OF_A_WORD = re.compile(r"\w")


@dataclass(frozen=True)
class Query:
    """What is known of one query when its hits are put in order.

    ``tokens`` are what it asks for, to their rarity in this generation, ``pasted`` the codes, flags and names that make
    up most of that; empty where the query is phrased rather than pasted. ``today`` and ``half_lives`` (days, by source
    type) tell how old a row is.
    """

    text: str
    tokens: Mapping[str, float]
    pasted: frozenset[str] = frozenset()
    today: str = ""
    half_lives: Mapping[SourceType, int] = field(default_factory=dict)


@dataclass
class Candidate:
    """A row on its way to a hit. ``place`` is where its fused score puts it, ``moved`` why it is elsewhere.

    ``exact`` is 2 where it holds the whole query to the letter, 1 where it holds what of it was pasted.
    """

    row: Row
    fused: float
    place: int
    exact: int
    decay: float
    relevance: float = 0.0
    scores: dict[str, float] = field(default_factory=dict)
    copies: int = 0
    moved: list[str] = field(default_factory=list)


def best(found: Mapping[str, float], k: int, wanted: int) -> dict[str, float]:
    """The rows that ``k`` hits, ``wanted`` of them read again, are chosen from: by fused score, best first."""
    most = max(_FETCHED * k, wanted) + _SPARE
    return {row: found[row] for row in sorted(found, key=lambda row: (-found[row], row))[:most]}


def candidates(found: Mapping[str, float], rows: Mapping[str, Row], query: Query) -> list[Candidate]:
    """Those of ``found``, best first, that are among ``rows``, in order; what holds the query, or what was pasted,
    comes first: no likeness outranks it."""
    exact = _exact(query)
    made = [
        Candidate(row, found[name], place, exact(row), _decay(row, query))
        for place, name in enumerate(found, start=1)
        if (row := rows.get(name))
    ]
    made.sort(key=lambda c: c.row.id)
    made.sort(key=lambda c: c.row.effective_date or c.row.updated_at, reverse=True)
    top = max((c.fused for c in made), default=0.0) or 1.0
    made.sort(key=lambda c: (-c.exact, -round(c.fused / top, EVEN), -c.row.confirmations, -c.decay))
    return made


def merged(made: Sequence[Candidate]) -> list[Candidate]:
    """Candidates in order, each text under one heading once."""
    seen: dict[tuple[str, str], Candidate] = {}
    for candidate in made:
        first = seen.setdefault((candidate.row.text, candidate.row.heading), candidate)
        first.copies += first is not candidate
    return list(seen.values())


def capped(made: Sequence[Candidate], per_document: int) -> list[Candidate]:
    """Candidates in order; those beyond ``per_document`` of one document come last."""
    taken: Counter[str] = Counter()
    first: list[Candidate] = []
    rest: list[Candidate] = []
    for candidate in made:
        taken[candidate.row.doc_id] += 1
        (first if taken[candidate.row.doc_id] <= per_document else rest).append(candidate)
    for candidate in rest:
        candidate.moved.append(f"behind others: {per_document} of its document stand before it")
    return first + rest


def measure(made: Sequence[Candidate], query: Query, cosines: Mapping[str, float]) -> None:
    """Give each candidate its cosine, coverage and heuristic relevance."""
    for candidate in made:
        row = candidate.row
        held = _tokens(row.heading, row.title, row.doc_id) | _tokens(row.text)
        share = relevance.covered(query.tokens, held)
        cosine = cosines.get(row.id, None if row.kind == PASSAGE else 0.0)
        candidate.scores = {"coverage": round(share, 4)} | ({} if cosine is None else {"cosine": round(cosine, 4)})
        candidate.relevance = relevance.logistic(relevance.strength(cosine, share))


def heuristic(made: Sequence[Candidate]) -> list[float]:
    """Scores from 0 to 10 by rule, of candidates that were measured."""
    top = max((c.fused for c in made), default=0.0) or 1.0
    return [relevance.rerank(c.scores.get("cosine"), c.scores["coverage"], c.fused / top) for c in made]


def reread(made: Sequence[Candidate], scores: Sequence[float], by: str) -> list[Candidate]:
    """Candidates by ``scores`` from 0 to 10, equal ones as they stood; what was pasted stays first."""
    order = sorted(range(len(made)), key=lambda n: (-made[n].exact, -scores[n]))
    for place, n in enumerate(order):
        if place != n:
            made[n].moved.append(f"from {n + 1} to {place + 1}: {scores[n]:.1f} of 10 by {by}")
    return [made[n] for n in order]


def hit(candidate: Candidate, ranks: Mapping[str, int], explanation: Explanation | None) -> Hit:
    """A candidate as readers see it."""
    row = candidate.row
    shared = {name: getattr(row, name) for name in _SHARED}
    day = (row.effective_date or row.updated_at)[:10]
    scores = candidate.scores | {"relevance": candidate.relevance}
    return Hit(
        **shared,
        score=round(candidate.fused, 6),
        lists=dict(ranks),
        scores=scores,
        date=day,
        explanation=explanation,
    )


def explanation(
    candidate: Candidate, lists: Mapping[str, Scores], ranking: Ranking, rerank: float | None, by: str
) -> Explanation:
    """Why a candidate stands where it stands: ``lists`` is what each list gave before its weight."""
    row = candidate.row.id
    held = {name: scores[row] for name, scores in lists.items() if row in scores}
    reasons = [*candidate.moved]
    if candidate.exact:
        reasons.insert(0, _EXACT[candidate.exact])
    if candidate.copies:
        reasons.append(f"{candidate.copies} more with the same text are not shown")
    return Explanation(
        weights={name: ranking.weights[name] for name in held},
        added={name: round(ranking.weights[name] * score, 4) for name, score in held.items()},
        fused=round(candidate.fused, 6),
        fused_rank=candidate.place,
        rerank=rerank,
        reranked_by=by if rerank is not None else "",
        decay=candidate.decay,
        why="; ".join(dict.fromkeys(reasons)),
    )


def with_neighbours(hits: Sequence[Hit], snapshot: Snapshot) -> tuple[Hit, ...]:
    """The hits with the passages before and after that in which each stands: what chunking took apart."""
    home = snapshot.passages([hit.id for hit in hits if hit.kind != PASSAGE])
    home |= {hit.id: hit.id for hit in hits if hit.kind == PASSAGE}
    chunks = {row.id: row for row in snapshot.rows(sorted(set(home.values())))}
    beside = {name for chunk in chunks.values() for name in (chunk.previous, chunk.next) if name}
    texts = {row.id: row.quote or row.text for row in snapshot.rows(sorted(beside))}
    return tuple(
        hit.model_copy(update={"before": texts.get(chunk.previous, ""), "after": texts.get(chunk.next, "")})
        if (chunk := chunks.get(home.get(hit.id, "")))
        else hit
        for hit in hits
    )


@lru_cache(maxsize=1 << 12)
def _tokens(*parts: str) -> frozenset[str]:
    """The tokens of a text, or of what stands above it, which many rows share; queries of a kind find the same ones."""
    return frozenset(analyse("\n".join(parts)))


def _decay(row: Row, query: Query) -> float:
    half_life = query.half_lives.get(cast(SourceType, row.source_type), _HALF_LIFE)
    return relevance.decay(row.effective_date or row.updated_at, query.today, half_life)


def _exact(query: Query) -> Callable[[Row], int]:
    """How much of the query a row holds to the letter; the whole of it only where it is long or odd enough to have been
    pasted."""
    telling = len(query_tokens(query.text)) >= _VERBATIM_TOKENS or bool(exact_forms(query.text))
    words = fold(query.text).casefold().split() if telling else []

    def exact(row: Row) -> int:
        text = fold(row.text).casefold() if words else ""
        if words and all(word in text for word in words) and _in_a_row(words, text):
            return 2
        return int(bool(query.pasted) and query.pasted <= _tokens(row.text))

    return exact


def _in_a_row(words: Sequence[str], text: str) -> bool:
    """Whether ``text`` has these words one after the other, and neither end of them within a longer one."""
    phrase, told = " ".join(words), f" {' '.join(text.split())} "
    at = told.find(phrase)
    while at >= 0 and _OF_A_WORD.search(told[at - 1] + told[at + len(phrase)]):
        at = told.find(phrase, at + 1)
    return at >= 0


_EXACT = {2: "holds the whole query to the letter", 1: "holds what was pasted"}
_SHARED = tuple(name for name in Hit.model_fields if name in Row.model_fields)
