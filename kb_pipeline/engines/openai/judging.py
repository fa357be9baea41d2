"""Judging close pairs by a model: one pair a question. Owns which side is shown as new; merges nothing."""

import json
from collections.abc import Sequence

from kb_pipeline.engines.openai.failing import words_of
from kb_pipeline.engines.openai.replies import DecisionReply
from kb_pipeline.errors import ModelError
from kb_pipeline.prompts import render
from kb_pipeline.records import Ask, Pair, Side, Verdict
from kb_pipeline.world import ChatClient

_ONLY = 1  # the one candidate's number


def judge(pairs: Sequence[Pair], client: ChatClient) -> list[Verdict]:
    """One verdict a pair, in order; a pair that the model cannot judge is kept apart, for review.

    Raises ``ModelError`` where the endpoint cannot be reached: no decision is then recorded.
    """
    replies = client.ask([ask(pair) for pair in pairs], DecisionReply)
    return [_verdict(pair, reply) for pair, reply in zip(pairs, replies, strict=True)]


def ask(pair: Pair) -> Ask:
    """The question about one pair: content only, the candidate named by its number."""
    new, existing = (pair.a, pair.b) if newer_side(pair) == "a" else (pair.b, pair.a)
    shown = render("judge", new=_shown(new), existing=f"{_ONLY}: {_shown(existing)}")
    return Ask(task="judge", version=shown.version, system=shown.system, user=shown.user, max_tokens=512)


def newer_side(pair: Pair) -> str:
    """The side shown as new: the one with the later date where both have one, else the second by its content."""
    if pair.a.effective_date and pair.b.effective_date and pair.a.effective_date != pair.b.effective_date:
        return "a" if pair.a.effective_date > pair.b.effective_date else "b"
    return "b" if pair.a.statement <= pair.b.statement else "a"


def _shown(side: Side) -> str:
    fields = side.model_dump(include={"statement", "detail", "context", "entities", "item_type"})
    return json.dumps({**fields, "entities": sorted(side.entities)}, ensure_ascii=False, sort_keys=True)


def _verdict(pair: Pair, reply: DecisionReply | ModelError) -> Verdict:
    if isinstance(reply, ModelError):
        return Verdict(decision="keep_both", reason=words_of(reply), needs_review=True)
    if reply.decision != "keep_both" and reply.target_id != _ONLY:
        reason = f"the model named candidate {reply.target_id}, which there is not: {reply.reason}"
        return Verdict(decision="keep_both", reason=reason, needs_review=True)
    return Verdict(decision=reply.decision, reason=" ".join(reply.reason.split())[:300])
