"""What can be looked up for a question, as one table of tools. Each reads one generation and gives evidence.

Here are those that the index alone answers; who opens the knowledge base adds those that its records answer.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kb_pipeline.errors import NotFound
from kb_pipeline.query import evidence
from kb_pipeline.query.search import found_by
from kb_pipeline.records import Card, Evidence, Row, Scope, Tool, ToolCall
from kb_pipeline.rules import catalogue
from kb_pipeline.world import Snapshot, World

READ = 3
"""How many documents or pages are read whole for one call."""


@dataclass(frozen=True)
class Desk:
    """Where a question is looked up: one generation, within one scope. ``notes`` hold how a call was looked up."""

    question: str
    world: World
    snapshot: Snapshot
    scope: Scope
    notes: dict[ToolCall, str] = field(default_factory=dict)


Lookup = Callable[[ToolCall, Desk], Iterable[Evidence]]


def search(call: ToolCall, desk: Desk) -> Iterable[Evidence]:
    """Items and passages for the words of ``call``, best first."""
    hits = found_by(call.query or desk.question, desk.world, desk.snapshot, scope=desk.scope, k=call.k)
    return (evidence.of_hit(hit, desk.world.settings.options) for hit in hits)


def catalogue_(call: ToolCall, desk: Desk) -> Iterable[Evidence]:
    """The documents and pages that the engine picks from the catalogue, read whole. Where it picks none, those whose
    cards hold most of the question: a choice is never empty while there is something to read."""
    cards = {card.ref: card for card in desk.snapshot.cards(_readable(desk.scope))}
    if not cards:
        raise NotFound("there is nothing to read in this scope.", where="catalogue", cure="Ask with a wider scope.")
    question = call.query or desk.question
    picks = desk.world.engine.select_pages(question, list(cards.values()))
    picked = [ref for ref in picks.refs if ref in cards] or catalogue.ranked(question, list(cards.values()))
    opened = list(dict.fromkeys(picked))[:READ]
    desk.notes[call] = _read(len(cards), picks.parts, opened)
    for ref in opened:
        yield _whole(cards[ref], desk)


def get(call: ToolCall, desk: Desk) -> Iterable[Evidence]:
    """The item, passage or page of that id."""
    rows = [row for row in desk.snapshot.rows([call.query]) if _within(row, desk.scope)]
    if not rows:
        raise NotFound(f"there is no item '{call.query}'.", where="get", cure="Find one with search.")
    return [_as_stated(evidence.of_row(row, desk.world.settings.options), desk) for row in rows]


def document(call: ToolCall, desk: Desk) -> Iterable[Evidence]:
    """The document of that id, read whole."""
    card = next((card for card in desk.snapshot.cards(_readable(desk.scope)) if card.ref == call.query), None)
    if card is None:
        raise NotFound(f"there is no document '{call.query}'.", where="document", cure="Find one with search.")
    return [_whole(card, desk)]


TOOLS: Mapping[Tool, Lookup] = {"search": search, "catalogue": catalogue_, "get": get, "document": document}


def _readable(scope: Scope) -> Scope:
    """The part of a scope that documents have: neither category, tag nor status is theirs."""
    return Scope(sources=scope.sources, docs=scope.docs, since=scope.since, until=scope.until)


def _within(row: Row, scope: Scope) -> bool:
    """Whether one of a row's documents is of the scope's sources and, where it names documents, one of these."""
    docs = [doc for doc in row.docs or (row.doc_id,) if not scope.docs or doc in scope.docs]
    return any(not scope.sources or doc.partition("/")[0] in scope.sources for doc in docs)


def _read(cards: int, parts: int, opened: Sequence[str]) -> str:
    """How the catalogue was read, in words."""
    pages = sum(ref.startswith("pg_") for ref in opened)
    documents = len(opened) - pages
    counted = [f"{n} {what}{'s' * (n > 1)}" for n, what in ((pages, "page"), (documents, "document")) if n]
    read = "whole" if parts == 1 else f"in {parts:,} parts"
    return f"The catalogue, {cards:,} entries, was read {read}; {' and '.join(counted) or 'nothing'} opened."


def _whole(card: Card, desk: Desk) -> Evidence:
    return _as_stated(evidence.of_document(card, desk.snapshot.read(card.ref), desk.world.settings.options), desk)


def _as_stated(found: Evidence, desk: Desk) -> Evidence:
    """A page may be quoted only where each document that it is written from may: it has no licence of its own."""
    options = desk.world.settings.options
    if found.kind != "page" or not options.unquotable_licenses:
        return found
    stated = (part.license for doc in found.docs for part in desk.snapshot.read(doc)[:1])
    closed = next((license_ for license_ in stated if not evidence.quotable(license_, options)), None)
    return found if closed is None else found.model_copy(update={"license": closed, "quotable": False})
