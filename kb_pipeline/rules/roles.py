"""Do two sentences that share their content words use them in the same parts? Pure.

``A calls B`` is not ``B calls A`` but is ``B is called by A``. Owns the few rearrangements that change nothing: a
phrase or clause carried from the front to the end, a passive turned active, a compound for a phrase (``cache size``,
``size of the cache``), an adverb or adjunct in another place. Any other order counts as different, since it may be
another fact. Refuses to know what words mean. Made for English; elsewhere only equal order counts as the same.
"""

from collections.abc import Mapping
from itertools import product, takewhile

from kb_pipeline.rules.arrangements import (
    BE,
    BREAKS,
    DETERMINERS,
    Sentence,
    actives,
    arrangements,
    comparable,
    is_adverb,
    is_verb,
    stems,
)
from kb_pipeline.rules.constructions import constructions
from kb_pipeline.rules.wording import NARROWING, Word, read
from kb_pipeline.rules.words import words

Free = tuple[str, frozenset[str]]
"""The stem of a word that may stand elsewhere, and the stems beside it."""

LONGEST = 64
"""Words and commas of a sentence beyond which only equal order counts: rearranging 100 words takes a second."""
_LOOSE = words("back away")
_NOMINAL = words("of that which who whose")
_COMPOUNDS = words("of with in for on at from that which who to whose")


def same_roles(a: str, b: str, alike: Mapping[str, str] | None = None) -> bool:
    """Whether two sentences with the same content words use them in the same parts; ``alike`` maps a stem to the one it
    counts as."""
    return same_sentences(sentence(a, alike), sentence(b, alike))


def same_sentences(ours: Sentence, theirs: Sentence) -> bool:
    """``same_roles`` of two sentences that were read."""
    if _turned(ours, theirs):
        return False
    if stems(ours) == stems(theirs):
        return _agents(ours) == _agents(theirs) and not _turned_active(ours, theirs)
    if max(len(ours), len(theirs)) > LONGEST:
        return False
    others = list(constructions(theirs))
    return any(_arranged(x, y) for x in constructions(ours) for y in others)


def _arranged(ours: Sentence, theirs: Sentence) -> bool:
    """Whether an arrangement of each is the same."""
    arranged = list(arrangements(theirs, personal=_personal(ours)))
    return any(
        comparable(voice_x, voice_y) and _fits(x, y) and _acting(ours, x, theirs, y)
        for x, voice_x in arrangements(ours, personal=_personal(theirs))
        for y, voice_y in arranged
    )


def _acting(ours: Sentence, x: Sentence, theirs: Sentence, y: Sentence) -> bool:
    """Whether a verb that is passive in one sentence and was turned is not passive in the other too: ``he is given it``
    is not ``it is given by him``. ``x`` and ``y`` are the arrangements."""
    (passive_a, _), (passive_b, _) = _voices(ours), _voices(theirs)
    turned = _voices(x)[0] ^ _voices(y)[0]
    return not passive_a & passive_b & turned


def sentence(text: str, alike: Mapping[str, str] | None) -> Sentence:
    """The words of a text, each stem as the one that it counts as."""
    return tuple(w._replace(stem=alike[w.stem]) if w.stem in alike else w for w in read(text)) if alike else read(text)


def _personal(sentence: Sentence) -> bool:
    """Whether somebody does it whom a passive would leave out."""
    return any(w.surface in ("we", "you") for w in sentence)


def _agents(sentence: Sentence) -> bool:
    """Whether there is a passive with its agent: with equal order the other sentence must have one too."""
    return any(True for _ in actives(sentence, words("by")))


def _turned_active(a: Sentence, b: Sentence) -> bool:
    """Whether a verb is passive in one sentence and has an object in the other: ``is used with X`` and ``uses X``."""
    (passive_a, acting_a), (passive_b, acting_b) = _voices(a), _voices(b)
    return bool(passive_a & acting_b - passive_b or passive_b & acting_a - passive_a)


def _voices(sentence: Sentence) -> tuple[frozenset[str], frozenset[str]]:
    """The stems that follow a form of ``be``, and those that something follows at once, as an object may."""
    passive: set[str] = set()
    acting: set[str] = set()
    for at, word in enumerate(sentence):
        if word.surface in BE:
            ahead = [w for w in sentence[at + 1 :] if (w.stem or w.surface in DETERMINERS) and not is_adverb(w)][:1]
            passive.update(w.stem for w in ahead if is_verb(w))
        behind = [w for w in sentence[at + 1 : at + 3] if w.surface not in ("the", "a", "an", "its", "their")]
        if word.stem and behind and behind[0].stem:
            acting.add(word.stem)
    return frozenset(passive), frozenset(acting)


def _fits(a: Sentence, b: Sentence) -> bool:
    """Whether two arrangements are the same but for compounds, adverbs and the order of adjuncts."""
    if stems(a) == stems(b):
        return True
    x, y = _compounded(a, b), _compounded(b, a)
    (free_x, x), (free_y, y) = _loosened(x), _loosened(y)
    return _beside_the_same(free_x, free_y) and (stems(x) == stems(y) or _adjuncts_moved(x, y))


