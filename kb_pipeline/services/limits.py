"""How fast an endpoint may be asked, and how often again. Owns waiting; sends nothing."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal

# What may go wrong with a request that is right in itself, and how many tries it gets in all: who is busy or loading
# its weights says so and will answer; who hung once mostly hangs again, at the full time limit each.
Trouble = Literal["busy", "fault", "timeout", "empty"]
TRIES: Mapping[str, int] = {"busy": 30, "fault": 6, "timeout": 3, "empty": 3}
LONGEST_WAIT = 600.0  # s: who asks for more is out of quota rather than busy
_LONGEST_BACKOFF = 30.0  # s


def backoff(tries: int, first: float, chance: random.Random) -> float:
    """Seconds before try ``tries`` + 1: doubling from ``first`` up to 30, spread over its upper half, so that those
    who failed together do not come back together."""
    longest = min(first * 2.0 ** (tries - 1), _LONGEST_BACKOFF)
    return longest * (0.5 + chance.random() / 2)


@dataclass
class Pace:
    """Requests and tokens a minute, evenly spread, for all that share it; None does not limit.

    A request that was told to wait (``Retry-After``) holds everyone back as long.
    """

    rpm: int | None = None
    tpm: int | None = None
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    _requests_at: float = 0.0
    _tokens_at: float = 0.0
    _resume_at: float = 0.0

    async def turn(self, tokens: int) -> None:
        """Wait for the turn of a request of about ``tokens`` tokens."""
        now = self.now()
        at = max(now, self._requests_at if self.rpm else 0.0, self._tokens_at if self.tpm else 0.0)
        if self.rpm:
            self._requests_at = at + 60 / self.rpm
        if self.tpm:
            self._tokens_at = at + tokens * 60 / self.tpm
        await self.sleep(at - now)
        while (left := self._resume_at - self.now()) > 0:  # it may be held again meanwhile
            await self.sleep(left)

    def correct(self, tokens: int, spent: int) -> None:
        """Give back the time of tokens that were expected and not needed."""
        if self.tpm:
            self._tokens_at -= (tokens - spent) * 60 / self.tpm

    def hold(self, seconds: float) -> None:
        """Let nobody ask for ``seconds`` from now."""
        self._resume_at = max(self._resume_at, self.now() + seconds)
