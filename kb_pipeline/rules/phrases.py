"""Words and phrases that say the same in technical prose: what is folded before two wordings are compared. Pure.

Owns three tables: phrases of one meaning and forms of one word that a stemmer does not see (folded always), and
synonyms (folded for whom asks, since a synonym may be none in its sentence). Refuses to know sentences. Made for
English; text in another language goes through unchanged.
"""

import re
from functools import lru_cache

import Stemmer

from kb_pipeline.rules.numbers import WRITTEN

_FIGURE = rf"(?=\s(?:about\s)?(?:\d|(?:one|{'|'.join(WRITTEN)})\b))"
_UNDENIED = r"(?<!not )(?<!n't )"

# What is written in place of a phrase | the phrases, as patterns; earlier rows win. ``#`` asks for a number next, ``!``
# for no negation before: ``need not`` is not ``must not``.
_PHRASES = """
at_least | at least | no (?:fewer|less) than | not less than | a minimum of#
at_most | at most | no more than | not more than | (?:a|the) maximum of# | up to#
up_to | up to
more_than | (?:more|greater|larger|longer|higher|bigger) than# | in excess of# | (?:rises? |goes |climbs? |is )?above#
more_than | (?:rises?|goes|climbs?) over# | exceed(?:s|ing)?#
less_than | (?:less|fewer|smaller|shorter|lower) than# | (?:falls? |drops? |goes |is )?below#
when | as soon as | every time | each time | in case
before | prior to
after | subsequent to
because | because of | due to | owing to | as a result of | on account of
to | in order to | so as to
with | by means of | with the help of | by using | through the use of
instead | in place of | instead of | rather than
since | as of | starting (?:with|in|from) | beginning with
until | up until
if a | if any
is | (?:is|are) set to#
can not | it is not possible to
can | it is possible to
can not | cannot | can't | (?:is|are|be) (?:unable|not able) to | it is impossible to
could not | couldn't
must not | mustn't
should not | shouldn't
and | as well as
such | for example | for instance
several | a number of
simultaneously | at the same time
regardless | irrespective | no matter
must | !(?:has|have|had|needs?) to | !(?:is|are|be) (?:required|obliged) to
can | (?:is|are|be) (?:able|allowed|permitted) to | (?:is|are) capable of
enabled | (?:turned|switched) on
disabled | (?:turned|switched) off
enable | (?:turns?|switch(?:es)?) on
disable | (?:turns?|switch(?:es)?) off
occurs | takes? place | took place | (?:is|are) (?:held|carried out|performed)
consists | (?:is|are) (?:made up|composed)
depends | (?:is|are) dependent
startup | start-up
setup | set-up
about | approximately | roughly | around# | (?:around|some) (?=half|a third|a quarter)
percent | per cent
the | a total of#
per_hour | hourly | (?:once )?(?:a|an|per|each|every) hour
per_day | daily | (?:once )?(?:a|per|each|every) day
per_night | nightly | (?:once )?(?:a|per|each|every) night
per_week | weekly | (?:once )?(?:a|per|each|every) week
per_month | monthly | (?:once )?(?:a|per|each|every) month
per_year | yearly | annual(?:ly)? | (?:once )?(?:a|per|each|every) year
per_second | (?:a|per|each|every) second
per_minute | (?:a|per|each|every) minute
each | per
"""
_ROWS = [
    (f"phrase{at}", cells[0], "|".join(cells[1:]).replace("#", _FIGURE).replace("!", _UNDENIED))
    for at, line in enumerate(_PHRASES.strip().splitlines())
    for cells in [[cell.strip() for cell in re.split(r" \| ", line)]]
]
_FOLDED = {name: written for name, written, _ in _ROWS}
_PHRASE = re.compile("|".join(rf"(?P<{name}>\b(?:{pattern})\b)" for name, _, pattern in _ROWS), re.IGNORECASE)

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


@lru_cache(maxsize=1 << 14)
def folded(text: str) -> str:
    """``text`` with every phrase of the table replaced by what is written for it, and a unit parted from its figure."""
    return _PHRASE.sub(lambda m: _FOLDED[m.lastgroup or ""], _ATTACHED.sub(" ", text))
