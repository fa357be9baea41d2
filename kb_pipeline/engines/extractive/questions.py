"""Gold questions about one item, by pattern. Owns the patterns; refuses to paraphrase, which rules cannot do honestly.

Such questions share words with their item, so recall measured on them flatters; it serves to compare, not to boast.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from kb_pipeline.engines.extractive.statements import is_anaphoric, without_connective
from kb_pipeline.engines.extractive.verbs import base_of, is_imperative, is_verb_form
from kb_pipeline.records import Item, Question, QuestionStyle
from kb_pipeline.rules.ids import digest
from kb_pipeline.rules.numbers import Quantity, quantities
from kb_pipeline.rules.words import FUNCTION_WORDS

NO_PARAPHRASE = "rules cannot avoid the item's own terms without inventing others"
NO_NEIGHBOUR = "no neighbour on another topic to draw it from"

_FEWEST_TERMS, _MOST_TERMS = 2, 4
_WORD = re.compile(r"[^\W_][\w'’.+#/-]*[^\W_]|[^\W_]")
_DEFINES = re.compile(r"^(?P<subject>(?:\S+ ){1,7}?)(?P<verb>is|are) (?:an?|the|one of) ")
_PASSIVE = re.compile(
    r"^(?P<subject>(?:\S+ ){1,7}?)(?P<verb>is|are|was|were) (?P<done>\w{3,}ed|built|made|kept|held|shown|written)\b"
)
_ACTIVE = re.compile(
    r"^(?P<subject>(?:\S+ ){1,6}?)(?P<verb>[a-z]{3,}s) (?P<to>(?:to|from|on|with|for|in|into|of|as) )?"
)
_PURPOSE = re.compile(
    r"^(?:to|in order to) (?P<aim>[a-z]+ [^,]{3,80}), |^[A-Z][^,.;]{3,60}? to (?P<end>[a-z]+ [^,.;]{3,80})",
    re.IGNORECASE,
)
_CUT = re.compile(r"[,;:(]| such as | so that | because | which | if | when | — ")
_LONGEST_SUBJECT = 60


def questions(item: Item, neighbours: Sequence[Item], engine: str) -> list[Question]:
    """A keyword and a natural question, the paraphrase that cannot be made (null), and a hard negative.

    ``neighbours`` are the nearest items, nearest first; the hard negative asks what the first on another topic says.
    """
    common = Counter(word for n in neighbours for word in set(_words(n.statement)))
    asked, answer = _natural(item, common)
    other = next((n for n in neighbours if _is_other(item, n)), None)
    made: list[tuple[QuestionStyle, str | None, str, str]] = [
        ("keyword", " ".join(_terms(item, common)), item.statement, ""),
        ("nl", asked, answer, ""),
        ("paraphrase", None, "", NO_PARAPHRASE),
    ]
    found = [_question(item, style, text, answer, note, engine) for style, text, answer, note in made]
    return [*found, _hard_negative(item, other, common, engine)]


def _question(item: Item, style: QuestionStyle, text: str | None, answer: str, note: str, engine: str) -> Question:
    expected = item.id if text else None
    return Question(
        id=_id(item, style, text),
        style=style,
        question=text,
        gold_answer=answer,
        expected_item_id=expected,
        engine=engine,
        note=note,
    )


def _hard_negative(item: Item, other: Item | None, common: Counter[str], engine: str) -> Question:
    text = _natural(other, common)[0] if other else None
    note = f"close, but answered by {other.id}" if other else NO_NEIGHBOUR
    return Question(id=_id(item, "hard_negative", text), style="hard_negative", question=text, engine=engine, note=note)


def _id(item: Item, style: str, text: str | None) -> str:
    return f"q_{digest(item.id, style, text or '')[:12]}"


def _is_other(item: Item, neighbour: Item) -> bool:
    return neighbour.id != item.id and not (item.topic and neighbour.topic == item.topic)


def _words(text: str) -> Iterator[str]:
    return (word for word in _WORD.findall(text) if len(word) > 2 and word.lower() not in FUNCTION_WORDS)


def _terms(item: Item, common: Counter[str]) -> list[str]:
    """The most telling terms, in the order of the statement: names, then words that few neighbours have, nouns "
    "first."""
    names = [name for name in item.entities if name in item.statement][:2]
    inside = {word for name in names for word in _WORD.findall(name)}
    rest = [word for word in dict.fromkeys(_words(item.statement)) if word not in inside]
    rest.sort(key=lambda word: (is_verb_form(word.lower()), word.lower().endswith("ly"), common[word], -len(word)))
    chosen = [*names, *rest[: max(_FEWEST_TERMS, _MOST_TERMS - len(names))]]
    return sorted(chosen, key=item.statement.find) or [item.statement]


