"""Words: tantivy indexes over our analyser's tokens. Knows keys of rows and terms of a scope, no generation.

Units and passages are apart, since BM25 judges a row's length by the average of its index: among sentences every
passage is long, and its words would hardly count (nDCG@10 of passages on SciFact .64 together, .70 apart).
"""

import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import tantivy

from kb_pipeline.records import Scope
from kb_pipeline.rules.analyser import spelled
from kb_pipeline.rules.columns import Keys
from kb_pipeline.store.index import generations
from kb_pipeline.world import Pool, Vectors

_META, _MANAGED, _LOCK = "meta.json", ".managed.json", ".tantivy-writer.lock"
_HEAP = 15_000_000, 200_000_000
"""Bytes of a writer's heap for an update and for a build; a larger heap writes fewer, larger segments."""
_MANY = 5_000
_AT_ONCE = 4_096  # rows taken out of Arrow
_PART = 2_048  # rows whose words a worker finds at a time: few, so that all can be under way
_TEXTS = ("text", "heading", "title")
_NAMES = ("key", "kind", "category", "doc_id", "docs")

_Clause = tuple[tantivy.Occur, tantivy.Query]


UNITS, PASSAGES = "units", "passages"
PASSAGE = "chunk"


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field("scope", tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("key", indexed=True, fast=True)
    return builder.build()


SCHEMA = _schema()


def families(table: pa.Table) -> dict[str, pa.Table]:
    """The rows of a table, as far as they are read here, by the index that holds their words."""
    table = table.select([*_NAMES, *_TEXTS])
    passage = pc.equal(table.column("kind"), PASSAGE)
    return {UNITS: table.filter(pc.invert(passage)), PASSAGES: table.filter(passage)}


@dataclass(frozen=True, eq=False)
class Worded:
    """Rows on their way into an index: their names and, a row, their words, which may be found elsewhere meanwhile."""

    names: pa.Table
    words: Iterator[str | Exception]


def worded(table: pa.Table, pool: Pool) -> dict[str, Worded]:
    """The rows of a table with their words, by the index that will hold these."""
    return {
        family: Worded(rows.select(_NAMES), pool.map(_words, list(_rows(rows.select(_TEXTS))), part=_PART))
        for family, rows in families(table).items()
    }


def write(folder: Path, base: Path | None, gone: Keys, added: Iterable[Worded]) -> None:
    """Make the index in ``folder`` from that in ``base`` (shared by hard links) less ``gone``, plus ``added`` rows.

    One writing thread, so that equal input gives equal segments. tantivy makes its files durable itself.
    Raises ``OSError`` where they cannot be written.
    """
    folder.mkdir(parents=True)
    parts = [part for part in added if part.names.num_rows]
    if base is not None:
        _link(base, folder)
    if base is None or parts or len(gone):
        try:
            _write(folder, base is not None, gone, parts)
        except ValueError as error:  # what tantivy raises for a full disk
            raise OSError(f"the lexical index: {error}") from error


def _write(folder: Path, exists: bool, gone: Keys, parts: Sequence[Worded]) -> None:
    index = tantivy.Index.open(str(folder)) if exists else tantivy.Index(SCHEMA, str(folder))
    writer = index.writer(_HEAP[sum(part.names.num_rows for part in parts) > _MANY], 1)
    if exists and len(gone):
        writer.delete_documents_by_query(tantivy.Query.term_set_query(SCHEMA, "key", gone.tolist()))
    for part in parts:
        for document in _documents(part):
            writer.add_document(document)
    _paragraph.cache_clear()
    writer.commit()
    writer.wait_merging_threads()
    rights = (folder / _LOCK).stat().st_mode & 0o777
    for name in (_META, _MANAGED):  # tantivy makes these for their owner alone
        (folder / name).chmod(rights)


def _link(base: Path, folder: Path) -> None:
    """Share the segments that ``base`` really uses: what a merge left behind stays behind."""
    meta = json.loads((base / _META).read_text())
    used = {segment["segment_id"].replace("-", "") for segment in meta["segments"]}
    for path in base.iterdir():
        if path.name.partition(".")[0] in used:
            generations.share(path, folder / path.name)
    shutil.copyfile(base / _META, folder / _META)


def _documents(part: Worded) -> Iterator[tantivy.Document]:
    for (key, kind, category, doc, docs), words in zip(_rows(part.names), part.words, strict=True):
        if isinstance(words, Exception):
            raise words
        document = tantivy.Document()
        document.add_unsigned("key", key)
        document.add_text("text", words)
        for term in _terms(kind, category, docs or [doc]):
            document.add_text("scope", term)
        yield document


def _rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    """The values of each row, in order."""
    for rows in table.to_batches(_AT_ONCE):
        yield from zip(*(column.to_pylist() for column in rows.columns), strict=True)


def _words(texts: tuple[str, str, str]) -> str:
    """The tokens of a row, its text, heading and title given."""
    text, heading, title = texts
    above = heading if title in heading else f"{title}\n\n{heading}"
    return " ".join(map(_paragraph, f"{text}\n\n{above}".split("\n\n")))


_paragraph = lru_cache(maxsize=1 << 16)(spelled)
"""The tokens of a paragraph: many rows share a heading, and what a page states is items word by word."""


def _terms(kind: str, category: str, docs: Sequence[str]) -> set[str]:
    """The names that ``Scope`` may ask for, a document's source included."""
    cited = {term for doc in docs for term in (f"docs:{doc}", f"sources:{doc.partition('/')[0]}")}
    return {f"kinds:{kind}", f"categories:{category}", *cited}


class Lexicon:
    """A lexical index opened for reading; what it mapped outlives its folder."""

    def __init__(self, folder: Path) -> None:
        try:
            self._searcher = _searcher(folder)
        except ValueError as error:
            if "Lockfile" not in str(error):
                raise
            with tempfile.TemporaryDirectory(prefix="kb-") as writable:  # tantivy writes a lock even to read
                for path in folder.glob("[!.]*"):
                    Path(writable, path.name).symlink_to(path.absolute())
                self._searcher = _searcher(Path(writable))

    def ranked(
        self, tokens: Mapping[str, float], scope: Scope, limit: int, *, covering: bool = False
    ) -> tuple[Keys, Vectors]:
        """Keys and scores of the ``limit`` best rows: BM25, or the sum of the weights that a row holds."""
        query = _scoped(_disjunction(tokens, covering=covering), scope)
        hits = self._searcher.search(query, limit, count=False).hits if tokens else []
        keys = self._searcher.fast_field_values("key", [address for _, address in hits])
        return np.array(keys, dtype=np.uint64), np.array([score for score, _ in hits], dtype=np.float32)

    def frequency(self, token: str) -> int:
        """In how many rows a token stands; replaced rows count until their segment is merged."""
        return int(self._searcher.doc_freq("text", token))

    def __len__(self) -> int:
        return int(self._searcher.num_docs)


def _searcher(folder: Path) -> tantivy.Searcher:
    index = tantivy.Index.open(str(folder))
    index.config_reader("manual", 0)
    return index.searcher()


def _disjunction(tokens: Mapping[str, float], *, covering: bool) -> tantivy.Query:
    weigh = tantivy.Query.const_score_query if covering else tantivy.Query.boost_query
    return tantivy.Query.boolean_query(
        [
            (tantivy.Occur.Should, weigh(tantivy.Query.term_query(SCHEMA, "text", token, "freq"), weight))
            for token, weight in tokens.items()
        ]
    )


_INDEXED = ("kinds", "sources", "categories", "docs")
"""What of a scope the lexicon itself filters by; what else there is, the snapshot sifts."""


def _scoped(query: tantivy.Query, scope: Scope) -> tantivy.Query:
    """``query`` among the rows of ``scope``, whose terms add nothing to a score."""
    filters: list[_Clause] = []
    for name in _INDEXED:
        values = getattr(scope, name)
        if values:
            terms = tantivy.Query.term_set_query(SCHEMA, "scope", [f"{name}:{value}" for value in values])
            filters.append((tantivy.Occur.Must, tantivy.Query.const_score_query(terms, 0.0)))
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, query), *filters]) if filters else query
