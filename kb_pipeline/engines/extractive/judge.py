"""Judging close pairs without a model.

Owns how close two statements must be before synonyms count. Refuses to merge what it cannot account for word by word:
what is close beyond that goes to a person.
"""

from collections.abc import Sequence

from kb_pipeline.records import Pair, Verdict
from kb_pipeline.rules.decisions import REVIEW, score
from kb_pipeline.rules.phrases import SYNONYMS
from kb_pipeline.rules.roles import same_words

MERGE = 0.9
"""Least cosine of a merge over synonyms, which may be none in their sentence; the true ones begin at .926 in
``samples/pairs.jsonl``."""


def judge_pairs(pairs: Sequence[Pair]) -> list[Verdict]:
    """One verdict a pair, in order: merge where only synonyms differ, keep both elsewhere, for review where close."""
    return [_judge(pair) for pair in pairs]


def _judge(pair: Pair) -> Verdict:
    a, b = pair.a.statement, pair.b.statement
    if not pair.guard and pair.cosine >= MERGE and same_words(a, b, SYNONYMS):
        return Verdict(decision="merge", reason="only synonyms differ, in the same roles")
    if not pair.guard and score(pair.cosine, pair.ratio) >= REVIEW:
        return Verdict(decision="keep_both", reason="close, but not in the same words", needs_review=True)
    return Verdict(decision="keep_both", reason="related, but not the same statement")
