"""Whether readers are served, and from what."""

from kb_pipeline.records import Finding
from kb_pipeline.world import Changes, Inputs, World


def run(changes: Changes, inputs: Inputs, world: World) -> Finding:
    """Readers are served by the newest generation."""
    live, candidate = world.index.live(), world.index.candidate()
    ok = live is not None and live == candidate
    message = f"{live or 'nothing'} is live" + ("" if ok else f"; {candidate or 'nothing'} is the newest")
    cure = "" if ok else "See `kb eval` for why it is held back, or `kb status` for a rollback."
    return Finding(check="readers_are_served", stage="live", ok=ok, blocking=False, message=message, cure=cure)
