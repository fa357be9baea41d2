"""Phrases that say the same in technical prose: what is folded before two wordings are compared. Pure.

Owns the table of phrases and what is written for each. Refuses to know single words (``synonyms`` does) and sentences.
Made for English; text in another language goes through unchanged.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import product

from kb_pipeline.rules.numbers import WRITTEN
from kb_pipeline.rules.polarity import UN

_FIGURE = rf"(?=\s(?:about\s)?(?:\d|(?:one|{'|'.join(WRITTEN)})\b))"
_UNDONE = r"(?! by\b)"
_UNDENIED = r"(?<!not )(?<!n't )"

# What is written in place of a phrase | the phrases; earlier rows win. ``a/b`` are alternatives, ``once?`` may be left
# out. ``#`` at the end asks for a number next, ``~`` for no ``by`` next, ``!`` in front for no negation before: ``need
# not`` is not ``must not``.
_PHRASES = """
at_least | at least | no fewer/less than | not less than | a minimum of#
at_most | at most | no more than | not more than | no longer/later/larger/greater/higher than#
at_most | a/the maximum of# | up to# | is/are limited/capped/restricted to/at#
up_to | up to
more_than | more/greater/larger/longer/higher/bigger than# | in excess of# | rises/rise/goes/climbs/is above/over#
more_than | above/over# | exceeds/exceed/exceeding#
less_than | less/fewer/smaller/shorter/lower than# | falls/fall/drops/drop/goes/is below# | below/under#
when | as soon as | every/each time | the moment | provided that | on condition that | in case | in the event that
before | prior to | ahead of | in advance of
after | subsequent to | following the/a/an
because | because of | thanks to | on the grounds of | due to | owing to | as a result of | on account of
to | in order to | so as to
with | by means of | with the help of | by using | through the use of
instead | in place of | instead of | rather than
since | as of | starting with/in/from | beginning with
until | up until
if a | if any
is | is/are set to#
can not | it is not possible to | it is impossible to | cannot | can't | is/are/be unable to | is/are not able to
can | it is possible to | is/are/be able/allowed/permitted to | is/are capable of
could not | couldn't
must not | mustn't
should not | shouldn't
must | !has/have/had/need/needs to | !is/are/be required/obliged to
and | as well as | in addition to | along/together with
such | for example/instance
several | a number of
simultaneously | at the same time
immediately | right away | straight away
manually | by hand
newest | most recent | latest
oldest | least recent
regularly | on a regular basis
causes | leads/lead/led to | results/result/resulted in | gives/give/gave rise to
usually | in most cases | as a rule | by and large
always | at all times
often | in many cases
fall | goes/go/went down
rise | goes/go/went up
return | respond/responds/reply/replies/answer/answers with
exceed | goes/go/went over
during | in/over the course of
most | the/a majority of | the bulk of
each_other | one another | each other
free | free of charge | for free
publicly | in public
sometimes | from time to time
despite | in spite of
continue | go/goes/went on | keep/keeps/kept on
postpone | put/puts off | push/pushes/pushed back
discover | find/finds/found out
cancel | call/calls/called off
establish | set/sets up
handle | deal/deals with | take/takes care of
submit | hand/hands/handed in
distribute | hand/hands/handed out
remove | get/gets rid of | do/does away with
collect | pick/picks/picked up
use | make/makes/made use of
decide | make/makes/made a decision
per_hour | on an hourly basis
per_week | on a weekly basis
per_month | on a monthly basis
per_year | on an annual/yearly basis
stop | shut/shuts down
number | how many | the number of
username | user name
filename | file name
timeout | time-out
login | log-in | sign-in
backup | back-up
website | web site
dataset | data set
lifespan | life span
runtime | run time | run-time
codebase | code base
except | apart from | except for | other than | with the exception of
from | away from
too | as well
called | known as | referred to as
is | serves/serve/served as
singly | one by one | one at a time | one after another/the other
responsible for | in charge of
about | regarding | concerning | with respect/regard to
equals | is/are equal to
is | is/are located/situated/found | can be found
now | at present | at the moment | at this time | right now | currently | presently
the | the process/presence/use of
of | of/for a period of#
email | e-mail
per_day | on a daily basis
regardless | irrespective | no matter
enabling | turning/switching on
disabling | turning/switching off
enabled | turned/switched on
disabled | turned/switched off
enable | turn/turns/switch/switches on
disable | turn/turns/switch/switches off
occurs | take/takes/took/taking/taken place | is/are held/performed~ | is/are carried out~
perform | carry/carries/carried/carrying out
comprises | consist/consists/consisting of | is/are made up of | is/are composed of
depends | is/are dependent
startup | start-up
setup | set-up
about half | around half
we | the/our system
to | is/are used to/for | serves/serve to | helps/help to
about | approximately | roughly | around#
percent | per cent
the | a total of# | in total | altogether
per_hour | hourly | once? a/an/per/each/every hour
per_day | daily | once? a/per/each/every day
per_night | nightly | once? a/per/each/every night
per_week | weekly | once? a/per/each/every week
per_quarter | quarterly | once? a/per/each/every quarter
per_month | monthly | once? a/per/each/every month
per_year | yearly | annually | annual | once? a/per/each/every year
per_second | a/per/each/every second
per_minute | a/per/each/every minute
each | per
"""


def _spellings(phrase: str) -> Iterator[str]:
    """Every spelling of a phrase of the table."""
    choices = [(*word.rstrip("?").split("/"), *("",) * word.endswith("?")) for word in phrase.strip("!#~").split()]
    return (" ".join(word for word in chosen if word) for chosen in product(*choices))


def _by_first_word(table: str) -> tuple[dict[str, str], dict[str, str]]:
    """For each first word the pattern of the phrases that begin with it, and what is written for each of its groups."""
    found: dict[str, list[str]] = {}
    written: dict[str, str] = {}
    for line in table.strip().splitlines():
        standard, *phrases = line.split(" | ")
        for phrase in phrases:
            before, after = (
                _UNDENIED * phrase.startswith("!"),
                _FIGURE * phrase.endswith("#") + _UNDONE * phrase.endswith("~"),
            )
            for spelling in _spellings(phrase):
                name = f"phrase{len(written)}"
                written[name] = standard
                pattern = rf"(?P<{name}>{before}{spelling}\b{after})"
                found.setdefault(spelling.split()[0], []).append(pattern)
    return {word: "|".join(alike) for word, alike in found.items()}, written


_STARTS, _WRITTEN_FOR = _by_first_word(_PHRASES)
_WORD = re.compile(r"[A-Za-z][\w'-]*")
_APART = re.compile(r"\b((?:turn|switch)(?:s|es|ed)?) ((?:the |a )?\w+) (on|off)\b", re.IGNORECASE)
_OLDER = {"older": "old", "taller": "tall", "wider": "wide", "deeper": "deep", "thicker": "thick"}
_MORE = re.compile(rf"\b({'|'.join(_OLDER)}) than ((?:about )?\d[\d.,]* ?\w+)", re.IGNORECASE)
_IS = re.compile(r"\b(it|that|there|who|what|where|he|she)'s\b", re.IGNORECASE)
_BOTH = re.compile(r"\bboth (?=(?:[\w-]+ ){1,4}and\b)", re.IGNORECASE)
_SIZES = {"length": "long", "width": "wide", "depth": "deep", "thickness": "thick", "age": "old"}
_SIZED = re.compile(rf"\b(?:has|have|had) an? ({'|'.join(_SIZES)}) of ((?:about )?\d[\d.,]* ?\w+)", re.IGNORECASE)
_ATTACHED = re.compile(r"(?<![\w.])(\d[\d.,]*)(?=(?:ms|s|min|h|[kKMGT]i?[bB]|%)(?:\W|$))")


@cache
def _starting(word: str) -> re.Pattern[str]:
    """The pattern of the phrases that begin with a word of the table: compiled when met, since all of them would cost
    every start of the command line 50 ms."""
    return re.compile(_STARTS[word], re.IGNORECASE)


def folded(text: str) -> str:
    """``text`` with every phrase of the table replaced by what is written for it, and a unit parted from its figure."""
    text = _MORE.sub(lambda m: f"more than {m[2]} {_OLDER[m[1].lower()]}", text)
    text = _SIZED.sub(lambda m: f"is {m[2]} {_SIZES[m[1].lower()]}", text)
    text = _BOTH.sub("", _IS.sub(r"\1 is", text))
    text = UN.sub("not ", _APART.sub(r"\1 \3 \2", _ATTACHED.sub(r"\1 ", text)))
    parts, end = [], 0
    for word in _WORD.finditer(text):
        first = word.group().lower()
        starts = _starting(first) if word.start() >= end and first in _STARTS else None
        if starts and (found := starts.match(text, word.start())):
            parts += [text[end : found.start()], _WRITTEN_FOR[found.lastgroup or ""]]
            end = found.end()
    return "".join((*parts, text[end:]))
