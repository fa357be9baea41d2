"""The Dagster code location that ``workspace.yaml`` names."""

from kb_pipeline.defs.location import defs

__all__ = ["defs"]
