"""Gold questions about one item, by pattern. Owns the patterns; refuses to paraphrase, which rules cannot do honestly.

Such questions share words with their item, so recall measured on them flatters; it serves to compare, not to boast.
"""

import re
from collections import Counter
from collections.abc import Sequence

from kb_pipeline.engines.extractive.compounds import CONDITIONS
from kb_pipeline.engines.extractive.phrases import noun_phrases
from kb_pipeline.engines.extractive.statements import is_anaphoric, without_connective
from kb_pipeline.engines.extractive.verbs import base_of, is_certain, is_imperative, is_plain_verb
from kb_pipeline.records import Item, Question, QuestionStyle
from kb_pipeline.rules.ids import digest
from kb_pipeline.rules.numbers import Quantity, quantities
from kb_pipeline.rules.words import FUNCTION_WORDS

NO_PARAPHRASE = "rules cannot avoid the item's own terms without inventing others"
NO_NEIGHBOUR = "no neighbour on another topic to draw it from"

_MOST_NAMES, _MOST_TERMS = 2, 3
_ROW = re.compile(r"(?P<row>[^—]{1,60}) — (?P<column>[^:—]{1,60}): (?P<value>[^;]+)")
_TERM = re.compile(r"(?P<term>[^\s:]{2,40}) [-–—] \S|(?P<call>[\w.]+)\([^()]*(?:\([^()]*\)[^()]*)*\): ")
_DEFINES = re.compile(r"(?P<subject>(?:\S+ ){1,7}?)(?P<verb>is|are) (?:an?|the|one of) ")
_PASSIVE = re.compile(
    r"(?P<subject>(?:\S+ ){1,7}?)(?P<verb>is|are|was|were) (?P<done>\w{3,}ed|built|made|kept|held|shown|written)\b"
)
_ACTIVE = re.compile(r"(?P<subject>(?:\S+ ){1,6}?)(?P<verb>[a-z]{3,}) (?P<to>(?:to|from|on|with|for|in|into|of|as) )?")
_AIM = re.compile(
    r"(?:to|in order to) (?P<aim>[a-z]+ [^,]{3,80}), |[A-Z][^,.;]{3,60}? to (?P<end>[a-z]+ [^,.;]{3,80})", re.IGNORECASE
)
_CUT = re.compile(r"[,;:(]| such as | so that | because | which | if | when | — ")
_UNIT_AS_WRITTEN = re.compile(r"[ -][^\W\d_]+")
_LONGEST_SUBJECT, _LONGEST_FIGURE = 60, 130
_CLAUSE = frozenset({"that", "which", "who", "whose", "where", "when", "if"})
_DURATIONS = frozenset({"ns", "µs", "ms", "s", "min", "h"})


def questions(item: Item, neighbours: Sequence[Item], engine: str) -> list[Question]:
    """A keyword and a natural question, the paraphrase that cannot be made (null), and a hard negative.

    ``neighbours`` are the nearest items, nearest first; the hard negative asks what the first on another topic says.
    """
    common = Counter(found.lower() for n in neighbours for found in noun_phrases(n.statement))
    asked, answer = _natural(item, common)
    other = next((n for n in neighbours if _is_other(item, n)), None)
    return [
        _question(item, "keyword", " ".join(_terms(item, common)), item.statement, engine),
        _question(item, "nl", asked, answer, engine),
        Question(id=_id(item, "paraphrase"), style="paraphrase", question=None, engine=engine, note=NO_PARAPHRASE),
        _hard_negative(item, other, common, engine),
    ]


def _question(item: Item, style: QuestionStyle, text: str, answer: str, engine: str) -> Question:
    return Question(
        id=_id(item, style, text),
        style=style,
        question=text,
        gold_answer=answer,
        expected_item_id=item.id,
        engine=engine,
    )


def _hard_negative(item: Item, other: Item | None, common: Counter[str], engine: str) -> Question:
    text = _natural(other, common)[0] if other else None
    note = f"close, but answered by {other.id}" if other else NO_NEIGHBOUR
    made = _id(item, "hard_negative", text or "")
    return Question(id=made, style="hard_negative", question=text, engine=engine, note=note)


def _id(item: Item, style: str, text: str = "") -> str:
    return f"q_{digest(item.id, style, text)[:12]}"


def _is_other(item: Item, neighbour: Item) -> bool:
    return neighbour.id != item.id and not (item.topic and neighbour.topic == item.topic)


def _terms(item: Item, common: Counter[str], most: int = _MOST_TERMS) -> list[str]:
    """At most ``most`` telling terms as they follow in the statement: names, then phrases that few neighbours have."""
    names = [name for name in item.entities if name in item.statement][:_MOST_NAMES]
    rest = [found for found in noun_phrases(item.statement) if not any(found in n or n in found for n in names)]
    rest.sort(key=lambda found: (common[found.lower()], -len(found.split()), -len(found)))
    chosen = [*names, *rest[: most - len(names)]]
    return sorted(chosen, key=item.statement.find) or item.statement.rstrip(".").split()[:most]


