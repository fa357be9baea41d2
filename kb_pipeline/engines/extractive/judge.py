"""Judging close pairs without a model.

What code can account for word by word the rules have merged before anybody is asked; so here nothing is merged, and
what is close beyond that goes to a person.
"""

from collections.abc import Sequence

from kb_pipeline.records import Pair, Verdict
from kb_pipeline.rules.decisions import REVIEW, score


def judge_pairs(pairs: Sequence[Pair]) -> list[Verdict]:
    """One verdict a pair, in order: keep both, for review where close."""
    return [_judge(pair) for pair in pairs]


def _judge(pair: Pair) -> Verdict:
    if not pair.guard and score(pair.cosine, pair.ratio) >= REVIEW:
        return Verdict(decision="keep_both", reason="close, but not in the same words", needs_review=True)
    return Verdict(decision="keep_both", reason="related, but not the same statement")
