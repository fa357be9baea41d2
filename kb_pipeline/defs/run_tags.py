"""The tags that our runs carry, in one place: what was asked, by whom, and how. Knows no run."""

from kb_pipeline.api import Stale

FULL = "kb/full"  # trust no stat and no stamp
ACCEPT_DELETIONS = "kb/accept-deletions"  # a person confirmed a sudden loss
ASKS = "kb/asks"  # the signature of what exactly was asked, so that what failed on it is known
REASON = "kb/reason"  # why it was asked, in words
PROCESS = "kb/process"  # the process of a `kb build`; the daemon's runs tell theirs by their events


def signature(stale: Stale, what: str) -> str:
    """What exactly is asked of a source, or of ``compile``, in a length that fits a list of runs."""
    return stale.asks[what][:16]


def asked(stale: Stale, what: str) -> dict[str, str]:
    """The tags of a run that is asked for a source, or for ``compile``."""
    reason = stale.sources[what] if what in stale.sources else ": ".join(next(iter(stale.stages.items())))
    return {ASKS: signature(stale, what), REASON: reason}
