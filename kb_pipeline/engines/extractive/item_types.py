"""What kind of knowledge a statement is: ordered rules, the first that holds decides. Knows nothing but its words."""

import re
from collections.abc import Callable

from kb_pipeline.engines.extractive.verbs import is_imperative
from kb_pipeline.records import ItemType
from kb_pipeline.rules.numbers import SYMBOLS, Quantity, quantities
from kb_pipeline.rules.words import words

_TRADEOFF = re.compile(
    r"\btrade-?offs?\b|\bat the (?:cost|expense|price) of\b|\bin exchange for\b|\bsacrific\w+|\b(?:downside|"
    r"drawback)s?\b|\bcomes? (?:with|at) a (?:cost|price)\b|\bcosts? (?:more|less) \w+ (?:but|than)\b"
)  # read in lower case
_TRADED = ("trade", "cost", "expense", "price", "exchange", "sacrific", "downside", "drawback")  # one is in each
_PROCEDURE = re.compile(
    r"^(?:to|in order to) [a-z]+\b[^,]*, (?:you|we (?:recommend|suggest)|use|run|set|add|create|call|first|simply|just|"
    r"[a-z]+ the\b)|^(?:if|when) [^,]*, (?:use|run|set|add|call|make sure|ensure|you (?:should|must|need|have to))\b|"
    r"^(?:you|users|developers|clients)(?:['’]ll| will)? (?:should|must|need to|have to|want to)\b|^step \d\b",
    re.IGNORECASE,
)
_DEFINITION = re.compile(
    r"^(?:the |an? )?(?:[\w`./()+#'’-]+ ){1,8}?(?:\([^()]*\) )?(?:is|are) "
    r"(?:an? |one of the |the (?:\w+[ -]){1,4}?(?:of|between|that|which|in which|in front)\b)|"
    r"\b(?:refers? to|(?:is|are) defined as|stands? for|denotes?|consists? of|is short for|"
    r"(?:is|are) (?:also )?(?:called|known as|termed|split into|divided into|composed of|made up of))\b",
    re.IGNORECASE,
)
_NOT_DEFINED = re.compile(
    r"^(?:it|this|that|these|those|there|here|what|they|one|we|i|he|she|our|which|another|following)\b|\b(?:is|are) "
    r"an? (?:good|bad|great|common|important|major|significant|potential|new|novel|useful|result|need|risk|lot|"
    r"strong|key|critical|leading|promising|well|safe|valid|crucial|essential|effective|independent|main|powerful|"
    r"primary|robust|frequent|rare|possible|likely|matter|consequence)\b|"
    r"\b(?:is|are) the (?:main |best |only |first |most |key |same |one )?"
    r"(?:cause|result|reason|source|key|same|consequence|opposite|best|worst|way)\b",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"\b(?:than|increas\w+|decreas\w+|reduc\w+|improv\w+|rose|fell|drop\w*|average\w*|mean|median|rate|ratio|score|"
    r"accuracy|latency|throughput|total|sensitivity|specificity|prevalence|incidence|mortality|correlat\w+)\b",
    re.IGNORECASE,
)


def item_type(text: str) -> ItemType:
    """The type of the plain statement ``text``, by the first rule that holds; ``fact`` otherwise."""
    return next((kind for kind, holds in _RULES if holds(text)), "fact")


def _is_tradeoff(text: str) -> bool:
    lower = text.lower()
    return any(map(lower.__contains__, _TRADED)) and _TRADEOFF.search(lower) is not None


def _is_procedure(text: str) -> bool:
    return is_imperative(text) or _PROCEDURE.match(text) is not None


def _is_metric(text: str) -> bool:
    """A percentage, a figure with the symbol of a unit, a ratio; a plain count only where something is compared."""
    if not _DIGIT.search(text):
        return False
    figures = [q for q in quantities(text) if q.kind not in _NO_MEASURES and not q.surface.isalpha()]
    if any(map(_is_measure, figures)) or _STATISTIC.search(text):
        return True
    return any(not _is_name(text, q) for q in figures) and _COMPARED.search(text) is not None


def _is_measure(q: Quantity) -> bool:
    measured = q.unit in SYMBOLS or "/" in q.unit or q.unit in ("%", "time")
    return measured or any("." in value for value in q.values)


def _is_name(text: str, q: Quantity) -> bool:
    """Whether a figure counts nothing: a year, or a part of a name (``type 2``)."""
    year = not q.unit and re.fullmatch(r"(?:1[5-9]|20)\d\d", q.values[0]) is not None
    return year or _NAMED.search(text[max(0, q.start - 10) : q.start].lower()) is not None


def _is_definition(text: str) -> bool:
    if _DEFINING.isdisjoint(text.split()):
        return False
    return _DEFINITION.search(text) is not None and _NOT_DEFINED.search(text) is None


_DEFINING = words("is are refer refers stand stands denote denotes consist consists")  # one of them is in each pattern
_DIGIT = re.compile(r"\d")
_NO_MEASURES = frozenset({"identifier", "version", "date"})
_STATISTIC = re.compile(r"\b[pPn] ?[=<>≤≥] ?\d?\.?\d")
_NAMED = re.compile(
    r"(?:types?|class|stage|grade|phase|step|figures?|tables?|section|chapter|python|http|code|group|days?) $"
)
_RULES: tuple[tuple[ItemType, Callable[[str], bool]], ...] = (
    ("tradeoff", _is_tradeoff),
    ("procedure", _is_procedure),
    ("metric", _is_metric),
    ("definition", _is_definition),
)
