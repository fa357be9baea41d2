"""The knowledge base, which faces and Dagster speak to alone; nothing here knows a face.

Every verb reads the settings as they are now, so an edited ``sources.yaml`` needs no restart.
"""

from pathlib import Path

from kb_pipeline import settings as settings_
from kb_pipeline.api.access import Admitting
from kb_pipeline.api.building import Building
from kb_pipeline.api.forgetting import Forgetting
from kb_pipeline.api.looking_up import LookingUp
from kb_pipeline.api.rewording import Rewording
from kb_pipeline.api.sweeping import Sweeping
from kb_pipeline.sources import check_types


class KnowledgeBase(Building, Sweeping, Forgetting, Rewording, Admitting, LookingUp):
    """All verbs over the knowledge base below one root."""


_SHARED: dict[Path, KnowledgeBase] = {}


def shared(root: Path) -> KnowledgeBase:
    """The knowledge base below ``root``, opened once a process for as long as its settings stay equal."""
    fresh = settings_.load(root, None, check_types)
    held = _SHARED.get(fresh.root)
    if held is None or held.settings != fresh:
        if held is not None:
            held.close()
        _SHARED[fresh.root] = KnowledgeBase(root)
    return _SHARED[fresh.root]


def share(base: KnowledgeBase) -> None:
    """Let ``base`` be what ``shared`` gives for its root."""
    _SHARED[base.settings.root] = base
