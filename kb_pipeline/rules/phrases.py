"""Words and phrases that say the same in technical prose: what is folded before two wordings are compared. Pure.

Owns three tables: phrases of one meaning and forms of one word that a stemmer does not see (folded always), and
synonyms (folded for whom asks, since a synonym may be none in its sentence). Refuses to know sentences. Made for
English; text in another language goes through unchanged.
"""

import re
from collections.abc import Iterator
from itertools import product

import Stemmer

from kb_pipeline.rules.numbers import WRITTEN

_FIGURE = rf"(?=\s(?:about\s)?(?:\d|(?:one|{'|'.join(WRITTEN)})\b))"
_UNDENIED = r"(?<!not )(?<!n't )"

# What is written in place of a phrase | the phrases; earlier rows win. ``a/b`` are alternatives, ``once?`` may be left
# out. ``#`` at the end asks for a number next, ``!`` in front for no negation before: ``need not`` is not ``must not``.
_PHRASES = """
at_least | at least | no fewer/less than | not less than | a minimum of#
at_most | at most | no more than | not more than | a/the maximum of# | up to#
up_to | up to
more_than | more/greater/larger/longer/higher/bigger than# | in excess of# | rises/rise/goes/climbs/is above/over#
more_than | above# | exceeds/exceed/exceeding#
less_than | less/fewer/smaller/shorter/lower than# | falls/fall/drops/drop/goes/is below# | below#
when | as soon as | every/each time | in case
before | prior to
after | subsequent to
because | because of | due to | owing to | as a result of | on account of
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
and | as well as
such | for example/instance
several | a number of
simultaneously | at the same time
regardless | irrespective | no matter
enabled | turned/switched on
disabled | turned/switched off
enable | turn/turns/switch/switches on
disable | turn/turns/switch/switches off
occurs | take/takes/took place | is/are held/performed | is/are carried out
consists | is/are made up | is/are composed
depends | is/are dependent
startup | start-up
setup | set-up
about half | around half
about | approximately | roughly | around#
percent | per cent
the | a total of#
per_hour | hourly | once? a/an/per/each/every hour
per_day | daily | once? a/per/each/every day
per_night | nightly | once? a/per/each/every night
per_week | weekly | once? a/per/each/every week
per_month | monthly | once? a/per/each/every month
per_year | yearly | annually | annual | once? a/per/each/every year
per_second | a/per/each/every second
per_minute | a/per/each/every minute
each | per
"""


def _spellings(phrase: str) -> Iterator[str]:
    """Every spelling of a phrase of the table."""
    choices = [(*word.rstrip("?").split("/"), *("",) * word.endswith("?")) for word in phrase.strip("!#").split()]
    return (" ".join(word for word in chosen if word) for chosen in product(*choices))


def _by_first_word(table: str) -> tuple[dict[str, re.Pattern[str]], dict[str, str]]:
    """For each first word the pattern of the phrases that begin with it, and what is written for each of its groups."""
    found: dict[str, list[str]] = {}
    written: dict[str, str] = {}
    for line in table.strip().splitlines():
        standard, *phrases = line.split(" | ")
        for phrase in phrases:
            before, after = _UNDENIED * phrase.startswith("!"), _FIGURE * phrase.endswith("#")
            for spelling in _spellings(phrase):
                name = f"phrase{len(written)}"
                written[name] = standard
                pattern = rf"(?P<{name}>{before}{spelling}\b{after})"
                found.setdefault(spelling.split()[0], []).append(pattern)
    return {word: re.compile("|".join(alike), re.IGNORECASE) for word, alike in found.items()}, written


_STARTS, _WRITTEN_FOR = _by_first_word(_PHRASES)
_WORD = re.compile(r"[A-Za-z][\w'-]*")
_ATTACHED = re.compile(r"(?<=\d)(?=(?:ms|s|min|h|[kKMGT]i?[bB]|%)(?:\W|$))")

# Forms of one word that a stemmer does not see; those of one row count as the row's first.
_FORMS = """
begin began begun
bring brought
build built
break broke broken
catch caught
choose chose chosen
come came
drive drove driven
fail failure
fall fell fallen
feed fed
find found
forbid forbade forbidden
freeze froze frozen
get got gotten
give gave given
go goes went gone
grow grew grown growth
hide hid hidden
hold held
keep kept
know knew known
lead led
leave left
lose lost loss
make made
mean meant
pay paid
rise rose risen
run ran
say said
see saw seen
sell sold
send sent
show showed shown
shrink shrank shrunk
speak spoke spoken
spend spent
stand stood
store storage
take took taken
teach taught
tell told
think thought
throw threw thrown
use usage utilize utilise
understand understood
win won
write wrote written
percent %
second s sec
millisecond ms
minute min
hour h hr
kilobyte kb
megabyte mb
gigabyte gb
terabyte tb
administrator admin
application app
average avg
configuration config
database db
documentation docs
environment env
identifier id
information info
javascript js
kubernetes k8s
maximum max
postgres postgresql
repository repo
specification spec
typescript ts
"""

# Words that say the same in technical prose, in nearly every sentence; no word stands in two rows.
_SYNONYMS = """
run execute
use employ
begin start commence launch
show demonstrate display
delete remove erase eliminate
reduce lower decrease cut diminish
increase raise elevate rise grow
fast quick rapid
quickly rapidly
big large
mainly chiefly primarily mostly principally
need require
allow permit let
keep retain preserve
contain hold include comprise
answer respond reply
send transmit dispatch
stop halt
fix repair
buy purchase
construct assemble
create generate produce
change modify alter
add introduce
fetch pull retrieve
get obtain receive
limit cap restrict
choose select pick
cause trigger
help assist
forbid prohibit disallow
reject refuse
verify check validate
examine inspect
combine merge
divide split partition
convert transform turn
call invoke
set configure
finish complete end
improve enhance
store save write
automatically automated
separate distinct
crucial essential vital
cheap inexpensive
costly expensive
difficult hard
easy simple
further additional extra
wrong incorrect
directory folder
staff employee
physician doctor
drug medication medicine
illness disease
"""


def _rows(table: str) -> dict[str, str]:
    """Every word of a row mapped to the row's first."""
    return {word: row.split()[0] for row in table.strip().splitlines() for word in row.split()}


FORMS = _rows(_FORMS)
"""A word to the form that it counts as."""
_stem = Stemmer.Stemmer("english").stemWord
SYNONYMS = {_stem(word): _stem(first) for word, first in _rows(_SYNONYMS).items()}
"""A stem to the stem that it counts as where synonyms are folded."""


def folded(text: str) -> str:
    """``text`` with every phrase of the table replaced by what is written for it, and a unit parted from its figure."""
    text = _ATTACHED.sub(" ", text)
    parts, end = [], 0
    for word in _WORD.finditer(text):
        starts = _STARTS.get(word.group().lower()) if word.start() >= end else None
        if starts and (found := starts.match(text, word.start())):
            parts += [text[end : found.start()], _WRITTEN_FOR[found.lastgroup or ""]]
            end = found.end()
    return "".join((*parts, text[end:]))
