"""What is left of items and their history once a document is forgotten, and what its traces are. Pure.

Whatever may hold its words goes: an item stays only where another document says the same to the letter.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kb_pipeline.records import Event, Item
from kb_pipeline.rules import ids
from kb_pipeline.rules.history import GONE

PURGED = "(purged)"
"""What stands in place of a document's name."""

RUN = 4
"""Words in a row that tell a text from others; a line or cell of two or three is told by all of it."""

_FIELDS = frozenset({"statement", "detail", "context", "note", "topic", "entities"})  # that say what a document says
_ENDS = re.compile(rb"\n|[.!?:;|](?=\s|$)")
_WORD = re.compile(rb"[a-z0-9\x80-\xff]+")
_ESCAPED = re.compile(rb"\\u([0-9a-f]{4})")


def words(data: bytes) -> list[bytes]:
    """The words of UTF-8 text, or of JSON of it, without case, marks and escapes."""
    data = data.lower()
    if b"\\" in data:
        data = data.replace(b"\\n", b" ").replace(b"\\t", b" ")
        data = _ESCAPED.sub(lambda m: chr(int(m[1], base=16)).encode("utf-8", "replace"), data)
    return _WORD.findall(data)


def runs(found: Sequence[bytes], length: int) -> Iterator[bytes]:
    """Every ``length`` words in a row."""
    return (b" ".join(found[at : at + length]) for at in range(len(found) - length + 1))


def passages(text: str) -> set[bytes]:
    """What tells a text from others: its runs of words, and its lines, sentences and cells that are shorter."""
    data = text.encode()
    short = (words(part) for part in _ENDS.split(data))
    return {*runs(words(data), RUN), *(b" ".join(part) for part in short if 1 < len(part) < RUN)}


class Traces:
    """The passages of a document that no other one holds."""

    def __init__(self, found: Iterable[bytes]) -> None:
        self.passages = frozenset(found)
        self._lengths = {passage.count(b" ") + 1 for passage in self.passages}

    def less(self, others: Iterable[bytes]) -> "Traces":
        """Without those that stand in ``others``, texts."""
        left = set(self.passages)
        for text in others:
            found = words(text)
            for length in self._lengths:
                left.difference_update(runs(found, length))
        return Traces(left)

    def within(self, data: bytes) -> bool:
        """Whether any of them stands in ``data``."""
        found = words(data) if self.passages else []
        return any(not self.passages.isdisjoint(runs(found, length)) for length in self._lengths)

    def of(self, value: Any) -> bool:
        """Whether a text, or one of several, holds one of them."""
        return self.within(json.dumps(value, ensure_ascii=False).encode())


def item_without(item: Item, doc: str) -> Item | None:
    """An item that the pipeline does not make anew, without a document; None where it said only what that said."""
    kept = tuple(c for c in item.sources if c.doc_id != doc)
    if len(kept) == len(item.sources):
        return item
    if ids.canonical(item.statement) not in {ids.canonical(c.source_span) for c in kept}:
        return None
    named = tuple(entity for entity in item.entities if entity in item.statement)
    bare = {"detail": "", "context": None, "note": None, "entities": named}
    return item.model_copy(update={**bare, "sources": kept, "confirmations": len({c.doc_id for c in kept})})


def forgotten(told: Sequence[Event], doc: str) -> bool:
    """Whether an item without a file has a history that rests on the document alone, as far as is known."""
    absorbed = [event for event in told if event.kind in GONE and event.before]
    if absorbed:
        return all(_rest(event, doc) is None for event in absorbed)
    named = {doc for e in told for doc in (*(q.doc_id for q in e.quotes), *(c.doc_id for c in e.lost))}
    return doc in named or any(doc in event.cause for event in told)


def _rest(event: Event, doc: str) -> Item | None:
    return item_without(Item.model_validate(event.before), doc) if event.before else None


def story_without(told: Sequence[Event], doc: str, traces: Traces) -> list[Event]:
    """The history of an item that stays, without a document. Former values that hold its words are forgotten, so that
    of such a date later ones are shown."""
    events = (_without(event, doc, traces) for event in told)
    return [event for event in events if event is not None]


def _without(event: Event, doc: str, traces: Traces) -> Event | None:
    cause = event.cause.replace(doc, PURGED)
    quotes = tuple(q for q in event.quotes if q.doc_id != doc and not traces.of(q.text))
    lost = tuple(c for c in event.lost if c.doc_id != doc)
    before = _values(event.before, traces)
    if event.kind in GONE:
        rest = _rest(event, doc)
        before = rest.model_dump(mode="json", exclude_defaults=True) if rest else {}
    update = {"quotes": quotes, "lost": lost, "before": before, "after": _values(event.after, traces)}
    left = event.model_copy(update={**update, "cause": "" if traces.of(cause) else cause})
    if event.kind == "sources" and (event.quotes, event.lost) != (quotes, lost) and not (quotes or lost):
        return None
    return left


def _values(values: Mapping[str, Any], traces: Traces) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in _FIELDS or not traces.of(value)}
