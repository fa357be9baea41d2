"""What checks, stages and builds have to say."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from kb_pipeline.records.record import Record


class Finding(Record):
    """What a check found; ``offenders`` are the first 20."""

    check: str
    stage: str
    ok: bool
    blocking: bool
    message: str
    cure: str = ""
    count: int = 0
    offenders: tuple[str, ...] = ()


class StageReport(Record):
    """What one run of a stage did. ``data_version`` is the hash of the manifest's outputs."""

    stage: str
    partition: str | None = None
    made: int = 0
    kept: int = 0
    rejected: int = 0
    deleted: int = 0
    failed: int = 0
    seconds: float = 0.0
    files_written: int = 0
    embeddings: int = 0
    embedding_seconds: float = 0.0
    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    data_version: str = ""
    warnings: tuple[str, ...] = ()
    details: Mapping[str, Any] = Field(default_factory=dict)


class BuildReport(Record):
    """What one build did; ``next_steps`` say what to look at."""

    documents: Mapping[str, int]
    stages: Mapping[str, Mapping[str, int | float]]
    engine: Mapping[str, int | float]
    files_written: int
    generation: str | None
    live: str | None
    warnings: tuple[str, ...]
    failed: tuple[str, ...] = ()
    quarantined: int = 0
    seconds: float = 0.0
    next_steps: tuple[str, ...] = ()
