"""Fakes that implement the protocols of ``kb_pipeline.world``."""

from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True)
class FixedClock:
    """A clock that stands still."""

    at: datetime = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    def now(self) -> datetime:
        """The fixed time."""
        return self.at
