"""The verbs of the knowledge base, which faces and Dagster speak to alone."""

from kb_pipeline.api.knowledge_base import KnowledgeBase, share, shared
from kb_pipeline.api.session import Listener, listen
from kb_pipeline.api.starting import init
from kb_pipeline.checks import CHECKS, Check
from kb_pipeline.runner import Stale
from kb_pipeline.settings import find_root
from kb_pipeline.stages import PER_SOURCE, PIPELINE, WHOLE, Stage

__all__ = [
    "CHECKS",
    "PER_SOURCE",
    "PIPELINE",
    "WHOLE",
    "Check",
    "KnowledgeBase",
    "Listener",
    "Stage",
    "Stale",
    "find_root",
    "init",
    "listen",
    "share",
    "shared",
]
