"""Names in a statement: code, flags, identifiers, products, acronyms, proper names. By form alone, no gazetteer."""

import re
from collections.abc import Iterator

from kb_pipeline.engines.extractive.markup import code_spans
from kb_pipeline.engines.extractive.verbs import is_imperative
from kb_pipeline.rules.words import FUNCTION_WORDS, words

MOST = 12
_LONGEST = 48

_NAME = re.compile(
    r"""
    (?<![^\W])
    (?=[A-ZÀ-Þ]|--|[a-z/-]*+(?:[A-Z0-9_.]|[^\W\x00-\x7f][\w./-]*[A-Z0-9_.]))(?:
      (?P<flag>(?<![\w-])--[a-z][\w-]+)
    | (?P<path>(?<![\w/])(?:[\w.-]+/)*[\w-]+\.
        (?:py|md|ya?ml|toml|json|txt|html|css|js|ts|cfg|ini|sh|sql|csv|proto|xml|conf)\b)
    | (?P<dotted>\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w+)+\b)
    | (?P<snake>\b_*[A-Za-z]\w*_\w+\b|\b__\w+__\b)
    | (?P<compound>(?<![\w-])[A-Z][A-Za-z0-9]*(?:-[A-Za-z0-9]*[A-Z0-9α-ω][A-Za-z0-9]*)+)
    | (?P<camel>\b(?:[A-Z]+[a-z]+\d*[A-Z]|[a-z]+[A-Z]|[A-Z]{2,}[a-z]{2})[A-Za-z0-9]*
        (?:-[A-Za-z0-9]*[A-Z0-9][A-Za-z0-9]*)*)
    | (?P<figured>(?<![\w-])(?=[\w-]*[A-Za-zα-ω])(?=[\w-]*\d)[A-Za-zα-ω]\w*(?:-\w*[\dA-Z]\w*)*(?:\.\w*\d\w*)*)
    | (?P<acronym>(?<![\w-])[A-Z][A-Z0-9&]+(?:[-/][A-Z0-9]+)*(?=s?\b)(?![a-rt-z]))
    | (?P<proper>(?<![\w-])[A-ZÀ-Þ][a-zà-ÿ]+\b(?:-[A-Z][a-z]+)*(?:\ (?:(?:of|de|van|von)\ (?:the\ )?)?
        (?:[A-ZÀ-Þ][a-zà-ÿ]+\b(?!-\w)|[A-Z]{2,}[A-Za-z0-9]*|\d+(?:\.\d+)*(?!\s?%)(?![\w.]*[A-Za-z%])))*)
    )""",
    re.VERBOSE,
)
_NOT_NAMES = words(
    "gb mb kb tb gib mib kib tib ms khz mhz ghz hz tflops gflops flops flop flop/s gbit mbit rpm px wh kwh "
    "january february march april may june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday figure fig table section chapter appendix equation note example warning ok todo "
    "background methods method results result conclusions conclusion objective objectives findings introduction aim "
    "aims purpose design setting interpretation significance and or not vs ii iii iv vi vii viii ix true false none "
    "null yes no"
)
_NO_BEGINNINGS = FUNCTION_WORDS | _NOT_NAMES
_BEGINNING = re.compile(r"(?:^|[:–—.!?|]\s|\s-\s)[\"'“‘(\[\s]*")
_PLURAL = re.compile(r"(?<=[A-Z])s$")
_CALL = re.compile(r"\(.*\)$", re.DOTALL)


def entities(raw: str, text: str, known: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Names in the plain sentence ``text`` (``raw`` is its Markdown), code spans first, at most ``MOST``.

    A capitalised word that begins the sentence counts only if it is in ``known`` or begins a longer name.
    """
    found: dict[str, str] = {}
    for name in _candidates(raw, text, known):
        name = _PLURAL.sub("", name.strip(" .,;:"))
        if 2 <= len(name) <= _LONGEST and name.lower() not in _NOT_NAMES:
            found.setdefault(name.casefold(), name)
    return tuple(_without_parts(found))[:MOST]


def proper_names(text: str) -> Iterator[str]:
    """Capitalised words of ``text`` that do not begin a sentence: what makes one at the beginning known."""
    for m in re.finditer(r"(?<=[a-z,;] )[A-Z][a-z]+\b", text):
        if m.group().lower() not in _NO_BEGINNINGS:
            yield m.group()


def _candidates(raw: str, text: str, known: frozenset[str]) -> Iterator[str]:
    for code in code_spans(raw):
        name = _CALL.sub("", code.strip())
        if re.fullmatch(r"[\w.@/:+#<>*\[\]-]+", name) and re.search(r"[A-Za-z]", name):
            yield name
    begins = {m.end() for m in _BEGINNING.finditer(text)}
    for m in _NAME.finditer(text):
        if m.lastgroup != "proper":
            if m.lastgroup != "dotted" or not re.fullmatch(r"(?:e\.g|i\.e|et\.al|.*[a-z]\.[A-Z][a-z]+)", m.group()):
                yield m.group()
        elif m.start() not in begins:
            yield from _trimmed(m.group())
        else:
            yield from _at_beginning(m.group(), known)


def _trimmed(name: str) -> Iterator[str]:
    """A name without function words at its ends: ``However`` after a quote, ``I``."""
    parts = name.split(" ")
    while parts and (parts[0].lower() in _NO_BEGINNINGS or parts[0].isdigit()):
        parts.pop(0)
    if parts:
        yield " ".join(parts)


def _at_beginning(name: str, known: frozenset[str]) -> Iterator[str]:
    """The name that begins a sentence, its first word only if it is known or another capital follows at once."""
    first, _, rest = name.partition(" ")
    is_run = (
        re.match(r"[A-Z][a-z]", rest) and not is_imperative(f"{first} the") and not first.endswith(("ly", "ing", "ed"))
    )
    if first in known or (is_run and first.lower() not in FUNCTION_WORDS):
        yield from _trimmed(name)
    elif rest:
        yield from _trimmed(rest)


def _without_parts(found: dict[str, str]) -> Iterator[str]:
    """Names that are not a part of a longer one already there."""
    for key, name in found.items():
        if not any(len(other) > len(key) and _is_part(key, other) for other in found):
            yield name


def _is_part(short: str, long: str) -> bool:
    at = long.find(short)
    if at < 0:
        return False
    return not long[max(at - 1, 0) : at].isalnum() and not long[at + len(short) : at + len(short) + 1].isalnum()
