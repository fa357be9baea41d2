"""What one request sees: a generation with the masked documents hidden. Owns scope and mask; ranks by other rooms."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kb_pipeline.errors import StoreError
from kb_pipeline.records import Card, Row, Scope
from kb_pipeline.rules.columns import FIELDS, keys, to_rows, to_table
from kb_pipeline.store.index import reading, scan, sql
from kb_pipeline.store.index.opened import Generation
from kb_pipeline.store.index.scan import Flags, Positions
from kb_pipeline.world import Vectors

_SCOPES = 32
"""Scopes remembered: a person's or an agent's few, not every document ever asked for."""

_EVERYTHING, _MOST = Scope(), 0.75
"""A scope is sifted rather than asked for where this share of what is searched passes it."""

_DAY = len("2026-11-30")

_OF_A_DOCUMENT = {"uri": "", "title": "", "heading": "", "quote": "", "license": "", "source_type": "", "start": 0}
_OF_A_DOCUMENT |= {"end": 0, "previous": "", "next": ""}
"""Fields that tell of the row's first document, blank once that is masked."""


def _best_first(hit: tuple[str, float]) -> tuple[float, str]:
    return -hit[1], hit[0]


_WRITTEN = ("page", "burst")


class LocalSnapshot:
    """One generation under one mask; serves any number of requests at once and keeps what they share."""

    def __init__(self, generation: Generation, masked: frozenset[str], embedder: str) -> None:
        self.generation = generation.name
        self._all, self._masked, self._embedder = generation, masked, embedder
        self._scopes: dict[Scope, Flags] = {}
        self._cards: dict[Scope, list[Card]] = {}
        self._scanned: tuple[bytes, Vectors] = b"", np.empty(0, np.float32)

    def lexical(self, tokens: Mapping[str, float], k: int, scope: Scope) -> list[tuple[str, float]]:
        """The ``k`` best rows by BM25 over analysed tokens (token to weight): ``(row id, score)``, best first."""
        return self._worded(tokens, k, scope, covering=False)

    def covering(self, tokens: Mapping[str, float], k: int, scope: Scope) -> list[tuple[str, float]]:
        """The ``k`` rows that hold most of the tokens: ``(row id, sum of the weights held)``, best first."""
        return self._worded(tokens, k, scope, covering=True)

    def nearest(self, queries: Vectors, k: int, scope: Scope) -> list[list[tuple[str, float]]]:
        """Of each of ``queries``, unit vectors ``(n, dim)``, the ``k`` nearest rows: ``(row id, cosine)``, best first.

        Raises ``StoreError`` where another embedder made the generation's vectors.
        """
        manifest = self._all.manifest
        if (manifest.embedder, manifest.dim) != (self._embedder, queries.shape[1]):
            raise StoreError(
                f"generation {self.generation} has vectors of {manifest.embedder}, not of {self._embedder}.",
                where=str(self._all.folder),
                cure="Run `kb build`, or set the embedder back.",
            )
        allowed, blocks = np.flatnonzero(self._allowed(scope)), self._all.blocks
        liked = zip(queries, self._likeness(queries), strict=True)
        return [self._named(*scan.nearest(query, like, blocks, allowed, k)) for query, like in liked]

    def idf(self, tokens: Sequence[str]) -> dict[str, float]:
        """Inverse document frequency, ``ln(1 + (N - n + 0.5) / (n + 0.5))``, of each token (Robertson, as BM25's)."""
        lexicons = self._all.lexicons.values()
        total = sum(map(len, lexicons))
        found = {token: min(total, sum(lexicon.frequency(token) for lexicon in lexicons)) for token in tokens}
        return {token: float(np.log1p((total - n + 0.5) / (n + 0.5))) for token, n in found.items()}

    def rows(self, ids: Sequence[str]) -> list[Row]:
        """Live rows by id, in the order asked; unknown ids are left out."""
        return [self._shown(row) for row in to_rows(self._all.take(self._seen(ids)))]

    def cards(self, scope: Scope) -> list[Card]:
        """What can be read whole: every document, and every page, that ``scope`` lets see; sorted by ref."""
        known = self._cards.get(scope)
        if known is None:
            if len(self._cards) >= _SCOPES:
                self._cards.clear()
            known = self._cards[scope] = reading.cards(self._all, self._allowed(scope))
        return known

    def read(self, ref: str) -> list[Row]:
        """The passages of one document in order, or the one row of a page; empty where it may not be seen."""
        positions = reading.parts(self._all, self._visible, ref)
        return [self._shown(row) for row in to_rows(self._all.take(positions))]

    def everything(self) -> list[Row]:
        """Every live row."""
        return to_rows(self._table)

    def passages(self, ids: Sequence[str]) -> dict[str, str]:
        """The chunk row in which each row begins, in its first document; ids that stand in none are left out."""
        units = self._seen(ids)
        chunks = self._all.passages[units]
        standing = (chunks >= 0) & self._visible[chunks]
        return dict(zip(self._all.ids(units[standing]), self._all.ids(chunks[standing]), strict=True))

    def documents(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The documents that live rows cite; unknown ids are left out."""
        seen, cited = self._seen(ids), self._all.cited
        docs = (tuple(doc for doc in cited.of(position) if doc not in self._masked) for position in seen.tolist())
        return dict(zip(self._all.ids(seen), docs, strict=True))

    def named(self) -> frozenset[str]:
        """Every document, masked ones apart, that a row of the generation names, be it one that nobody may see."""
        first, *several = (self._all.column(name) for name in ("doc_id", "docs", "origins"))
        flat = [first.filter(alive := pa.array(self._all.live)), *(pc.list_flatten(c.filter(alive)) for c in several)]
        return frozenset(name for column in flat for name in pc.unique(column).to_pylist()) - self._masked - {""}

    def count(self) -> dict[str, int]:
        """Live rows by kind."""
        counted = pc.value_counts(self._all.column("kind").filter(pa.array(self._visible))).to_pylist()
        return dict(sorted((entry["values"], entry["counts"]) for entry in counted))

    def sql(self, query: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Column names and rows of a read-only query over the table ``rows`` (live rows only)."""
        return sql.run(query, self._table)

    def _worded(self, tokens: Mapping[str, float], k: int, scope: Scope, *, covering: bool) -> list[tuple[str, float]]:
        hits = [
            hit
            for family, kinds in self._all.families.items()
            if not scope.kinds or not kinds.isdisjoint(scope.kinds)
            for hit in self._ranked(family, tokens, k, scope, covering=covering)
        ]
        return sorted(hits, key=_best_first)[:k]

    def _ranked(
        self, family: str, tokens: Mapping[str, float], k: int, scope: Scope, *, covering: bool
    ) -> list[tuple[str, float]]:
        """Masked rows are still in the lexicon: more is asked of it until ``k`` of its rows may be seen. So are those
        that a scope leaves out which most rows pass: as a filter it makes ranking three times slower."""
        allowed, limit, lexicon = self._allowed(scope), max(k, 1), self._all.lexicons[family]
        if self._all.families[family].issubset(scope.kinds):
            scope = scope.model_copy(update={"kinds": ()})
        if scope != _EVERYTHING and self._passes_most(allowed, family):
            scope, limit = _EVERYTHING, 2 * limit
        while True:
            keys, scores = lexicon.ranked(tokens, scope, limit, covering=covering)
            positions = self._all.positions(keys)
            seen = (positions >= 0) & allowed[positions] if len(positions) else np.zeros(0, np.bool_)
            if np.count_nonzero(seen) >= k or len(keys) < limit:
                return self._named(positions[seen][:k], scores[seen][:k])
            limit *= 4

    def _passes_most(self, allowed: Flags, family: str) -> bool:
        """Whether most rows of a family are ``allowed``."""
        within = self._allowed(Scope(kinds=tuple(sorted(self._all.families[family]))))
        return bool(np.count_nonzero(allowed & within) > _MOST * np.count_nonzero(within))

    def _named(self, positions: Positions, scores: Vectors) -> list[tuple[str, float]]:
        """Ids and scores; ids order equal scores, so that no ranking depends on how segments lie."""
        ids = self._all.ids(positions)
        return sorted(zip(ids, scores.tolist(), strict=True), key=_best_first)

    def _likeness(self, queries: Vectors) -> Vectors:
        """That to the last queries is kept: one search asks for several scopes."""
        name, like = self._scanned
        if name != queries.tobytes():
            like = scan.likeness(queries, self._all.blocks, len(self._all.live))
            self._scanned = queries.tobytes(), like
        return like

    @cached_property
    def _visible(self) -> Flags:
        """A row must have an origin that is not masked; what is written from several documents, all of them."""
        if not self._masked:
            return self._all.live
        hidden = self._all.originated.only(self._masked) | (self._written & self._all.cited.touching(self._masked))
        return self._all.live & ~hidden

    @cached_property
    def _written(self) -> Flags:
        """Rows whose text is nobody's own words: written from all that they cite."""
        return self._having("kind", _WRITTEN)

    def _allowed(self, scope: Scope) -> Flags:
        """Which positions a request may see. Remembered a scope, for a few scopes."""
        allowed = self._scopes.get(scope)
        if allowed is None:
            allowed = self._visible.copy()
            if scope.kinds:
                allowed &= self._having("kind", scope.kinds)
            if scope.categories:
                allowed &= self._having("category", scope.categories)
            if scope.sources:
                docs = self._all.cited.documents
                allowed &= self._citing(doc for doc in docs if doc.partition("/")[0] in scope.sources)
            if scope.docs:
                allowed &= self._citing(scope.docs)
            if scope.statuses:
                allowed &= self._having("status", scope.statuses)
            if scope.tags:
                allowed &= self._tagged(scope.tags)
            if scope.since or scope.until:
                allowed &= self._dated(scope.since, scope.until)
            if len(self._scopes) >= _SCOPES:
                self._scopes.clear()
            self._scopes[scope] = allowed
        return allowed

    def _having(self, column: str, values: Sequence[str]) -> Flags:
        flags = pc.is_in(self._all.column(column), pa.array(values, pa.string()))
        return np.asarray(flags.to_numpy(), dtype=np.bool_)

    def _tagged(self, tags: Sequence[str]) -> Flags:
        """The rows that bear at least one of the tags."""
        wanted = frozenset(tags)
        several = self._all.column("tags").to_pylist()
        return np.fromiter((not wanted.isdisjoint(of_one) for of_one in several), np.bool_, len(several))

    def _dated(self, since: str, until: str) -> Flags:
        """The rows from between two days, both included; a row without a date is from no day."""
        stated, changed = (self._all.column(name) for name in ("effective_date", "updated_at"))
        day = pc.utf8_slice_codeunits(pc.if_else(pc.equal(stated, ""), changed, stated), 0, _DAY)
        within = pc.and_(pc.greater_equal(day, since or "0"), pc.less_equal(day, until or "9"))
        return np.asarray(within.to_numpy(), dtype=np.bool_)

    def _citing(self, docs: Iterable[str]) -> Flags:
        return self._all.cited.touching(frozenset(docs) - self._masked)

    def _seen(self, ids: Sequence[str]) -> Positions:
        positions = self._all.positions(keys(ids))
        positions = positions[positions >= 0]
        return positions[self._visible[positions]]

    def _shown(self, row: Row) -> Row:
        """A row as it stands without the masked documents."""
        if not self._masked or self._masked.isdisjoint((row.doc_id, *row.docs, *row.origins)):
            return row
        docs = tuple(doc for doc in row.docs if doc not in self._masked)
        origins = tuple(doc for doc in row.origins if doc not in self._masked)
        changes: dict[str, Any] = {"docs": docs, "origins": origins}
        if row.doc_id in self._masked:
            other = next(iter((*origins, *docs)), "")
            changes |= {**_OF_A_DOCUMENT, "doc_id": other, "source_id": other.partition("/")[0]}
        return row.model_copy(update=changes)

    @cached_property
    def _table(self) -> pa.Table:
        """What SQL sees: the columns of ``Row`` over the live rows."""
        touched = self._visible & (self._all.cited.touching(self._masked) | self._all.originated.touching(self._masked))
        plain = self._all.take(np.flatnonzero(self._visible & ~touched))
        shown = [self._shown(row) for row in to_rows(self._all.take(np.flatnonzero(touched)))]
        return pa.concat_tables([plain, to_table(shown)]).select(FIELDS)
