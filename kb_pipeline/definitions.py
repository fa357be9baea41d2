"""The Dagster code location that ``workspace.yaml`` names."""

from kb_pipeline.defs.location import daemon_definitions

defs = daemon_definitions()
