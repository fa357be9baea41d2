"""Pace and patience, by a clock that tests turn."""

import asyncio
import random

import pytest

from kb_pipeline.services.limits import TRIES, Pace, backoff
from kb_pipeline.services.patience import tried
from kb_pipeline.services.wire import Failed, Kind


class Clock:
    """Seconds that pass only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        """The time."""
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.now += max(0.0, seconds)


def paced(rpm: int | None = None, tpm: int | None = None) -> tuple[Clock, Pace]:
    """A pace by a clock of its own."""
    clock = Clock()
    return clock, Pace(rpm, tpm, clock.monotonic, clock.sleep)


def passed(clock: Clock, pace: Pace, *tokens: int) -> list[float]:
    """When each request had its turn, in seconds from the start."""

    async def turns() -> list[float]:
        found = []
        for count in tokens:
            await pace.turn(count)
            found.append(round(clock.now - 100, 3))
        return found

    return asyncio.run(turns())


def test_without_limits_nobody_waits() -> None:
    """An endpoint without limits is asked at once."""
    assert passed(*paced(), 10, 10_000, 10) == [0, 0, 0]


def test_requests_are_spread_over_the_minute() -> None:
    """Thirty a minute is one every two seconds."""
    assert passed(*paced(rpm=30), 1, 1, 1) == [0, 2, 4]


def test_tokens_are_spread_over_the_minute() -> None:
    """After a request of a hundred tokens at six hundred a minute the next waits ten seconds, unless it took less."""
    clock, pace = paced(tpm=600)
    assert passed(clock, pace, 100, 10) == [0, 10]
    pace.correct(10, 0)
    assert passed(clock, pace, 10) == [10]


def test_who_was_told_to_wait_holds_everyone_back() -> None:
    """``Retry-After`` counts for all who share the endpoint, and longer ones win."""
    clock, pace = paced()
    pace.hold(7)
    pace.hold(3)
    assert passed(clock, pace, 1, 1) == [7, 7]


def test_pauses_double_and_spread() -> None:
    """Each pause is drawn from the upper half of a bound that doubles up to thirty seconds."""
    chance = random.Random(0)
    for tries, bound in [(1, 0.5), (2, 1), (3, 2), (6, 16), (9, 30), (900, 30)]:
        drawn = [backoff(tries, 0.5, chance) for _ in range(50)]
        assert bound / 2 <= min(drawn) < max(drawn) <= bound
        assert len(set(drawn)) > 40


@pytest.mark.parametrize("kind", ["busy", "fault", "timeout", "empty", "unsupported", "unusable", "long"])
def test_trouble_has_its_number_of_tries(kind: Kind) -> None:
    """Each kind of trouble is tried as often as its row says; what does not pass is tried once."""
    count = 0

    async def once() -> None:
        nonlocal count
        count += 1
        raise Failed(kind, "again")

    with pytest.raises(Failed):
        asyncio.run(tried(once, Pace(), 0.0))
    assert count == TRIES.get(kind, 1)


def test_a_wait_of_hours_is_no_wait() -> None:
    """Who is told to come back in hours gives up at once."""
    count = 0

    async def once() -> None:
        nonlocal count
        count += 1
        raise Failed("busy", "tomorrow", wait=3600)

    with pytest.raises(Failed):
        asyncio.run(tried(once, Pace(), 0.0))
    assert count == 1
