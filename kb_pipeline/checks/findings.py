"""How a check states what it found. Knows no check."""

from collections.abc import Sequence

from kb_pipeline.records import Finding

_SHOWN = 20


def finding(
    stage: str, check: str, sentence: str, offenders: Sequence[str], cure: str, *, blocking: bool = True
) -> Finding:
    """A finding that holds where there is no offender; the first 20 are shown, all are counted."""
    return Finding(
        stage=stage,
        check=check,
        ok=not offenders,
        blocking=blocking,
        message=sentence if not offenders else f"{len(offenders)} do not hold: {sentence}",
        cure="" if not offenders else cure,
        count=len(offenders),
        offenders=tuple(offenders[:_SHOWN]),
    )
