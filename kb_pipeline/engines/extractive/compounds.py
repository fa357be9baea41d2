"""Where a compound sentence may part. Conservative: what one condition governs, and what points back, stays whole."""

import re

from kb_pipeline.engines.extractive.markup import plain
from kb_pipeline.engines.extractive.verbs import BASES, is_certain, is_third_person, is_verb_form
from kb_pipeline.rules.words import words

Span = tuple[int, int]

CONDITIONS = words(
    "after along although among as at because before between by despite due during following for from given if in "
    "like on once over owing provided similar since though through to under unless unlike until upon using via "
    "when where whereas while with within without"
)
"""A sentence that begins with one of these begins with a condition, not with its subject."""

_JOINT = re.compile(r";\s+(?:and\s+)?|,\s+and\s+(?!then\b|also\b)|,\s+which\s+means\s+(?:that\s+)?")
_GOVERNS = re.compile(
    r":|\b(?:that|whether|if|when|because|although|though|since|unless|while|whereas|until|once|so|both|either|neither|"
    r"after|before|during|following)\b"
)
_POINTS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|this|these|those|he|she|too|also|former|latter|same|do so|does so|respectively)\b|"
    r"\bones?(?:$|[.,;])"
)
_ANAPHORA = words(
    "it they this these that those he she its their his her which who both each such then so also not there"
)
_RELATIVES = words("that which who whose whom where when")
_ARTICLES = words("a an the all any every most many some several no our your my another each")
_FEWEST_WORDS, _LONGEST_SUBJECT = 3, 6


def parts(raw: str) -> list[Span]:
    """Spans of the independent sentences of ``raw``, apart by what joins them; the whole where there are none.

    It parts at ``;``, ``, and`` and ``, which means`` where both sides hold a finite verb and the right one has its own
    subject.
    """
    spans: list[Span] = []
    start = 0
    for joint in _JOINT.finditer(raw):
        if _in_brackets(raw, joint.start()):
            continue
        if not _independent(plain(raw[start : joint.start()]), plain(raw[joint.end() :])):
            break
        spans.append((start, joint.start()))
        start = joint.end()
    return [*spans, (start, len(raw))]


def _in_brackets(text: str, at: int) -> bool:
    if text.count("`", 0, at) % 2:
        return True
    return any(text.count(opened, 0, at) > text.count(closed, 0, at) for opened, closed in ("()", "[]", "“”"))


def _independent(left: str, right: str) -> bool:
    """Whether each half is a sentence and nothing governs the two together.

    What stands after the last comma of the left half must hold its verb: else the comma separates the items of a list.
    """
    lower = left.lower()
    opening = lower.split(" ", 1)[0].strip(",(")
    if opening in CONDITIONS or _GOVERNS.search(lower) or _POINTS_BACK.search(right):
        return False
    last = left.rpartition(",")[2].split()
    return len(last) >= _FEWEST_WORDS and any(map(_is_verb, last, [*last[1:], ""])) and _has_subject(right.split())


def _has_subject(tokens: list[str]) -> bool:
    """Whether ``tokens`` begin with a noun phrase of their own and a verb follows it soon."""
    first = tokens[0].lower().strip(",(") if tokens else ""
    if len(tokens) <= _FEWEST_WORDS or first in _ANAPHORA or first in CONDITIONS or first[:1].isdigit():
        return False
    is_name = any(ch.isupper() or ch.isdigit() or ch == "_" for ch in tokens[0])
    is_plural = first.endswith("s") and first not in BASES and not is_certain(first) and not is_third_person(first)
    if not (first in _ARTICLES or is_name or is_plural):
        return False
    subject = tokens[: _LONGEST_SUBJECT + 1]
    at = next(
        (n for n in range(1, len(subject)) if _is_verb(subject[n], tokens[n + 1] if n + 1 < len(tokens) else "")), 0
    )
    return at > 0 and _RELATIVES.isdisjoint(subject[:at]) and not any(token.endswith(",") for token in subject[:at])


def _is_verb(token: str, after: str) -> bool:
    """Whether ``token`` is a verb in the finite form: certainly, or by the article or figure ``after`` it."""
    if is_certain(token) or (is_third_person(token) and after[:1].isdigit()):
        return True
    return not token.endswith("ed") and is_verb_form(token, after.lower())
