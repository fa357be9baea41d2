"""Trying again through trouble that passes. Knows neither requests nor replies."""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TypeVar

from kb_pipeline.services.limits import LONGEST_WAIT, TRIES, Pace, backoff
from kb_pipeline.services.wire import Failed

T = TypeVar("T")
_CHANCE = random.Random()  # noqa: S311 - spreads retries


async def tried(once: Callable[[], Awaitable[T]], pace: Pace, first_wait: float) -> T:
    """What ``once`` gives, as often as its failures allow; ``first_wait`` seconds before the second try.

    Who is told when to come back waits as long, and so does everyone who shares ``pace``. Raises the last ``Failed``.
    """
    failures: Counter[str] = Counter()
    while True:
        try:
            return await once()
        except Failed as failed:
            failures[failed.kind] += 1
            if failures[failed.kind] >= TRIES.get(failed.kind, 1) or (failed.wait or 0) > LONGEST_WAIT:
                raise
            if failed.wait is not None:
                pace.hold(failed.wait)
            await asyncio.sleep(backoff(failures.total(), first_wait, _CHANCE))
