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
at_most | at most | no more than | not more than | no longer/later/larger/greater/higher than#
at_most | a/the maximum of# | up to# | is/are limited/capped/restricted to/at#
up_to | up to
more_than | more/greater/larger/longer/higher/bigger than# | in excess of# | rises/rise/goes/climbs/is above/over#
more_than | above# | exceeds/exceed/exceeding#
less_than | less/fewer/smaller/shorter/lower than# | falls/fall/drops/drop/goes/is below# | below#
when | as soon as | every/each time | in case | in the event that
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
and | as well as | in addition to | along/together with
such | for example/instance
several | a number of
simultaneously | at the same time
immediately | right away | at once | straight away
manually | by hand
newest | most recent | latest
regularly | on a regular basis
causes | leads/lead/led to | results/result/resulted in | gives/give/gave rise to
usually | in most cases | as a rule
always | at all times
often | in many cases
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
about | regarding | concerning | with respect/regard to
equals | is/are equal to
is | is/are located/situated
the | the process/presence/use of
of | of/for a period of#
email | e-mail
per_day | on a daily basis
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
program programme
license licence
practice practise
gray grey
catalog catalogue
fiber fibre
center centre
liter litre
meter metre
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
accelerate speed hasten
achieve reach attain
add introduce
additional extra further
advantage benefit
alert notify inform
allow permit let enable
almost nearly
amount quantity
answer respond reply
assign allocate
attempt try
automatically automated
avoid prevent
begin start commence launch initiate
big large
bigger larger
build construct assemble
buy purchase
calculate compute
call invoke
cause trigger
change modify alter adjust
cheap inexpensive
check verify validate confirm
choose select pick
collect gather
combine merge unite
company firm
completely fully entirely totally
connect link associate tie
contain include comprise hold
convert transform turn
costly expensive
count number
create generate produce make
crucial essential vital
delete remove erase eliminate discard purge
depend rely
describe explain
detect discover
difficult hard challenging
directory folder
disease illness
distinct separate
divide split partition
doctor physician
drawback disadvantage
drug medication medicine
easy simple straightforward
ensure guarantee
enough sufficient adequate
evaluate assess
exactly precisely
establish founded
examine inspect analyse analyze investigate
exceed surpass
fast quick rapid swift
faster quicker
faulty defective
fetch pull retrieve
finish complete end conclude
fix repair
forbid prohibit disallow ban
get obtain receive acquire
give provide offer supply
goal aim objective
gradually progressively
handle process
happen occur arise
help assist aid
higher greater
idle inactive
image picture photo
immediately instantly promptly
improve enhance
increase raise elevate rise grow climb
issue problem
job task
keep retain preserve maintain store save write persist
limit cap restrict constrain
main primary principal
mainly chiefly primarily mostly principally predominantly largely
method technique approach
monitor track
need require necessary mandatory obligatory compulsory take
oldest earliest
outcome result
own possess
previous prior
quickly rapidly swiftly
reduce lower decrease cut diminish fall decline
refuse reject
replace substitute
reside live
run execute perform conduct operate
send transmit dispatch
separately individually independently
set configure
show demonstrate display reveal indicate
simultaneously concurrently
spread distribute
staff employee personnel
stop halt terminate cease
use employ leverage consume
wrong incorrect
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
