"""Who may ask, what they may see, and what was asked."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from kb_pipeline.records.record import SCHEMA_VERSION, Record

Role = Literal["reader", "editor", "admin"]
UserKind = Literal["person", "agent", "automation"]


class Token(Record):
    """A token as it is kept: never itself, only its SHA-256. ``projects`` are those it sees, the first by default;
    none means all of the knowledge base."""

    schema_version: int = SCHEMA_VERSION
    name: str
    sha256: str
    role: Role
    projects: tuple[str, ...] = ()
    created_at: str


class Principal(Record):
    """One who asks: a token's bearer, or whoever sits at this machine. ``projects`` is that of ``Token``."""

    name: str
    role: Role = "reader"
    projects: tuple[str, ...] = ()


class Query(Record):
    """One line of ``kb/logs/queries/<day>.jsonl``. ``question`` is None where settings keep texts out; ``answered`` is
    None for what gives no answer but hits; ``calls`` are those of models."""

    at: str
    who: str
    kind: UserKind
    face: str
    verb: str
    project: str = ""
    question: str | None = None
    hits: int = 0
    answered: bool | None = None
    calls: int = 0
    ms: float = 0.0


class Usage(Record):
    """What was asked since ``since``. ``days`` maps a day to queries by kind of user, ``projects`` a project to
    queries; ``unanswered`` and ``slow`` are the latest and the slowest queries of their sort, worst first."""

    since: str
    queries: int
    days: Mapping[str, Mapping[str, int]] = Field(default_factory=dict)
    projects: Mapping[str, int] = Field(default_factory=dict)
    users: Mapping[str, int] = Field(default_factory=dict)
    unanswered: tuple[Query, ...] = ()
    slow: tuple[Query, ...] = ()
