"""Fakes that implement the protocols of ``kb_pipeline.world``."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kb_pipeline.settings import Settings
from kb_pipeline.world import Embedder, Index, World


@dataclass(frozen=True)
class FixedClock:
    """A clock that stands still."""

    at: datetime = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    def now(self) -> datetime:
        """The fixed time."""
        return self.at


def reading_world(index: Index, embedder: Embedder) -> World:
    """A world that can be searched and nothing else: whatever else it is asked for is missing."""
    absent: Any = None
    return World(Settings(Path()), absent, embedder, absent, absent, index, FixedClock())
