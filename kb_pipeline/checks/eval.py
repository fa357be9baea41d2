"""Whether the candidate may go live."""

from typing import cast

from kb_pipeline.records import EvalResult, Finding
from kb_pipeline.rules.metrics import gate
from kb_pipeline.world import Changes, Inputs, World


def run(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """The candidate's measures are over their floors and did not fall by more than the tolerance."""
    results = cast(tuple[EvalResult, ...], inputs.records("eval", "results"))
    if not results:
        return Finding(check="candidate_may_go_live", stage="eval", ok=False, blocking=True, message="Not evaluated.")
    verdict = gate(results[-1], world.settings.options)
    overall = results[-1].metrics.get("all", {})
    measured = ", ".join(f"{name} {value:g}" for name, value in overall.items())
    reasons = "; ".join(verdict.reasons)
    return Finding(
        check="candidate_may_go_live",
        stage="eval",
        ok=verdict.passed,
        blocking=True,
        message=f"{results[-1].generation}: {measured}" + (f" ({reasons})" if reasons else ""),
        cure="" if verdict.passed else "See `kb eval`; readers keep the last good generation until the inputs change.",
        count=0 if verdict.passed else len(verdict.reasons),
        offenders=() if verdict.passed else verdict.reasons,
    )
