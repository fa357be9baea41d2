"""The verbs of upkeep: what has grown old, and the nightly sweep that decides old pairs anew."""

from kb_pipeline.api.session import Session
from kb_pipeline.records import Staleness
from kb_pipeline.runner.sweeping import report, sweep


class Sweeping(Session):
    """Keeping a knowledge base true while nobody edits it."""

    def staleness(self) -> Staleness:
        """What has grown old or loose by now: sources, proofs, links, tags, categories. Changes nothing."""
        return report(self._run())

    def sweep(self) -> Staleness:
        """Decide every pair of drafts anew and write ``kb/logs/staleness.json``. What comes out otherwise is published
        by the next build. Waits for the build lease."""
        self.kb.check_schema()
        with self.lease("kb sweep"):
            return sweep(self._run(full=True))
