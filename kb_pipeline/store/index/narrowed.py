"""What one request sees of a generation who may read some sources alone. Knows no principal and no token.

What such a reader may not see is masked for him like a document that is gone: rows whose own words came from there do
not exist in search, count or SQL, and of rows that several sources cite only his own citations are shown. A page is
written from all that it cites, so it is shown to whoever may see all of that.
"""

from functools import cached_property

from kb_pipeline.records import Row
from kb_pipeline.store.index.opened import Generation
from kb_pipeline.store.index.scan import Flags
from kb_pipeline.store.index.snapshot import LocalSnapshot


class NarrowedSnapshot(LocalSnapshot):
    """One generation under one mask, with every document outside of ``sources`` hidden too."""

    def __init__(self, generation: Generation, masked: frozenset[str], embedder: str, sources: frozenset[str]) -> None:
        docs = generation.cited.documents + generation.originated.documents
        self._outside = frozenset(doc for doc in docs if doc.partition("/")[0] not in sources)
        super().__init__(generation, masked | self._outside, embedder)

    @cached_property
    def _visible(self) -> Flags:
        """A row must have an origin that may be seen; one without any document is nobody's to see."""
        owned = self._all.originated
        seen = owned.touching(frozenset(owned.documents) - self._masked)
        return self._all.live & seen & ~(self._written & self._all.cited.touching(self._masked))

    def _shown(self, row: Row) -> Row:
        """A row with his own citations, and as many confirmations as he can see at most."""
        seen = super()._shown(row)
        return seen.model_copy(update={"confirmations": min(seen.confirmations, len(seen.docs))})
