"""Records as a worker gets them: the bytes of a file, since records themselves travel slowly. Pure."""

import json
import re
from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import NamedTuple, TypeVar, overload

from kb_pipeline.records import Extraction, Record
from kb_pipeline.rules.ids import canonical

R = TypeVar("R", bound=Record)
T = TypeVar("T")
U = TypeVar("U")

_STRING = rb'"(?:[^"\\]|\\.)*"'

_ID = re.compile(rb'\{"id":"([^"]+)"')


class Read(Sequence[U]):
    """What ``read`` gives for each of ``keys``, read whenever it is asked for: a pool holds what it is ahead by."""

    def __init__(self, read: Callable[[T], U], keys: Sequence[T]) -> None:
        self._read: Callable[[T], U] = read
        self._keys: Sequence[T] = keys

    def __len__(self) -> int:
        return len(self._keys)

    @overload
    def __getitem__(self, at: int) -> U: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[U]: ...
    def __getitem__(self, at: int | slice) -> U | Sequence[U]:
        return [*map(self._read, self._keys[at])] if isinstance(at, slice) else self._read(self._keys[at])


def lines(kind: type[R], data: bytes) -> tuple[R, ...]:
    """One record a line of JSON, in order. Raises ``pydantic.ValidationError``."""
    return tuple(kind.model_validate_json(line) for line in data.splitlines() if line)


def strings(field: str, data: bytes) -> set[str]:
    """The strings under ``field``, wherever they stand in a text of JSON, without decoding the rest of it."""
    return {json.loads(found) for found in set(_under(field).findall(data))}


def listed(field: str, data: bytes) -> set[str]:
    """The strings in the lists of strings under ``field``, told likewise."""
    return {text for found in set(_list_under(field).findall(data)) for text in json.loads(found)}


@cache
def _under(field: str) -> re.Pattern[bytes]:
    return re.compile(rb'"%b"\s*:\s*(%b)' % (field.encode(), _STRING))


@cache
def _list_under(field: str) -> re.Pattern[bytes]:
    return re.compile(rb'"%b"\s*:\s*(\[\s*%b(?:\s*,\s*%b)*\s*\])' % (field.encode(), _STRING, _STRING))


class Stated(NamedTuple):
    """A draft by its hash, where it stands, and its canonical statement."""

    draft: str
    chunk_hash: str
    topic: str
    text: str


def stated(data: bytes) -> list[Stated]:
    """The drafts of one document, in order."""
    return [
        Stated(draft.hash, extraction.chunk_hash, draft.topic, canonical(draft.statement))
        for extraction in lines(Extraction, data)
        for draft in extraction.drafts
    ]


def named(kind: type[R], data: bytes, ids: Collection[str]) -> tuple[R, ...]:
    """Those records, of a JSON list that has one a line, whose ``id`` is among ``ids``; the others cost nothing. Raises
    ``pydantic.ValidationError``; a list that is laid out otherwise seems empty."""
    told = ((_ID.match(line), line) for line in data.splitlines())
    return tuple(kind.model_validate_json(line.rstrip(b",")) for id_, line in told if id_ and id_[1].decode() in ids)
