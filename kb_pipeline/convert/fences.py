"""Fenced code blocks of Markdown."""

import re


def fenced(text: str, language: str = "") -> str:
    """``text`` as fenced code, the fence longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
