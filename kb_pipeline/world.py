"""What the pipeline may ask of the outside, as protocols, and the World that bundles them. No implementation but that
of a pool which has this process alone."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from kb_pipeline.errors import ModelError
from kb_pipeline.records import (
    Ask,
    Briefing,
    Card,
    Cause,
    Chunk,
    Claim,
    Converted,
    Document,
    Evidence,
    Extraction,
    Item,
    Material,
    Pair,
    Picks,
    Plan,
    Question,
    RawDoc,
    Record,
    Reject,
    Rewrite,
    Row,
    Scope,
    Spent,
    Tagging,
    Taxonomy,
    Verdict,
    Written,
)
from kb_pipeline.settings import Settings

Vectors = npt.NDArray[np.float32]


class Clock(Protocol):
    """The time; fixed in tests."""

    def now(self) -> datetime:
        """The current time in UTC."""


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    name: str
    dim: int
    computed: int  # vectors computed (not recalled) so far: what a report counts
    seconds: float  # spent on computing them

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape ``(len(texts), dim)``, L2-normalised, in the order of ``texts``; cached by ``key``."""

    def key(self, text: str) -> bytes:
        """16 bytes that name the vector of ``text`` under this model."""

    def recall(self, keys: Sequence[bytes]) -> tuple[Vectors, npt.NDArray[np.bool_]]:
        """Cached vectors ``(n, dim)``, the caller's own, and which were found (rows of the others are zero); computes
        nothing."""

    def close(self) -> None:
        """Free the model; an embedder that was never asked holds none, one that is asked again loads it again."""


T = TypeVar("T")
U = TypeVar("U")


class Pool(Protocol):
    """Pure functions over many records, on as many processors as there are."""

    def map(self, function: Callable[[T], U], records: Sequence[T], part: int = 16) -> Iterator[U | Exception]:
        """``function`` of each record, in order, as they are asked for; what it raised in place of a result.

        ``function`` is one of a module, or a ``functools.partial`` of such; it, the records and what it makes of them
        travel between processes (pickled), ``part`` records at a time: about 10 ms of work. Which process did it shows
        nowhere. Not for what waits for somebody else: a model, a disk.
        """

    def expect(self, records: int) -> None:
        """Hear that so many records will be worked on: where they are many, what takes its time to start may start."""

    def close(self) -> None:
        """End the worker processes; none may be left."""


def outcomes(function: Callable[[T], U], records: Sequence[T]) -> Iterator[U | Exception]:
    """``function`` of each record, in order; what it raised in place of a result."""
    for record in records:
        try:
            yield function(record)
        except Exception as error:  # noqa: BLE001 - one record fails alone
            yield error


class Here:
    """The ``Pool`` that is this process."""

    def map(self, function: Callable[[T], U], records: Sequence[T], part: int = 16) -> Iterator[U | Exception]:
        """``function`` of each record, in order, as they are asked for; what it raised in place of a result."""
        del part
        return outcomes(function, records)

    def expect(self, records: int) -> None:
        """There is nothing to start."""

    def close(self) -> None:
        """There is nothing to end."""