def _loosened(sentence: Sentence) -> tuple[list[Free], Sentence]:
    """The words that may stand elsewhere (adverbs, ``by default`` in its many forms) and the rest."""
    free = {at for at, w in enumerate(sentence) if is_adverb(w) or w.surface in _LOOSE or _default(sentence, at)}
    kept = tuple(w for at, w in enumerate(sentence) if at not in free)
    beside = {at: frozenset((*_next(sentence[:at][::-1]), *_next(sentence[at + 1 :]))) for at in free}
    return [(sentence[at].stem, beside[at]) for at in sorted(free)], kept


def _next(words_ahead: Sentence) -> tuple[str, ...]:
    """The first stem ahead in the same phrase, if any."""
    phrase = takewhile(lambda w: w.surface not in BREAKS, words_ahead)
    return stems(w for w in phrase if not is_adverb(w))[:1]


def _beside_the_same(a: list[Free], b: list[Free]) -> bool:
    """Whether the same free words stand in the same order, each beside a word that it has in both: an adverb carried to
    another clause says another thing."""
    if [stem for stem, _ in a] != [stem for stem, _ in b]:
        return False
    return all(stem == "default" or x & y for (stem, x), (_, y) in zip(a, b, strict=True))


def _default(sentence: Sentence, at: int) -> bool:
    """Whether ``default`` stands as in ``by default``, ``X defaults to`` or ``the default X is`` at the start."""
    word, before = sentence[at], sentence[at - 1].surface if at else ""
    return word.stem == "default" and (before == "by" or word.surface == "defaults" or at <= 1)


def _compounded(a: Sentence, b: Sentence) -> Sentence:
    """``a`` with each phrase that ``b`` has as a compound put as ``b`` has it."""
    found = a
    for at in (at for at, w in enumerate(a) if w.surface in _COMPOUNDS):
        after = tuple(w for w in a[at + 1 : at + 6] if w.stem)
        heads = ((a[at - count : at], _heads(a, at - count, at)) for count in (2, 1) if _worded(a, at - count, at))
        for (head, sure), modifier in product(heads, (after[:count] for count in (3, 2, 1) if len(after) >= count)):
            whole = stems((*modifier, *head))
            owner = len(modifier) if not NARROWING.isdisjoint(whole) else 0
            if (sure or _subject(b, whole)) and _adjacent(b, whole, owner):
                found = _swapped(found, head, modifier)
                break
    return found


def _heads(sentence: Sentence, start: int, end: int) -> bool:
    """Whether the words may be the noun that a phrase belongs to; before most prepositions a verb stands as often."""
    before = sentence[start - 1] if start else None
    if sentence[end].surface in _NOMINAL:
        return True
    return before.surface in DETERMINERS | BE if before else end - start == 1


def _worded(sentence: Sentence, start: int, end: int) -> bool:
    return start >= 0 and all(w.stem for w in sentence[start:end])


def _subject(sentence: Sentence, compound: tuple[str, ...]) -> bool:
    """Whether the words are all that stands before a verb of being, so that they are one noun."""
    be = next((at for at, w in enumerate(sentence) if w.surface in BE), 0)
    return stems(sentence[:be]) == compound


def _adjacent(sentence: Sentence, compound: tuple[str, ...], owner: int = 0) -> bool:
    """Whether the words stand side by side, nothing between them; the first ``owner`` of them as a genitive: what
    narrows an owner (``each worker's pool``) would narrow all of another compound."""
    width = len(compound)
    return any(
        tuple(w.stem for w in sentence[at : at + width]) == compound
        and (not owner or sentence[at + owner - 1].surface.endswith(("'s", "s'")))
        for at in range(len(sentence))
    )


def _swapped(sentence: Sentence, head: Sentence, modifier: Sentence) -> Sentence:
    moved: list[Word] = []
    for word in sentence:
        if any(word is part for part in head):
            continue
        moved.append(word)
        if word is modifier[-1]:
            moved.extend(head)
    return tuple(moved)


def _adjuncts_moved(a: Sentence, b: Sentence) -> bool:
    """Whether the same adjuncts, each behind a preposition of its own, follow the same core in another order."""
    (core_a, *ours), (core_b, *theirs) = _adjuncts(a), _adjuncts(b)
    heads = [head for head, _ in ours]
    return core_a == core_b and len(set(heads)) == len(heads) and sorted(ours) == sorted(theirs)


def _adjuncts(sentence: Sentence) -> list[tuple[str, tuple[str, ...]]]:
    """The stems before the first preposition, and those behind each; the second field holds them."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for word in sentence:
        if word.surface in BREAKS and word.surface not in ("and", "or", ","):
            found.append((word.surface, []))
        if word.stem:
            found[-1][1].append(word.stem)
    return [(head, tuple(stems)) for head, stems in found if stems or not head]


def _turned(a: Sentence, b: Sentence) -> bool:
    """Whether a direction is turned round: what one sentence has after ``from`` or ``to``, the other has not."""
    (from_a, to_a), (from_b, to_b) = _directions(a), _directions(b)
    return bool(from_a & to_b or to_a & from_b) or any(x and y and x != y for x, y in ((from_a, from_b), (to_a, to_b)))


def _directions(sentence: Sentence) -> tuple[frozenset[str], frozenset[str]]:
    """The content words right after ``from`` and right after ``to``."""
    after: dict[str, set[str]] = {"from": set(), "to": set()}
    for at, word in enumerate(sentence):
        if word.surface in after:
            after[word.surface].update([w.stem for w in sentence[at + 1 :] if w.stem][:1])
    return frozenset(after["from"]), frozenset(after["to"])
