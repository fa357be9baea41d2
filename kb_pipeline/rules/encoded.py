"""Records as a worker gets them: the bytes of a file, since records themselves travel slowly. Pure."""

import json
import re
from functools import cache
from typing import TypeVar

from kb_pipeline.records import Record

R = TypeVar("R", bound=Record)


def lines(kind: type[R], data: bytes) -> tuple[R, ...]:
    """One record a line of JSON, in order. Raises ``pydantic.ValidationError``."""
    return tuple(kind.model_validate_json(line) for line in data.splitlines() if line)


def strings(field: str, data: bytes) -> set[str]:
    """The strings under ``field``, wherever they stand in a text of JSON, without decoding the rest of it."""
    return {json.loads(found) for found in set(_under(field).findall(data))}


@cache
def _under(field: str) -> re.Pattern[bytes]:
    return re.compile(rb'"%b"\s*:\s*("(?:[^"\\]|\\.)*")' % field.encode())
