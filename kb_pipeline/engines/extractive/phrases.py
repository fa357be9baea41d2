"""Noun-like phrases of a statement, by exclusion: runs of words that are neither function words nor verbs."""

import re

from kb_pipeline.engines.extractive.verbs import is_imperative, is_verb_form
from kb_pipeline.rules.words import FUNCTION_WORDS, words

VAGUE = words(
    "zero one two three four five six seven eight nine ten twenty hundred thousand million alone always anyone "
    "anything case day example everyone everything fact first get help instead kind last least lot most never "
    "next nobody nothing number others part patch people plus post put same second several someone something sort "
    "thing third time together way whatever"
)
_WORD = re.compile(r"[^\W\d_][\w’'-]*[^\W_]|[^\s\w]")
_LONGEST = 2


def noun_phrases(statement: str) -> list[str]:
    """Phrases of at most two words, the ends of longer runs, in order; a phrase that occurs again counts once."""
    tokens = _WORD.findall(statement)
    lower = [token.lower() for token in tokens]
    runs: list[list[str]] = [[]]
    for token, word, after in zip(tokens, lower, [*lower[1:], ""], strict=True):
        if _is_vague(word) or is_verb_form(word, after):
            runs.append([])
        else:
            runs[-1].append(token)
    if is_imperative(statement) and runs[0]:
        runs[0].pop(0)
    return list(dict.fromkeys(" ".join(run[-_LONGEST:]) for run in runs if run))


def _is_vague(word: str) -> bool:
    return len(word) < 3 or word in FUNCTION_WORDS or word in VAGUE or word.endswith("ly")
