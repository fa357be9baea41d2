"""Thinking by a model behind an OpenAI-compatible endpoint. Asked one thing at a time, trusted with nothing."""

from kb_pipeline.engines.openai.engine import OpenAi

__all__ = ["OpenAi"]
