"""The knowledge base as a Dagster resource."""

from pathlib import Path

import dagster as dg

from kb_pipeline.api import KnowledgeBase, find_root, shared


class KbResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Opens the knowledge base below ``root``; settings are read anew at each opening."""

    root: str = ""

    def open(self) -> KnowledgeBase:
        """The knowledge base with the settings as they are now."""
        return shared(Path(self.root) if self.root else find_root(Path.cwd()))
