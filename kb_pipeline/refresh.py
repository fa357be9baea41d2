"""When a source is due: an interval, a cron line or ``manual``. Knows no source and no clock."""

import re
from datetime import datetime, timedelta

_INTERVAL = re.compile(r"([1-9][0-9]{0,5})([mhdw])")
_PLAIN = re.compile(r"(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:/[1-9]\d?)?")
_BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))  # minute, hour, day, month, weekday
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def refresh_due(refresh: str, last: datetime | None, now: datetime) -> bool:
    """Whether a source with this ``refresh``, fetched at ``last`` (never: ``None``), is due at ``now``; all in UTC.

    ``manual`` never is. An interval is due once it has passed, a cron line at its first tick after ``last``. A
    ``last`` that lies ahead comes from a clock that was wrong, and counts as never.
    """
    if refresh == "manual":
        return False
    if last is None or last > now:
        return True
    if interval := _INTERVAL.fullmatch(refresh):
        return now - last >= timedelta(**{_UNITS[interval[2]]: int(interval[1])})
    from croniter import croniter  # costs 30 ms to import, and most sources have an interval

    tick: datetime = croniter(refresh, last).get_next(datetime)
    return tick <= now


def refresh_mistake(refresh: str) -> str | None:
    """What is wrong with a ``refresh``, as the end of a sentence; ``None`` where it can be followed."""
    if refresh == "manual" or _INTERVAL.fullmatch(refresh):
        return None
    fields = refresh.split()
    if len(fields) != 5:
        return "is neither an interval, a cron line nor manual"
    if fields[3] == "*" and all(map(_is_plain, fields, _BOUNDS)):
        return None  # every month has such a day, so that croniter would have nothing to say
    from croniter import CroniterError, croniter  # costs 30 ms to import, and most sources have an interval

    try:
        croniter(refresh).get_next()  # a day that never comes is refused only here
    except CroniterError as error:
        return f"is no valid cron line ({error})"
    return None


def _is_plain(field: str, bounds: tuple[int, int]) -> bool:
    """Whether a cron field holds only numbers, ranges and steps that are within ``(least, most)`` and rise."""
    for part in field.split(","):
        match = _PLAIN.fullmatch(part)
        if match is None:
            return False
        numbers = [int(number) for number in match.groups() if number is not None]
        if numbers != sorted(numbers) or not all(bounds[0] <= number <= bounds[1] for number in numbers):
            return False
    return True
