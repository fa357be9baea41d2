"""Every arrangement of a sentence that says the same. Pure.

Owns two rearrangements: what stands in front of the subject carried to the end, and a passive turned active. Refuses to
compare: ``roles`` does. There is no parser here, only English function words, so an arrangement may be wrong; it then
equals no sentence that anybody would write.
"""

from collections.abc import Iterable, Iterator
from typing import Literal

from kb_pipeline.rules.wording import Word
from kb_pipeline.rules.words import words

Sentence = tuple[Word, ...]
Voice = Literal["active", "passive", "turned", "guessed"]
"""``turned`` from a passive with ``by``, ``guessed`` from one with another preposition or without an agent."""

BE = words("is are was were be been being get gets got gotten")
BREAKS = words(
    "in on at for with by from to as through via into onto toward towards about upon using per within inside between "
    "among across under over against during until till before after when while if unless because since without and or "
    "but that which who where so every each twice once whenever more_than less_than , ;"
)
"""Words that end the phrase before them."""
DETERMINERS = words("the a an each every all its their this these no")
AGENTS = words("by with through via using in on for at under")
"""What may stand before who or what does the action of a passive."""
_BY = words("by")
_AUXILIARIES = words("can may might could must shall should will would has have had do does did cannot not never only")
_PARTICLES = words("over up out off down back away")
_CLAUSES = words("when if once whenever unless because since as before after while until that which who where but , ;")
_FINITE = BE | _AUXILIARIES | words("and or but that which who")
_WITHIN = words("that which who ,")
_OPENERS = words("to more_than less_than twice because since as even") | AGENTS
_EITHER_WAY = words("as since")  # without a comma nobody can tell where their clause ends
_TIMES = words("before after while when if")
_NO_ADVERBS = words(
    "only apply supply reply family assembly anomaly multiply rely early july italy daily weekly monthly yearly hourly"
)
_PLACED = words("in on at for with by from to as through via into onto using per within during until")
_MOST_FRONT = 7  # content words that a phrase at the front without a comma may have


def arrangements(sentence: Sentence, personal: bool) -> Iterator[tuple[Sentence, Voice]]:
    """The sentence in every arrangement that says the same, and its voice; ``personal`` says that the other has ``we``
    for an agent that a passive may leave out."""
    for straight in straightened(sentence):
        by, guessed = list(actives(straight, _BY)), list(actives(straight, AGENTS))
        voice: Voice = "passive" if guessed or _passive_by(straight) else "active"
        yield from ((again, voice) for again in (straight, *_subjectless(straight)))
        yield from ((again, "turned") for turned in by for again in (turned, *_subjectless(turned)))
        impersonal = _impersonal(straight) if personal else ()
        yield from ((turned, "guessed") for turned in (*guessed, *impersonal, *_owned(straight)))


def comparable(a: Voice, b: Voice) -> bool:
    """Whether two arrangements may be compared: a guess at who does it with what is active anyway, a passive that was
    left as it is with another such."""
    if a == b:
        return a != "guessed"
    return {a, b} in ({"active", "turned"}, {"active", "guessed"})


def _passive_by(sentence: Sentence) -> bool:
    """Whether a form of ``be`` comes before ``by``: a passive, even one that could not be turned."""
    return any(w.surface in BE for w in sentence[: _by(sentence) or 0])


def _by(sentence: Sentence) -> int | None:
    """Where ``by`` stands before who does it: not in ``by default`` and ``by 40%``."""
    ends = (*sentence[1:], None)
    return next(
        (at for at, (w, after) in enumerate(zip(sentence, ends, strict=True)) if w.surface == "by" and _does(after)),
        None,
    )


def _does(word: Word | None) -> bool:
    return word is not None and word.stem != "default" and not word.stem[:1].isdigit()


