"""Negation and opposite words: what turns a sentence round while most of its words stay. Pure.

Small curated lists of English, made for guarding a merge: a false alarm keeps two items apart, which does no harm.
"""

import re
from functools import lru_cache

# "nor" is left out: it always stands beside another negation that is counted.
UN = re.compile(
    r"\bun(?=(?:known|used|changed|read|supported|available|reachable|defined|specified|set|signed|encrypted|ordered"
    r"|sorted|authori[sz]ed|authenticated|affected|necessary|seen|paid|tested|verified|modified|touched|trusted)\b)",
    re.IGNORECASE,
)
"""What says ``not`` within a word: ``unknown`` denies what ``not known`` denies."""
_BOUND = r"(?:more|less|fewer|later|earlier|longer|larger|greater|higher) than\b"  # ``no more than 5`` denies nothing
_NEGATION = re.compile(
    rf"\b(?:not(?! only\b| {_BOUND})|cannot|never|without|neither|none|nobody|nothing|nowhere|no(?![.\w-]| {_BOUND})"
    r"|lacks?|lacked|lacking|unable|fail(?:s|ed|ing)? to|yet to|non(?=-[a-z]))\b|n['’]t\b",
    re.IGNORECASE,
)

# Each row: what one side says | what the other says, as beginnings of words; a final $ ends the word.
_OPPOSITES = """
increas rais rise$ rises$ rising$ grow$ grows$ grew$ higher elevat | decreas reduc lower declin drop$ drops$ shrink
enabl | disabl
activat | deactivat inactivat
promot stimulat induc | inhibit suppress prevent block$ blocks$ blocked$
upregulat up-regulat | downregulat down-regulat
overexpress | underexpress
before | after
above | below
up$ upward | down$ downward
over$ exceed | under$
more$ | less$ fewer$
most$ | least$
maxim | minim
larger$ bigger$ | smaller$
larg high$ | small low$
longer$ | shorter$
faster$ | slower$
fast$ quick | slow$ slowly$
better$ improv | worse$ worsen degrad
strong | weak
allow permit accept | forbid prohibit deny denies reject disallow
add$ adds$ added$ attach insert | remov delet detach
start begin | stop$ stops$ stopped$ end$ ends$ finish
open$ opens$ opened$ | close$ closes$ closed$
first$ | last$
early earlier | late$ later$
positive | negative
true$ | false$
success succeed | fail
presen | absen
internal | external
with$ | without$
always$ | never$ sometimes$
required$ mandatory | optional
valid$ | invalid
safe$ | unsafe
supported$ | unsupported$ deprecated$
mutable$ | immutable
synchronous sync$ | asynchronous async$
encod encrypt serializ | decod decrypt deserializ
compress | decompress
read$ reads$ reading$ | write$ writes$ writing$ written$
input | output
client | server
upper$ | lower$
left$ | right$
old$ older$ | new$ newer$
gain$ gains$ | loss$ losses$ lose
acute | chronic
benign | malignant
hyper | hypo
import$ imports$ | export
push | pull$ pulls$
on$ | off$
in$ into$ | out$
"""
_SIDES = {
    beginning: (row, side)
    for row, line in enumerate(_OPPOSITES.strip().splitlines())
    for side, listed in enumerate(line.split("|"))
    for beginning in listed.split()
}
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
_SHORTEST, _LONGEST = min(map(len, _SIDES)), max(map(len, _SIDES))


@lru_cache(maxsize=1 << 15)
def negated(text: str) -> bool:
    """Whether ``text`` negates an odd number of times (``not unable`` cancels out; ``not only`` negates nothing)."""
    return (len(_NEGATION.findall(text)) + len(UN.findall(text))) % 2 == 1


def antonyms(a: str, b: str) -> bool:
    """Whether one text holds only one side of a pair of opposites and the other text only the other side."""
    ours, theirs = _sides(a), _sides(b)
    return any(
        (row, 1 - side) in theirs and (row, 1 - side) not in ours and (row, side) not in theirs for row, side in ours
    )


@lru_cache(maxsize=1 << 15)
def _sides(text: str) -> frozenset[tuple[int, int]]:
    """The row and side of every word of ``text`` that has an opposite; a whole word is known before its beginnings."""
    return frozenset(filter(None, map(_side, _WORD.findall(text.lower()))))


@lru_cache(maxsize=1 << 15)
def _side(word: str) -> tuple[int, int] | None:
    beginnings = (word[:n] for n in range(min(len(word), _LONGEST), _SHORTEST - 1, -1))
    return _SIDES.get(f"{word}$") or next((_SIDES[b] for b in beginnings if b in _SIDES), None)