def _natural(item: Item, common: Counter[str]) -> tuple[str, str]:
    """A question as a person would put it, and its answer; patterns in order of how well they read."""
    text = without_connective(item.statement).rstrip(" .:!…")
    if m := _ROW.match(text):
        return f"What is {m['column']} for {m['row']}?", m["value"]
    if not is_anaphoric(text):
        for pattern in (_about_aim, _about_figure, _about_term, _about_definition, _about_passive, _about_active):
            if found := pattern(text, item):
                return found, _answer(text) if pattern is _about_figure else item.statement
    return f"What is known about {_listed(_terms(item, common, most=2))}?", item.statement


def _about_aim(text: str, item: Item) -> str:
    if item.item_type != "procedure":
        return ""
    if m := _AIM.match(text):
        return f"How do I {_short(m['aim'] or m['end'])}?"
    return f"How do I {_short(text[0].lower() + text[1:])}?" if is_imperative(text) else ""


def _about_figure(text: str, item: Item) -> str:
    """The sentence with its only figure asked for: ``The default is how many tokens?``"""
    q = _only_figure(text)
    if q is None or len(text) > _LONGEST_FIGURE or text[q.end : q.end + 1] == "-" or _TERM.match(text):
        return ""
    start = q.start - 1 if q.kind == "version" and text[q.start - 1 : q.start] == "v" else q.start
    asked = f"{text[:start]}{_asked(q, text[q.end :])}{text[q.end :]}?"
    return asked[0].upper() + asked[1:]


def _only_figure(text: str) -> Quantity | None:
    figures = [q for q in quantities(text) if q.kind not in ("identifier", "date")]
    return figures[0] if len(figures) == 1 and not figures[0].surface.isalpha() else None


def _asked(q: Quantity, after: str) -> str:
    if q.kind == "version":
        return "which version"
    if q.unit == "%":
        return "what percentage"
    if q.unit in _DURATIONS and q.surface[-1].isalpha():
        return "how long"
    following = after.split(" ")[1:2]
    counted = bool(following) and following[0].lower() not in FUNCTION_WORDS and after.startswith(" ")
    if counted or (q.unit and q.kind == "number"):
        return "how many"
    return "how much" if q.unit else "what"


def _answer(text: str) -> str:
    """The only figure of ``text`` with the unit that follows it, as written."""
    q = _only_figure(text)
    assert q is not None
    unit = _UNIT_AS_WRITTEN.match(text, q.end) if q.unit and q.kind in ("number", "range") else None
    return q.surface + (unit.group() if unit else "")


def _about_term(text: str, item: Item) -> str:
    m = _TERM.match(text)
    if not m:
        return ""
    return f"What does {m['call']} do?" if m["call"] else f"What is {m['term']}?"


def _about_definition(text: str, item: Item) -> str:
    m = _DEFINES.match(text)
    return f"What {m['verb']} {subject}?" if m and (subject := _subject(m["subject"])) else ""


def _about_passive(text: str, item: Item) -> str:
    m = _PASSIVE.match(text)
    return f"How {m['verb']} {subject} {m['done']}?" if m and (subject := _subject(m["subject"])) else ""


def _about_active(text: str, item: Item) -> str:
    m = _ACTIVE.match(text)
    subject = _subject(m["subject"]) if m else ""
    if not m or not subject:
        return ""
    to = f" {m['to'].strip()}" if m["to"] else ""
    if base := base_of(m["verb"]):
        return f"What does {subject} {base}{to}?"
    plural = subject.endswith("s") and not subject.endswith("ss")
    return f"What do {subject} {m['verb']}{to}?" if plural and is_plain_verb(m["verb"]) else ""


def _subject(text: str) -> str:
    """The subject as it stands within a sentence, or ``""`` if no question can be built on it."""
    words = text.split()
    first = words[0].lower() if words else ""
    if not words or len(text) > _LONGEST_SUBJECT or re.search(r"[,;:]", text) or is_certain(text):
        return ""
    if not _CLAUSE.isdisjoint(words):
        return ""
    if first in CONDITIONS or (len(words) == 1 and first in FUNCTION_WORDS) or first in ("only", "what", "how"):
        return ""
    lowered = first in FUNCTION_WORDS or first.endswith("ing")
    return " ".join([first if lowered else words[0], *words[1:]])


def _short(clause: str) -> str:
    return _CUT.split(clause, maxsplit=1)[0].strip()


def _listed(terms: Sequence[str]) -> str:
    return terms[0] if len(terms) == 1 else f"{', '.join(terms[:-1])} and {terms[-1]}"