def straightened(sentence: Sentence) -> Iterator[Sentence]:
    """The sentence with what stands in front of its subject at the end: up to the comma or, without one, each way."""
    comma = next((at for at, w in enumerate(sentence) if w.surface in (",", ";")), 0)
    if not sentence or not (sentence[0].movable or sentence[0].surface in _OPENERS or _leads(sentence)):
        yield sentence
        if comma and not _listed(sentence, comma):
            yield (*sentence[comma + 1 :], *sentence[:comma])
        return
    if comma and not _listed(sentence, comma):
        yield from _placed(sentence[comma + 1 :], sentence[:comma])
        return
    yield sentence
    clause = sentence[0].surface in _CLAUSES or sentence[0].stem in _CLAUSES
    for at in range(1, len(sentence)):
        front = stems(sentence[:at])
        if len(front) > _MOST_FRONT or (not clause and sentence[at - 1].surface in _FINITE):
            return
        next_word = sentence[at].surface
        split = bool(sentence[at - 1].stem) and next_word not in BREAKS and next_word != "of"
        split = split and (not sentence[0].stem or next_word in DETERMINERS)
        if front and split and sentence[0].surface not in _EITHER_WAY:
            yield (*sentence[at:], *sentence[:at])


def _leads(sentence: Sentence) -> bool:
    return sentence[0].surface in _CLAUSES | BREAKS


def _listed(sentence: Sentence, comma: int) -> bool:
    """Whether the comma belongs to a list in front: ``In A, B and C, …``."""
    after = [w.surface for w in sentence[comma + 1 : comma + 5]]
    return ("and" in after[:3] or "or" in after[:3]) and "," in after


def _placed(rest: Sentence, front: Sentence) -> Iterator[Sentence]:
    """``rest`` with ``front`` at its end, before its verb of being, and before each phrase in it that begins with a
    preposition."""
    yield (*rest, *front)
    clause = front[0].surface in _CLAUSES or front[0].stem in _CLAUSES
    phrase = front[0].surface in _PLACED and not any(w.surface in BE for w in front)
    for at in range(1, 0 if clause else len(rest)):
        if (rest[at].surface in _PLACED or (phrase and rest[at].surface in BE)) and stems(rest[:at]):
            yield (*rest[:at], *front, *rest[at:])


def actives(sentence: Sentence, agents: frozenset[str]) -> Iterator[Sentence]:
    """The sentence with one passive turned active: ``P is verbed M by A R`` to ``A verbs P M R``."""
    if _by(sentence) is not None:
        agents, sentence = _BY, _only_first(sentence)
    for by in (at for at, w in enumerate(sentence) if w.surface in agents):
        be = next((at for at in range(by - 1, -1, -1) if sentence[at].surface in BE), -1)
        verb = next((at for at in range(be + 1, by) if is_verb(sentence[at])), -1)
        if be < 0 or verb < 0 or any(w.surface in _CLAUSES for w in sentence[be:by]):
            continue
        ahead = range(by + 1, len(sentence))
        ends = {next((at for at in ahead if _ends(sentence, by, at)), len(sentence))}
        ends.add(next((at for at in ahead if sentence[at].surface in _CLAUSES - _WITHIN), len(sentence)))
        nearest = next((at + 1 for at in range(be - 1, -1, -1) if sentence[at].surface in _CLAUSES), 0)
        for start in {0 if _nominal(sentence[:be]) else nearest, nearest}:
            for end in sorted(ends):
                yield from _active(sentence, start, be, verb, by, end)


def _only_first(sentence: Sentence) -> Sentence:
    """``is deleted only by owners`` as ``is only deleted by owners``."""
    by = _by(sentence) or 0
    be = next((at for at in range(by - 1, -1, -1) if sentence[at].surface in BE), -1)
    if be < 0 or sentence[by - 1].surface != "only":
        return sentence
    return (*sentence[: be + 1], sentence[by - 1], *sentence[be + 1 : by - 1], *sentence[by:])


def _nominal(sentence: Sentence) -> bool:
    """Whether a verb of being is nowhere but in a relative clause, so that all of it may be a subject."""
    return not any(w.surface in BE or (w.surface in _CLAUSES and w.surface not in _WITHIN) for w in sentence)


