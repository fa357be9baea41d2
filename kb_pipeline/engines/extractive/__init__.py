"""The engine without a model: deterministic rules over the text itself. No key, no network."""

from kb_pipeline.engines.extractive.engine import Extractive

__all__ = ["Extractive"]
