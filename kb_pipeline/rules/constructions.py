"""One sentence in the other constructions that English has for it. Pure.

Owns those that move words and add none: ``X is where A does B``, ``it takes X to do B``, ``there are X in Y``, ``X is
given to Y``, ``X is needed to do B``, a list of two turned round. Each is told by its function words. Refuses those
that need to know what a pronoun stands for, and to compare: ``roles`` does.
"""

from collections.abc import Iterator

from kb_pipeline.rules.arrangements import BE, BREAKS, DETERMINERS, Sentence, stems, straightened
from kb_pipeline.rules.wording import Word
from kb_pipeline.rules.words import words

_CLEFTS = words("who where what")
_CLAUSES = words("when if because since as before after while until that which who where but , ;")
_PLACES = words("in on at within")
_RELATIVES = words("that which who")
_MODALS = words("must not never always")
_DATIVES = words("give given send award offer grant pay show assign lend hand teach")
_HAVE = words("has have had")
_MARKS = words("to by")
_NEEDS = words("need requir necessari")


def constructions(sentence: Sentence) -> Iterator[Sentence]:
    """The sentence as it is and in every other construction found; nothing else about it changes."""
    for listed in _lists(sentence):
        yield listed
        for rule in (_cleft, _extraposed, _existential, _identity, _dative, _needed, _having):
            yield from rule(listed)


def done_first(sentence: Sentence, verb: str) -> Iterator[Sentence]:
    """``P must be verbed R`` as the command ``verb P R``, ``P must never be verbed`` as ``never verb P``; ``verb`` is a
    stem."""
    for straight in straightened(sentence):
        be = next((at for at, w in enumerate(straight) if w.surface in BE), 0)
        if be and be + 1 < len(straight) and straight[be + 1].stem == verb:
            start = next(at for at in range(be, -1, -1) if not at or straight[at - 1].stem not in _MODALS)
            if _plain(straight[:start]):
                modals = (w for w in straight[start:be] if w.stem != "must")
                yield (*modals, straight[be + 1], *straight[:start], *straight[be + 2 :])


def used(sentence: Sentence) -> Iterator[Sentence]:
    """``A uses X to do B`` as ``A does B with X``; ``we use X for B`` as ``X for B``, what is left of ``X is used``."""
    at = next(at for at, w in enumerate(sentence) if w.stem == "use")
    to = next((to for to in range(at + 1, len(sentence)) if sentence[to].surface == "to"), 0)
    if [w.surface for w in sentence[:at]] == ["we"]:
        yield sentence[at + 1 :]
    if to and _plain(sentence[:at]) and _plain(sentence[at + 1 : to]):
        yield (*sentence[:at], *sentence[to + 1 :], Word("with", "", movable=False), *sentence[at + 1 : to])


def performed(sentence: Sentence, verb: str) -> Iterator[Sentence]:
    """``the renewal of X is performed``, ``X renewal takes place`` as ``X is renewed``; ``verb`` is the empty verb's
    stem."""
    at = next(at for at, w in enumerate(sentence) if w.stem == verb)
    be = at - 1 if at and sentence[at - 1].surface in BE else at
    subject = sentence[:be]
    start = 1 if subject and subject[0].surface in DETERMINERS else 0
    if not _plain(subject):
        return
    being = sentence[be] if be < at else Word("is", "", movable=False)
    if start + 1 < len(subject) and subject[start + 1].surface == "of":
        yield (*subject[start + 2 :], being, subject[start], *sentence[at + 1 :])
    if len(stems(subject)) > 1:
        yield (*subject[:-1], being, subject[-1], *sentence[at + 1 :])


def received(sentence: Sentence) -> Iterator[Sentence]:
    """``X is given Y`` and ``Y is given to X`` as ``X Y``: what is left of ``X receives Y`` without its verb."""
    for again in (sentence, *_dative(sentence)):
        at = next((at for at in range(1, len(again)) if again[at].stem == "give" and again[at - 1].surface in BE), 0)
        if at and again[at + 1 : at + 2] and again[at + 1].surface not in _MARKS:
            yield (*again[: at - 1], *again[at + 1 :])


def means_last(sentence: Sentence, verb: str, preposition: str) -> Iterator[Sentence]:
    """``A lets X do B`` as ``X do B with A``, ``A causes X to do B`` as ``X do B because of A``; ``verb`` is a stem."""
    for straight in straightened(sentence):
        at = next(at for at, w in enumerate(straight) if w.stem == verb)
        if _plain(straight[:at]):
            yield (*straight[at + 1 :], Word(preposition, "", movable=False), *straight[:at])


def _lists(sentence: Sentence) -> Iterator[Sentence]:
    """The sentence, and each list of two single words turned round: at the end of a phrase, or all of the subject.

    Elsewhere the second word may begin a clause of its own: ``A replaces B and C replaces D``.
    """
    yield sentence
    for at in range(1, len(sentence) - 1):
        before, word, after = sentence[at - 1], sentence[at], sentence[at + 1]
        if word.surface not in ("and", "or") or not (before.stem and after.stem):
            continue
        first = at < 2 or (at == 2 and sentence[0].surface in DETERMINERS)
        alone = first or not sentence[at - 2].stem
        follows = sentence[at + 2].surface if at + 2 < len(sentence) else ","
        if alone and (follows in _CLAUSES or (first and follows in BE)):
            yield (*sentence[: at - 1], after, word, before, *sentence[at + 2 :])


