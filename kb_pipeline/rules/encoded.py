"""Records as a worker gets them: the bytes of a file, since records themselves travel slowly. Pure."""

from typing import TypeVar

from kb_pipeline.records import Record

R = TypeVar("R", bound=Record)


def lines(kind: type[R], data: bytes) -> tuple[R, ...]:
    """One record a line of JSON, in order. Raises ``pydantic.ValidationError``."""
    return tuple(kind.model_validate_json(line) for line in data.splitlines() if line)
