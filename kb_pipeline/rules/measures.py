"""Figures and measures in one spelling, so that two wordings of one amount can be compared. Pure.

``two hours`` and ``120 minutes``, ``1.2 million`` and ``1,200,000``, ``half of`` and ``50% of``, ``5 pm`` and ``17:00``
become equal text. Owns the exact conversions that everybody agrees on. Refuses those that lose a digit or are disputed
(a kilobyte, an inch), and is never used for what is shown or proven: figures stand there as their source has them.
"""

import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from kb_pipeline.rules.numbers import WRITTEN

_TENS = {word: value for word, value in WRITTEN.items() if word.endswith("ty")}
_DIGITS = {"one": "1"} | {word: value for word, value in WRITTEN.items() if len(value) == 1}
_MAGNITUDES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12}
_MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september"]
_MONTHS += ["october", "november", "december"]

# Unit | its spellings | the unit that it is written as | how many of those it is.
_UNITS = """
ms | ms msec millisecond milliseconds | ms | 1
s | s sec secs second seconds | ms | 1000
min | min mins minute minutes | ms | 60000
h | h hr hrs hour hours | ms | 3600000
day | day days | ms | 86400000
week | week weeks | ms | 604800000
month | month months | month | 1
year | year years | month | 12
mm | mm millimetre millimetres millimeter millimeters | mm | 1
cm | cm centimetre centimetres centimeter centimeters | mm | 10
m | m metre metres meter meters | mm | 1000
km | km kilometre kilometres kilometer kilometers | mm | 1000000
mg | mg milligram milligrams | mg | 1
g | gram grams gramme grammes | mg | 1000
kg | kg kilogram kilograms kilo kilos | mg | 1000000
ml | ml mL millilitre millilitres milliliter milliliters | ml | 1
l | litre litres liter liters | ml | 1000
KB | KB kilobyte kilobytes | KB | 1
MB | MB megabyte megabytes | MB | 1
GB | GB gigabyte gigabytes | GB | 1
TB | TB terabyte terabytes | TB | 1
Hz | Hz hertz | Hz | 1
kHz | kHz kilohertz | Hz | 1000
MHz | MHz megahertz | Hz | 1000000
GHz | GHz gigahertz | Hz | 1000000000
V | V volt volts | V | 1
W | W watt watts | W | 1
kW | kW kilowatt kilowatts | W | 1000
"""
_CURRENCIES = {"$": "dollars", "€": "euros", "£": "pounds", "USD": "dollars", "EUR": "euros", "GBP": "pounds"}
_ORDINALS = {
    "fourth": "4th",
    "fifth": "5th",
    "sixth": "6th",
    "seventh": "7th",
    "eighth": "8th",
    "ninth": "9th",
    "tenth": "10th",
}
_MEASURE = {
    spelling: (written, int(factor))
    for line in _UNITS.strip().splitlines()
    for _, spellings, written, factor in [[cell.strip() for cell in line.split("|")]]
    for spelling in spellings.split()
}
_NUM = r"(?<![\w.,/-])(?<!\d to )(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
_SPAN = "second|minute|hour|day|week|month|year"
_SINGLE = r"for|within|after|in|under|than|about|takes?|took|lasts?|least|most|of|by"


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


def _scaled(number: str, factor: int) -> str:
    return format((Decimal(number.replace(",", "")) * factor).normalize(), "f")


def _measured(m: re.Match[str]) -> str:
    written, factor = _MEASURE[m["unit"]]
    return f"{_scaled(m['number'], factor)} {written}"


def _paid(m: re.Match[str]) -> str:
    return f"{m['number']} {_CURRENCIES[m['currency'].upper()]}"


def _clock(m: re.Match[str]) -> str:
    hour = int(m[1]) % 12 + (12 if m[3].lower() == "p" else 0)
    return f"{hour:02}:{m[2] or '00'}"


def _date(day: str, month: str, year: str) -> str:
    return f"{year}-{_MONTHS.index(month.lower()) + 1:02}-{int(day):02}"


_SPELLED = "|".join(sorted(_MEASURE, key=len, reverse=True))
_NAMED = "|".join(_MONTHS)
_MAGNITUDE = rf"(?P<magnitude>{'|'.join(_MAGNITUDES)})s?\b"


class _Rule(NamedTuple):
    """What is sought, what is written in its place, and whether it takes a number in words to be there."""

    sought: re.Pattern[str]
    written: str | Callable[[re.Match[str]], str]
    spoken: bool = False


def _spoken(text: str, written: str | Callable[[re.Match[str]], str]) -> _Rule:
    return _Rule(_pattern(text), written, spoken=True)


def _figured(text: str, written: str | Callable[[re.Match[str]], str]) -> _Rule:
    return _Rule(_pattern(text), written)


