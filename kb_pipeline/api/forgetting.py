"""The verbs of forgetting: a person's right to have a document erased, and to have it back."""

from kb_pipeline.api.session import Session
from kb_pipeline.errors import KbError
from kb_pipeline.records import PurgeReport
from kb_pipeline.runner.purging import purge, readmit


class Forgetting(Session):
    """Erasing for good."""

    def purge(self, doc_id: str) -> PurgeReport:
        """Erase a document and every trace of its words: original, text, kept versions, chunks, drafts, replies,
        decisions, items and their history, every retained generation, questions, vectors, logs.

        It does not come back from an original that is still there, until ``readmit``. Waits for the build lease. Git
        remembers what was committed before: that is its owner's to rewrite. Raises ``NotFound`` where nothing is known
        of it, ``KbError`` (code ``usage``) for an item.
        """
        if doc_id.startswith("kb_") or "/" not in doc_id:
            cure = "Name a document as `kb show` does: source/path."
            raise KbError("is no document.", where=doc_id, cure=cure, code="usage")
        self.kb.check_schema()
        with self.lease("kb purge"):
            return purge(self._run(), doc_id)

    def readmit(self, doc_id: str) -> bool:
        """Let a purged document be read again by the next build; whether it had been purged."""
        with self.lease("kb purge"):
            return readmit(self._run(), doc_id)