def _active(sentence: Sentence, start: int, be: int, verb: int, by: int, end: int) -> Iterator[Sentence]:
    auxiliary = _auxiliary(sentence, start, be)
    agent, patient = sentence[by + 1 : end], sentence[start:auxiliary]
    if not stems(patient) or stems(agent) in ((), ("default",)):
        return
    modal = sentence[auxiliary:be] + sentence[be + 1 : verb]
    only = tuple(w for w in modal if w.surface == "only")  # ``can only be changed by owners``: only owners can
    rest = tuple(w for w in modal if w.surface != "only")
    after = verb + 1 + (sentence[verb + 1].surface in _PARTICLES)
    verbs, middle = sentence[verb:after], sentence[after:by]
    yield (*sentence[:start], *only, *agent, *rest, *verbs, *patient, *middle, *sentence[end:])


def is_verb(word: Word) -> bool:
    """Whether a word may be the verb behind a form of ``be``."""
    return word.stem.isalpha() and not is_adverb(word) and word.surface not in _AUXILIARIES


def _ends(sentence: Sentence, by: int, at: int) -> bool:
    word = sentence[at]
    ends = (word.surface in BREAKS and word.surface != "and") or word.stem.startswith("per_")
    return ends and bool(stems(sentence[by + 1 : at]))


def _impersonal(sentence: Sentence) -> Iterator[Sentence]:
    """The sentence with its passive as ``verb P``, as the other says with ``we``."""
    be = next((at for at, w in enumerate(sentence) if w.surface in BE), 0)
    yield from _verb_first(sentence, 0, be)


def _owned(sentence: Sentence) -> Iterator[Sentence]:
    """The sentence with the passive of what somebody owns as done by the owner: ``the daemon's log is written`` as
    ``the daemon writes its log``."""
    be = next((at for at, w in enumerate(sentence) if w.surface in BE), 0)
    owner = next((at for at in range(be) if sentence[at].surface.endswith(("'s", "s'"))), -1)
    verb = next((at for at in range(be + 1, len(sentence)) if is_verb(sentence[at])), -1)
    if owner >= 0 and verb >= 0 and _by(sentence) is None:
        yield (*sentence[: owner + 1], sentence[verb], *sentence[owner + 1 : be], *sentence[verb + 1 :])


def _subjectless(sentence: Sentence) -> Iterator[Sentence]:
    """The sentence with the passive of a clause of time as ``verb P``: ``before the file is read``, ``before reading
    the file``."""
    for at in (at for at, w in enumerate(sentence) if w.surface in _TIMES):
        be = next((i for i in range(at + 1, len(sentence)) if sentence[i].surface in BE), 0)
        if not any(w.surface in _CLAUSES for w in sentence[at + 1 : be]):
            yield from _verb_first(sentence, at + 1, be)


def _verb_first(sentence: Sentence, start: int, be: int) -> Iterator[Sentence]:
    verb = next((at for at in range(be + 1, len(sentence)) if is_verb(sentence[at])), -1)
    modal = _auxiliary(sentence, start, be)
    patient = sentence[start:modal]
    if verb >= 0 and stems(patient):
        verbs = (*sentence[modal:be], *sentence[be + 1 : verb + 1])
        yield (*sentence[:start], *verbs, *patient, *sentence[verb + 1 :])


def _auxiliary(sentence: Sentence, start: int, be: int) -> int:
    """Where the auxiliaries before a form of ``be`` begin."""
    while be > start and sentence[be - 1].surface in _AUXILIARIES:
        be -= 1
    return be


def is_adverb(word: Word) -> bool:
    """Whether a word is an adverb by its ending."""
    return bool(word.stem) and word.surface.endswith("ly") and len(word.surface) > 4 and word.surface not in _NO_ADVERBS


def stems(sentence: Iterable[Word]) -> tuple[str, ...]:
    """The stems of the content words in order."""
    return tuple(w.stem for w in sentence if w.stem)
