"""Token budgets: who may send how much, and when to come back.

A request costs its prompt tokens plus the output tokens that it may produce. Counting requests instead of tokens would
let one caller with long prompts take the share of a hundred callers with short ones.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Admitted:
    """The request may go on; ``left`` tokens remain in the budget."""

    left: float


@dataclass(frozen=True)
class Refused:
    """The request must wait ``retry_after`` seconds before the budget can pay for it."""

    retry_after: float


class NeverAffordable(ValueError):
    """The request costs more than the bucket can ever hold, so waiting would not help."""


@dataclass
class TokenBudget:
    """A token bucket is a counter that refills at a constant rate up to a fixed capacity.

    The capacity is the largest burst that a caller may send, the rate is what the caller gets in the long run.

    >>> budget = TokenBudget(capacity=10_000, rate=500)
    >>> budget.take(8_000, now=0)
    Admitted(left=2000.0)
    >>> budget.take(4_000, now=1)
    Refused(retry_after=3.0)
    >>> budget.take(4_000, now=4)
    Admitted(left=0.0)
    """

    capacity: float
    rate: float
    level: float = field(init=False)
    updated: float = 0.0

    def __post_init__(self) -> None:
        self.level = self.capacity

    def take(self, cost: float, now: float) -> Admitted | Refused:
        """Pay ``cost`` tokens at the time ``now`` in seconds, or say how long to wait."""
        if cost > self.capacity:
            raise NeverAffordable(f"{cost:.0f} tokens exceed the bucket of {self.capacity:.0f}")
        self.level = min(self.capacity, self.level + (now - self.updated) * self.rate)
        self.updated = now
        if cost > self.level:
            return Refused(retry_after=(cost - self.level) / self.rate)
        self.level -= cost
        return Admitted(left=float(self.level))

    def refund(self, unused: float) -> None:
        """Give back the output tokens that a request reserved and did not produce.

        Without the refund a caller who asks for 4,096 tokens and uses 100 pays for 4,096.
        """
        self.level = min(self.capacity, self.level + unused)