class VectorCache(Protocol):
    """Vectors by the hash of model and text; losing it costs time only."""

    def get(self, keys: Sequence[bytes]) -> tuple[Vectors, npt.NDArray[np.bool_]]:
        """Vectors ``(n, dim)`` and which of the 16-byte ``keys`` were found (rows of the others are zero)."""

    def put(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        """Keep ``vectors`` under ``keys``."""


class Converter(Protocol):
    """Bytes to Markdown, each hostile format in its own bounded process."""

    def convert(self, docs: Sequence[RawDoc]) -> Iterator[Converted | Exception]:
        """One result a document, in order; a ``ConversionError`` in place of a document that failed."""

    def close(self) -> None:
        """End the worker processes; none may be left."""


@dataclass(frozen=True)
class Response:
    """What a fetch returned. ``status`` 304 has no content. ``url`` is the last one after redirects."""

    url: str
    status: int
    content: bytes
    media_type: str
    etag: str | None
    last_modified: str | None


class Fetcher(Protocol):
    """HTTP with limits: robots.txt, bounded redirects and size, private addresses refused."""

    def get(
        self, url: str, *, etag: str | None = None, last_modified: str | None = None, allow_private: bool = False
    ) -> Response:
        """Fetch ``url``. Raises ``SourceUnavailable`` with the cure for anything but 2xx and 304."""

    def close(self) -> None:
        """Close connections."""


class Replies(Protocol):
    """Models' replies by key, kept in git: what was paid once is replayed."""

    def get(self, key: str) -> str | None:
        """The kept reply, or None."""

    def put(self, key: str, reply: str) -> None:
        """Keep a reply, on disk at once."""


R = TypeVar("R", bound=Record)


class ChatClient(Protocol):
    """Asks a model, within limits of rate, time and money."""

    def model(self, task: str) -> str:
        """The model that answers ``task``."""

    def ask(self, asks: Sequence[Ask], shape: type[R]) -> Iterator[R | ModelError]:
        """One validated reply an ask, in order, asked side by side; a ``ModelError`` in place of one that failed.

        Raises ``BudgetSpent`` before a call that could exceed the budget; what was answered is kept.
        """

    def kept(self, ask: Ask, shape: type[R]) -> R | ModelError | None:
        """The kept reply to ``ask``, or None where it would be sent."""


class Engine(Protocol):
    """Who does the thinking. Every method is pure given its input and the engine's version."""

    name: str

    def version(self, task: str) -> str:
        """What a recipe records for ``task`` (``normalize``, ``extract``, ``judge``, ``tag``, ``questions``) beside
        its code; ``""`` for one that it leaves undone."""

    def modules(self, task: str) -> tuple[str, ...]:
        """Names of the modules whose code decides what ``task`` gives."""

    def normalize(self, documents: Sequence[Document]) -> Iterator[Sequence[Rewrite] | Exception]:
        """Proposals to clean each document, in order; whether they add or lose anything is checked outside."""

    def extract(self, chunks: Sequence[Chunk]) -> Iterator[Extraction | Exception]:
        """Drafts and rejects of each chunk, in order, or why there are none; spans are checked again outside."""

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Verdict]:
        """One verdict a pair, in order."""

    def tag(self, items: Sequence[Item], taxonomy: Taxonomy) -> Iterable[Tagging]:
        """One tagging an item, in order, as they are asked for, from statement, detail and entities only."""

    def questions(self, items: Sequence[Item], neighbours: Sequence[Sequence[Item]]) -> Iterator[Sequence[Question]]:
        """Gold questions of each item (one a style) and a hard negative drawn from its neighbours, in order."""

    def write_page(self, materials: Sequence[Material]) -> Iterator[Written | Exception]:
        """Each page, in order, from nothing but its items, or why there is none; whether its sentences are carried by
        what they cite, and whether all items are stated, is checked outside. An engine that leaves this undone is not
        asked: a page states its items in their own words then."""

    def plan_query(self, question: str, briefing: Briefing) -> Plan:
        """The look-ups that ``question`` needs; those that ``briefing`` does not offer are dropped outside."""

    def rerank(self, question: str, evidence: Sequence[Evidence]) -> Sequence[float]:
        """From 0 to 10 how well each piece of evidence answers ``question``, in order; empty where nobody can say."""

    def answer(self, question: str, evidence: Sequence[Evidence], embedder: Embedder) -> Iterator[Claim]:
        """Sentences that answer ``question``, each with the evidence it cites; none where the evidence does not answer
        it. Whether they hold is checked outside. ``embedder`` is that of who asks."""

    def select_pages(self, question: str, cards: Sequence[Card]) -> Picks:
        """The documents or pages, best first, that are worth reading whole for ``question``."""


