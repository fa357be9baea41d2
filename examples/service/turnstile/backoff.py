"""When to try again, and when to stop trying.

Retries turn a short overload into a long one: if every caller tries up to three times, a replica that fails half
of its requests sees 1.75 times the load. Full jitter spreads the retries out and a budget bounds their sum.
"""

import random
from collections.abc import Iterator


def delays(
    attempts: int = 3, base: float = 0.1, cap: float = 5.0, chance: random.Random | None = None
) -> Iterator[float]:
    """Yield the seconds to wait before each retry, by exponential backoff with full jitter.

    The n-th delay is drawn evenly between 0 and ``min(cap, base * 2**n)``. Waiting a fixed time instead would bring all
    callers back in the same instant.
    """
    chance = chance or random.Random()
    for n in range(attempts - 1):
        yield chance.uniform(0, min(cap, base * 2**n))


class RetryBudget:
    """Retries may be at most ``ratio`` of all requests.

    When everything fails, a budget of 10% raises the load by 10% at most, whatever the number of attempts.
    """

    def __init__(self, ratio: float = 0.1) -> None:
        self.ratio = ratio
        self.requests = 0
        self.retries = 0

    def request(self) -> None:
        """Count a first attempt."""
        self.requests += 1

    def may_retry(self) -> bool:
        """Count a retry and allow it, unless the budget is spent."""
        if self.retries + 1 > self.ratio * self.requests:
            return False
        self.retries += 1
        return True


RETRYABLE = frozenset({429, 502, 503, 504})
"""A retry of any other status would repeat a mistake. A stream that has sent its first token is never retried, because
the caller would see the beginning twice."""