def _natural(item: Item, common: Counter[str]) -> tuple[str, str]:
    """A question as a person would put it, and its answer; patterns in order of how well they read."""
    text = without_connective(item.statement).rstrip(" .:!…")
    if not is_anaphoric(text):
        for pattern in (_about_purpose, _about_figure, _about_definition, _about_passive, _about_active):
            if found := pattern(text, item):
                return found
    return f"What is known about {_listed(_terms(item, common))}?", item.statement


def _about_purpose(text: str, item: Item) -> tuple[str, str] | None:
    if item.item_type != "procedure":
        return None
    if m := _PURPOSE.match(text):
        return f"How do I {_short(m['aim'] or m['end'])}?", item.statement
    if is_imperative(text):
        return f"How do I {_short(text[0].lower() + text[1:])}?", item.statement
    return None


def _about_figure(text: str, item: Item) -> tuple[str, str] | None:
    """The sentence with its only figure asked for: ``The default is how many tokens?``"""
    figures = [q for q in quantities(text) if q.kind in ("number", "percent", "size", "range", "version")]
    if len(figures) != 1 or len(text) > 2 * _LONGEST_SUBJECT or figures[0].surface.isalpha():
        return None
    q = figures[0]
    return f"{text[: q.start]}{_asked(q)}{text[q.end :]}?", _with_unit(q)


def _asked(q: Quantity) -> str:
    if q.unit == "%":
        return "what percentage"
    if q.kind == "version":
        return "which version"
    return "how many" if q.kind == "number" and q.unit.islower() else "how much"


def _with_unit(q: Quantity) -> str:
    return q.surface if not q.unit or q.surface.endswith(q.unit) or q.kind == "percent" else f"{q.surface} {q.unit}"


def _about_definition(text: str, item: Item) -> tuple[str, str] | None:
    m = _DEFINES.match(text)
    return (f"What {m['verb']} {subject}?", item.statement) if m and (subject := _subject(m["subject"])) else None


def _about_passive(text: str, item: Item) -> tuple[str, str] | None:
    m = _PASSIVE.match(text)
    if not m or not (subject := _subject(m["subject"])):
        return None
    return f"How {m['verb']} {subject} {m['done']}?", item.statement


def _about_active(text: str, item: Item) -> tuple[str, str] | None:
    m = _ACTIVE.match(text)
    if not m or not (verb := base_of(m["verb"])) or not (subject := _subject(m["subject"])):
        return None
    return f"What does {subject} {verb}{' ' + m['to'].strip() if m['to'] else ''}?", item.statement


def _subject(text: str) -> str:
    """The subject as it stands within a sentence, or ``""`` if it is none that a question can be built on."""
    words = text.split()
    if not words or len(text) > _LONGEST_SUBJECT or re.search(r"[,;:]", text):
        return ""
    first = words[0]
    if len(words) == 1 and first.lower() in FUNCTION_WORDS:
        return ""
    return " ".join([first.lower() if first.lower() in FUNCTION_WORDS else first, *words[1:]])


def _short(clause: str) -> str:
    return _CUT.split(clause, maxsplit=1)[0].strip()


def _listed(terms: Sequence[str]) -> str:
    return terms[0] if len(terms) == 1 else f"{', '.join(terms[:-1])} and {terms[-1]}"