class Snapshot(Protocol):
    """One pinned generation of the index, masked documents hidden."""

    generation: str

    def lexical(self, tokens: Mapping[str, float], k: int, scope: Scope) -> list[tuple[str, float]]:
        """The ``k`` best rows by BM25 over analysed tokens (token to weight): ``(row id, score)``, best first."""

    def covering(self, tokens: Mapping[str, float], k: int, scope: Scope) -> list[tuple[str, float]]:
        """The ``k`` rows that hold most of the tokens: ``(row id, sum of the weights held)``, best first."""

    def nearest(self, queries: Vectors, k: int, scope: Scope) -> list[list[tuple[str, float]]]:
        """Of each of ``queries``, unit vectors ``(n, dim)``, the ``k`` nearest rows: ``(row id, cosine)``, best first.
        What several queries share is done once: ask for them together."""

    def idf(self, tokens: Sequence[str]) -> dict[str, float]:
        """Inverse document frequency, ``ln(1 + (N - n + 0.5) / (n + 0.5))``, of each token."""

    def rows(self, ids: Sequence[str]) -> list[Row]:
        """Live rows by id, in the order asked; unknown ids are left out."""

    def cards(self, scope: Scope) -> list[Card]:
        """What can be read whole: every document, and every page, that ``scope`` lets see; sorted by ref."""

    def read(self, ref: str) -> list[Row]:
        """The passages of one document in order, or the one row of a page; empty where it may not be seen."""

    def passages(self, ids: Sequence[str]) -> dict[str, str]:
        """The chunk row in which each row begins, in its first document; ids that stand in none are left out."""

    def documents(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The documents that live rows cite; unknown ids are left out."""

    def named(self) -> frozenset[str]:
        """Every document, masked ones apart, that a row of the generation names, be it one that nobody may see: at
        least those that live rows name, told without reading the rows."""

    def count(self) -> dict[str, int]:
        """Live rows by kind."""

    def sql(self, query: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Column names and rows of a read-only query over the table ``rows`` (live rows only)."""


class Index(Protocol):
    """Generations of rows. Readers are served by the live one alone."""

    def hashes(self, generation: str) -> dict[str, tuple[str, str]]:
        """Row id to ``(rules.ids.row_hash, doc_id)`` of one generation, masked rows included: what a delta is
        computed from."""

    def write(
        self, base: str | None, rows: Sequence[Row], vectors: Vectors, vectored: Sequence[bool], deletes: Sequence[str]
    ) -> str:
        """A new candidate generation: ``base`` less ``deletes``, with ``rows`` added or replaced.

        ``vectors`` has one row for each true entry of ``vectored``. Returns the generation's name.
        """

    def generations(self) -> list[str]:
        """Names of the retained generations, oldest first."""

    def born(self, generation: str) -> float:
        """When a generation was completed, in seconds since the epoch."""

    def live(self) -> str | None:
        """The generation that readers are served from."""

    def fault(self) -> str:
        """What is damaged of that which readers are served from, in words; empty where nothing is."""

    def candidate(self) -> str | None:
        """The newest complete generation."""

    def promote(self, generation: str) -> None:
        """Make ``generation`` the live one, atomically."""

    def pin(self, generation: str) -> None:
        """Serve readers from ``generation``, an earlier one, until a new candidate comes (rollback)."""

    def pinned(self) -> tuple[str, str] | None:
        """The pinned generation and the candidate that was newest when it was pinned, or None."""

    def mask(self, docs: frozenset[str]) -> None:
        """Hide these documents in every retained generation, from the next request on."""

    def masked(self) -> frozenset[str]:
        """The documents that are hidden now."""

    def expunge(self, docs: frozenset[str]) -> None:
        """Leave no word and no name of these documents in any generation: write what is live, and the candidate, anew
        without them and remove all others."""

    def within(self, sources: frozenset[str]) -> "Index":
        """The same, for one who may see these sources alone."""

    def snapshot(self, generation: str | None = None, *, gone: bool = False) -> AbstractContextManager[Snapshot]:
        """Pin a generation (the live one by default). ``gone`` has the documents in it that are masked, whose words are
        for nobody to see. Raises ``NotFound`` where there is none."""


@dataclass(frozen=True)
class Changes:
    """What a ``whole`` stage must reconsider.

    ``touched`` maps an upstream stage to the document ids whose records were added, changed or removed since this
    stage last ran. ``everything`` is true on a first run, after a change of recipe, when a full check was asked for and
    when the record was lost: then ``touched`` holds all ids. ``outdated`` says that what stands published was made by
    another recipe. ``late`` are keys of its own that it could not make then.
    """

    touched: Mapping[str, frozenset[str]]
    everything: bool
    outdated: bool = False
    late: frozenset[str] = frozenset()


class Inputs(Protocol):
    """Upstream records, read on demand."""

    def keys(self, stage: str) -> list[str]:
        """Sorted keys (document ids for per-source stages) that ``stage`` holds now."""

    def records(self, stage: str, key: str) -> tuple[Record, ...]:
        """The records under one key (of ``normalized`` the Meta alone); empty where there are none."""

    def encoded(self, stage: str, key: str) -> bytes:
        """The bytes of the file that holds the records under one key, for a worker to decode; empty where there are
        none."""

    def broken(self, stage: str, key: str) -> bool:
        """Whether a person's edit left the file under ``key`` unreadable; it has been reported then."""

    def faults(self, stage: str) -> Mapping[str, str]:
        """What is wrong, by key, with files that people wrote or edited, in words: file, field and cure."""


class Previous(Protocol):
    """What this stage published before."""

    def removed(self) -> frozenset[str]:
        """Keys whose files a person has removed since."""

    def keys(self) -> list[str]:
        """Sorted keys."""

    def inputs(self) -> Mapping[str, str]:
        """Each key and the hash of what it was made from (``Output.inputs`` of the run that made it)."""

    def records(self, key: str) -> tuple[Record, ...]:
        """The records under one key; empty where there are none."""


@dataclass(frozen=True)
class Output:
    """What a ``whole`` stage publishes: groups of records by key; a key in neither is left as it is.

    ``inputs`` may name the hash that each upsert was made from; ``late`` are keys that could not be made now, which the
    next build makes, whatever else changed. ``version`` is the data version of a stage that keeps
    its artefacts in the index rather than in files. ``story`` tells people what was decided, a line a decision;
    ``causes`` say why items became what they are, by id, for their history, ``gone`` what those would say whose files a
    person removed.
    """

    upserts: Mapping[str, tuple[Record, ...]] = field(default_factory=dict)
    deletes: frozenset[str] = frozenset()
    inputs: Mapping[str, str] = field(default_factory=dict)
    late: frozenset[str] = frozenset()
    version: str | None = None
    kept: int = 0
    story: tuple[str, ...] = ()
    causes: Mapping[str, Cause] = field(default_factory=dict)
    gone: Mapping[str, Record] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    rejects: tuple[Reject, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class World:
    """Everything outside that a stage may ask."""

    settings: Settings
    engine: Engine
    embedder: Embedder
    converter: Converter
    fetcher: Fetcher
    index: Index
    clock: Clock
    spent: Callable[[], Spent] = Spent  # so far, by this process
    pool: Pool = field(default_factory=Here)
