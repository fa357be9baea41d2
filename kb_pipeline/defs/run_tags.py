"""The tags that our runs carry, in one place: what was asked, by whom, and how. Knows no run."""

FULL = "kb/full"  # trust no stat and no stamp
ACCEPT_DELETIONS = "kb/accept-deletions"  # a person confirmed a sudden loss
ASKS = "kb/asks"  # the signature of what exactly was asked, so that what failed on it is known
REASON = "kb/reason"  # why it was asked, in words
PROCESS = "kb/process"  # the process of a `kb build`; the daemon's runs tell theirs by their events
