"""Judging close pairs without a model.

Owns a small list of verbs and adverbs that say the same in technical prose. Refuses to merge what it cannot account
for word by word: what is close beyond that goes to a person.
"""

from collections.abc import Sequence

import Stemmer

from kb_pipeline.records import Pair, Verdict
from kb_pipeline.rules.decisions import REVIEW, score
from kb_pipeline.rules.wording import same_words

MERGE = 0.93
"""Least cosine of a merge over synonyms: higher than for equal words, since a synonym may be none in its sentence."""

_SYNONYMS = """
run execute
use employ utilize utilise
begin start commence
show demonstrate
delete remove
reduce lower decrease cut
increase raise
fast quick rapid
quickly rapidly
big large
approximately roughly
mainly chiefly primarily mostly
need require
allow permit let
keep retain
contain hold
answer respond
stop halt
fix repair
buy purchase
build construct
"""
_stem = Stemmer.Stemmer("english").stemWord
_ALIKE = {_stem(word): _stem(row.split()[0]) for row in _SYNONYMS.strip().splitlines() for word in row.split()}


def judge_pairs(pairs: Sequence[Pair]) -> list[Verdict]:
    """One verdict a pair, in order: merge where only synonyms differ, keep both elsewhere, for review where close."""
    return [_judge(pair) for pair in pairs]


def _judge(pair: Pair) -> Verdict:
    a, b = pair.a.statement, pair.b.statement
    if not pair.guard and pair.cosine >= MERGE and same_words(a, b, _ALIKE):
        return Verdict(decision="merge", reason="only synonyms differ, in the same roles")
    if not pair.guard and score(pair.cosine, pair.ratio) >= REVIEW:
        return Verdict(decision="keep_both", reason="close, but not in the same words", needs_review=True)
    return Verdict(decision="keep_both", reason="related, but not the same statement")
