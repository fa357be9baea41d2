"""The step from candidate to live: promotes what passed the evaluation, holds back what did not."""

from typing import cast

from kb_pipeline.records import EvalResult
from kb_pipeline.rules.metrics import gate
from kb_pipeline.world import Changes, Inputs, Output, Previous, World


def run(changes: Changes, inputs: Inputs, previous: Previous, world: World) -> Output:
    """Promote the candidate generation that the evaluation let pass; until then readers keep the last good one."""
    candidate, live, pinned = world.index.candidate(), world.index.live(), world.index.pinned()
    if candidate is None or candidate == live:
        return Output(version=live or "none", details={"live": live})
    if pinned is not None and pinned == (live, candidate):
        return Output(version=str(live), warnings=(f"{live} is pinned by a rollback until the inputs change.",))
    results = [r for r in cast(tuple[EvalResult, ...], inputs.records("eval", "results")) if r.generation == candidate]
    if not results:
        return Output(version=live or "none", warnings=(f"{candidate} was not evaluated: it is held back.",))
    verdict = gate(results[-1], world.settings.options)
    if not verdict.passed:
        held = f"{candidate} is held back: {'; '.join(verdict.reasons)}. Readers are served by {live or 'nothing yet'}."
        return Output(version=live or "none", warnings=(held,), details={"live": live, "candidate": candidate})
    world.index.promote(candidate)
    return Output(version=candidate, kept=0, warnings=verdict.reasons, details={"live": candidate})
