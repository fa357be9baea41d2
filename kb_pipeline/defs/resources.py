"""The knowledge base as a Dagster resource."""

from pathlib import Path

import dagster as dg

from kb_pipeline.api import KnowledgeBase, find_root, shared


class KbResource(dg.ConfigurableResource[KnowledgeBase]):
    """Opens the knowledge base at ``root``: by default the one of the working folder, where ``dagster.yaml`` lies."""

    root: str = ""

    def open(self) -> KnowledgeBase:
        """The knowledge base with the settings as they are now."""
        return shared(Path(self.root) if self.root else find_root(Path.cwd()))