def _cleft(sentence: Sentence) -> Iterator[Sentence]:
    """``P is where A does B`` as ``A does B P``, ``P is who does B`` and ``it is P that does B`` as ``P does B``."""
    that = next((at for at, w in enumerate(sentence) if w.surface in _RELATIVES), 0)
    if that and sentence[0].surface == "it" and sentence[1].surface in BE and _plain(sentence[2:that]):
        yield (*sentence[2:that], *sentence[that + 1 :])
    for at in range(1, len(sentence) - 1):
        if sentence[at].surface in BE and sentence[at + 1].surface in _CLEFTS and _plain(sentence[:at]):
            yield (*sentence[at + 2 :], *sentence[:at])
            yield (*sentence[:at], *sentence[at + 2 :])


def _extraposed(sentence: Sentence) -> Iterator[Sentence]:
    """``it takes X to do B at C`` as ``doing B takes X at C``, and with ``at C`` before the verb."""
    if not sentence or sentence[0].surface != "it":
        return
    to = next((at for at, w in enumerate(sentence) if w.surface == "to"), 0)
    if to < 2 or not _plain(sentence[1:to]):
        return
    ends = (at for at in range(to + 2, len(sentence)) if sentence[at].surface in BREAKS)
    for end in (*ends, len(sentence)):
        yield (*sentence[to + 1 : end], *sentence[1:to], *sentence[end:])


def _existential(sentence: Sentence) -> Iterator[Sentence]:
    """``there are X in Y`` as ``Y has X``."""
    if len(sentence) < 4 or sentence[0].surface != "there" or sentence[1].surface not in BE:
        return
    for at in (at for at, w in enumerate(sentence) if w.surface in _PLACES and stems(sentence[2:at])):
        end = _phrase_end(sentence, at + 1)
        yield (*sentence[at + 1 : end], *sentence[2:at], *sentence[end:])


def _identity(sentence: Sentence) -> Iterator[Sentence]:
    """``X is the Y`` as ``the Y is X``; not ``X is a Y`` or ``an X is the Y``, which there may be more of."""
    be = next((at for at, w in enumerate(sentence) if w.surface in BE), 0)
    one = be and sentence[be + 1 : be + 2] and sentence[be + 1].surface == "the"
    if one and sentence[0].surface not in ("a", "an") and _plain(sentence[:be]) and _plain(sentence[be + 1 :]):
        yield (*sentence[be + 1 :], sentence[be], *sentence[:be])


def _dative(sentence: Sentence) -> Iterator[Sentence]:
    """``X is given to Y`` as ``Y is given X``."""
    be = next((at for at, w in enumerate(sentence) if w.surface in BE), 0)
    verb = be + 1
    if not be or verb + 2 >= len(sentence) or not _plain(sentence[:be]):
        return
    if sentence[verb].stem in _DATIVES and sentence[verb + 1].surface == "to":
        end = _phrase_end(sentence, verb + 2)
        yield (*sentence[verb + 2 : end], *sentence[be : verb + 1], *sentence[:be], *sentence[end:])


def _needed(sentence: Sentence) -> Iterator[Sentence]:
    """``X is needed to do B`` as ``doing B needs X``."""
    be = next((at for at, w in enumerate(sentence) if w.surface in BE), 0)
    verb = be + 1
    if not be or verb + 2 >= len(sentence) or sentence[verb].stem not in _NEEDS:
        return
    if sentence[verb + 1].surface in ("to", "for") and _plain(sentence[:be]) and _plain(sentence[verb + 2 :]):
        yield (*sentence[verb + 2 :], sentence[verb], *sentence[:be])


def _having(sentence: Sentence) -> Iterator[Sentence]:
    """``X has a Y of Z`` as ``X Y is Z``."""
    at = next((at for at, w in enumerate(sentence) if w.surface in _HAVE), 0)
    of = next((of for of in range(at + 1, len(sentence)) if sentence[of].surface == "of"), 0)
    if at and of and _plain(sentence[:at]) and _plain(sentence[at + 1 : of]):
        attribute = tuple(w for w in sentence[at + 1 : of] if w.stem)
        yield (*sentence[:at], *attribute, Word("is", "", movable=False), *sentence[of + 1 :])


def _plain(sentence: Sentence) -> bool:
    """Whether the words are one clause, with something in it."""
    return bool(stems(sentence)) and not any(w.surface in _CLAUSES for w in sentence)


def _phrase_end(sentence: Sentence, start: int) -> int:
    """Where the phrase at ``start`` ends: before the next word that breaks phrases, but for ``and``."""
    ahead = (
        at
        for at in range(start + 1, len(sentence))
        if sentence[at].surface in BREAKS - {"and", "or"} or sentence[at].stem.startswith("per_")
    )
    return next(ahead, len(sentence))
