"""Sentences that announce what a text does or shows next rather than say what is so, and the code that they show.

Owns the words by which such a sentence is told, and how much code is still one detail. Refuses to know blocks.
"""

import re

from kb_pipeline.rules.words import words

MOST_LINES, MOST_CODE = 60, 2400
"""Lines and code points of the longest code that is the detail of one sentence: more is a file, not an example."""

_COMMAND_LINES = 6
_TEXT = r"(?:section|chapter|tutorial|guide|how-?to|documentation|document|page|walkthrough|part|example)"
_SAMPLE = r"(?:examples?|snippets?|code|listings?|samples?|illustrations?)"
_FIGURE = r"(?:tables?|diagrams?|figures?)"
_WILL = r"(?:['’]ll| will| are going to|['’]re going to| shall)(?: now| first| then| next| also)?"
_LOOK = (
    r"(?:(?:take|have) a (?:\w+ )?look|look (?:at|into)|see (?:how|what|an?|the|some)|show|demonstrate|illustrate|"
    r"walk (?:you )?through|go (?:over|through)|cover|explore|learn|describe|explain|discuss|introduce|present)\b"
)
_CLAIMS = re.compile(r"\b(?:shows?|demonstrates?|sees?|learn|illustrates?|explains?) that\b|,? which\b", re.IGNORECASE)
_ANNOUNCES = re.compile(
    r"(?:(?:so|now|next|first|then|finally|here),? )*(?:"
    r"let['’]?s (?:now |first |also )?(?:(?:take|have) a|look|see|start (?:by|with|off)|begin (?:by|with)|walk|"
    r"go (?:over|through)|consider|assume|suppose|imagine|dive|explore|deal with|turn to)\b|"
    rf"(?:here|below|in this {_TEXT}),? (?:we|i|you){_WILL} {_LOOK}|(?:below|in this {_TEXT}),? (?:we|i|you) {_LOOK}|"
    rf"(?:we|i)(?:{_WILL}) {_LOOK}.{{0,60}}\b(?:{_SAMPLE}|how (?:to|we|you))\b|"
    r"(?:here|below|following)(?:['’]s| is| are) "
    rf"(?:how|what|(?:\S+ ){{0,4}}?(?:{_SAMPLE}|list|overview|summary|look))\b|"
    rf"(?:consider|see|take|look at) (?:the (?:following|above|below|next)|below)\b|"
    rf"(?:(?:(?:the|these|our) )?(?:following|next|above|previous) (?:\w+ ){{0,2}}?(?:{_SAMPLE}|{_TEXT}|{_FIGURE})|"
    rf"(?:the |these )?(?:{_SAMPLE}|{_FIGURE}) (?:below|above|here)|this (?:\w+ )?(?:{_SAMPLE}|{_TEXT})) "
    r"(?:shows?|demonstrates?|illustrates?|describes?|explains?|covers?|walks?|lists?|outlines?|summari[sz]es?)\b)",
    re.IGNORECASE,
)
_POINTS_DOWN = re.compile(
    r"(?:[:：…]|\.\.\.)$|\b(?:for example|for instance|like (?:so|this)|as follows|(?:the )?following|below)\W*$|"
    r"[^\s.!?。！？\"'”’)`]$",
    re.IGNORECASE,
)
_EMPTY = words(
    "a an the this that these those it its here there here's is are for of in on to by with as and or so like e.g eg "
    "example examples instance below above following follows see use using usage code snippet sample output result "
    "results input command simple simplest complete minimal full quick typical basic short another one some more such "
    "would will might could should can may look looks gives prints returns produces then be do does we you i i'd i'll "
    "let's now note"
)
_WORD = re.compile(r"[\w.'’-]*\w")
_SHELL = re.compile(
    r"\s*(?:\$|%|>|PS>|#)?\s*(?:sudo |[A-Z_]+=\S+ )*(?:pip3?|pipx|python3?|uv|uvx|npm|npx|yarn|pnpm|node|git|docker|"
    r"kubectl|helm|curl|wget|apt(?:-get)?|brew|conda|make|cargo|go|cd|ls|mkdir|rm|cp|mv|cat|echo|export|source|ssh|"
    r"scp|bash|sh|systemctl|gunicorn|uvicorn|hypercorn|daphne|pytest|poetry|hatch|tox|nox|ruff|mypy|mkdocs|"
    r"scripts/\S+|\./\S+|vllm|terraform|ansible)\b"
)
_PROMPT = re.compile(r"(?m)^(?:\$|%|>|PS>)\s+")


def announces(text: str) -> bool:
    """Whether a plain sentence tells what the text does next: ``Here we'll look at a complete example.``"""
    return _ANNOUNCES.match(text) is not None and _CLAIMS.search(text) is None


def points_down(text: str) -> bool:
    """Whether a plain sentence waits for the code right below it: it ends in a colon, in dots, or without a stop."""
    return _POINTS_DOWN.search(text) is not None


def is_bare(text: str) -> bool:
    """Whether a sentence says nothing at all without what follows: ``For example:``, ``It looks like this:``"""
    return all(word.replace("’", "'") in _EMPTY for word in _WORD.findall(text.lower()))


def is_example(code: str) -> bool:
    """Whether a block of code is short enough to be the detail of a sentence."""
    return 0 < len(code) <= MOST_CODE and code.count("\n") < MOST_LINES


def commands(code: str) -> str:
    """``code`` without prompts where it is a few shell commands and nothing else, else empty."""
    lines = [line for line in code.split("\n") if line.strip()]
    shell = 0 < len(lines) <= _COMMAND_LINES and all(map(_SHELL.match, lines))
    return _PROMPT.sub("", "\n".join(line.strip() for line in lines)) if shell else ""