_RULES = [
    _spoken(
        rf"\b({'|'.join(_TENS)})[- ]({'|'.join(_DIGITS)})\b",
        lambda m: str(int(_TENS[m[1].lower()]) + int(_DIGITS[m[2].lower()])),
    ),
    _spoken(rf"\b({'|'.join(WRITTEN)})\b", lambda m: WRITTEN[m[1].lower()]),
    _spoken(rf"\b(?:an?|one) (?={_MAGNITUDE})", "1 "),
    _spoken(rf"\bone (?=(?:{_SPAN})\b)", "1 "),
    _spoken(rf"\b({_SINGLE}) an? (?=(?:{_SPAN})\b)", r"\1 1 "),
    _spoken(r"\b(?:half an hour|half-hour)\b", "30 minutes"),
    _spoken(r"\ba quarter of an hour\b", "15 minutes"),
    _spoken(r"\b(?:half a year|half-year)\b", "6 months"),
    _spoken(rf"(?<!-)\b({'|'.join(_ORDINALS)})\b(?! of)", lambda m: _ORDINALS[m[1].lower()]),
    _spoken(r"\ba couple of\b", "2"),
    _figured(r"(?<![\w.])(\d+(?:\.\d+)?)k(?= [a-z])", lambda m: _scaled(m[1], 1000)),
    _spoken(rf"{_NUM} {_MAGNITUDE}", lambda m: _scaled(m["number"], _MAGNITUDES[m["magnitude"].lower()])),
    _figured(r"\b(?:every|each) (?:24 hours|1 day)\b", "every day"),
    _figured(r"\b(?:every|each) (?:60 minutes|1 hour)\b", "every hour"),
    _figured(r"\b(?:every|each) (?:60 seconds|1 minute)\b", "every minute"),
    _figured(r"\b(?:every|each) (?:7 days|1 week)\b", "every week"),
    _spoken(r"\b3 quarters? of\b", "75% of"),
    _spoken(r"\b(?:a|one|1) quarter of\b", "25% of"),
    _spoken(r"\b(?:one )?half(?: of)? (?=(?:the|all|its|their|of)\b)", "50% of "),
    _spoken(r"\b(?:in|by) half\b", "by 50%"),
    _figured(r"\b(1[0-2]|0?[1-9])(?::([0-5]\d))? ?([ap])\.?m\b\.?", _clock),
    _figured(r"(?<![\d:])(\d):([0-5]\d)(?![\d:])", r"0\1:\2"),
    _spoken(r"\b(?<=at )midnight\b", "00:00"),
    _spoken(r"\b(?<=at )noon\b", "12:00"),
    _figured(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_NAMED}),? (\d{{4}})\b", lambda m: _date(m[1], m[2], m[3])),
    _figured(rf"\b({_NAMED}) (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})\b", lambda m: _date(m[2], m[1], m[3])),
    _Rule(re.compile(rf"\b({_NAMED.title()}) (\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)"), r"\2 \1"),
    _Rule(re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?({_NAMED.title()})\b"), r"\1 \2"),
    _figured(r"(?<=\d) ?(?:percent|per cent)\b", "%"),
    _figured(r"(?<=\d) ?degrees? (?:celsius|C)\b", " °C"),
    _figured(r"\bbetween (\d[\d.,]*%?) and (\d)", r"\1 to \2"),
    _figured(r"\b(\d[\d.,]*) or more\b", r"at least \1"),
    _figured(r"\b(\d[\d.,]*) or (?:fewer|less)\b", r"at most \1"),
    _Rule(re.compile(rf"(?P<currency>[$€£]|\b(?:USD|EUR|GBP)) ?{_NUM}"), _paid),
    _Rule(re.compile(rf"{_NUM} ?(?P<currency>[$€£]|(?:USD|EUR|GBP)\b)"), _paid),
    _Rule(re.compile(rf"{_NUM}[ -]?(?P<unit>{_SPELLED})(?![\w/])"), _measured),
]


@lru_cache(maxsize=1 << 15)
def plain(text: str) -> str:
    """``text`` with its figures and measures in one spelling."""
    spoken = _SPOKEN.search(text) is not None
    if not spoken and _DIGIT.search(text) is None:
        return text
    for rule in _RULES if spoken else _RULES_OF_DIGITS:
        text = rule.sought.sub(rule.written, text)
    return text


_RULES_OF_DIGITS = [rule for rule in _RULES if not rule.spoken]
_DIGIT = re.compile(r"\d")
_NUMBER_WORDS = "|".join([*WRITTEN, *_ORDINALS])
_SPOKEN = _pattern(rf"\b(?:half|quarter|noon|midnight|couple|{_NUMBER_WORDS}|{_MAGNITUDE}|(?:an?|one) (?:{_SPAN})\b)")
