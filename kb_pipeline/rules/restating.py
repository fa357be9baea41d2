"""Do two sentences say the same, all their words accounted for? Pure.

Owns what may be left over between them: a word said twice, the empty verb of ``renewal is performed``, ``lets X do``
for ``X can do``, a command for ``must``, a relation told from its other end. Each is accounted for in its construction
and nowhere else. Refuses to judge by nearness, and to know synonyms: the caller says which stems are alike.
"""

from collections.abc import Callable, Iterator, Mapping

from kb_pipeline.rules.arrangements import Sentence, stems
from kb_pipeline.rules.constructions import done_first, means_last, performed, received, used
from kb_pipeline.rules.converses import converses
from kb_pipeline.rules.roles import same_sentences, sentence
from kb_pipeline.rules.spellings import levelled
from kb_pipeline.rules.wording import Difference, content, difference, read
from kb_pipeline.rules.words import words

_PRONOUNS = words("it its they them their he his she her this that these those")
_PERFORMING = words("perform happen occur done run conduct execut")
_COMMANDING = words("do don't not never always")
_HAVING = words("contain includ hold")
_OTHERWISE: dict[tuple[tuple[str, ...], tuple[str, ...]], Callable[[Sentence], Iterator[Sentence]]] = {
    (("allow",), ("can",)): lambda a: means_last(a, "allow", "with"),
    (("give",), ("get",)): received,
}
"""What only each of two sentences has, and how the one is told without it."""


def same_words(a: str, b: str, alike: Mapping[str, str] | None = None) -> bool:
    """Whether two sentences say the same in the same words: no content word left over, or one that a construction of
    English accounts for, and the same roles."""
    a, b = levelled(a, b)
    if not content(a) or not content(b):
        return False
    rest, ours, theirs = difference(a, b, alike), sentence(a, alike), sentence(b, alike)
    if not rest:
        return same_sentences(ours, theirs)
    if len(rest.left) + len(rest.right) > 1:
        turned = Difference(rest.right, rest.left)
        return _told_otherwise(ours, theirs, rest) or _told_otherwise(theirs, ours, turned)
    longer, shorter = (ours, theirs) if rest.left else (theirs, ours)
    word = (rest.left or rest.right)[0]
    return any(same_sentences(again, shorter) for again in _without(longer, shorter, word)) or _commands(
        shorter, longer, word
    )


def converse(a: str, b: str, alike: Mapping[str, str] | None = None) -> bool:
    """Whether two sentences tell one relation from its two ends, in the same words."""
    return any(same_words(a, turned, alike) for turned in converses(b))


def commanded(a: str, b: str) -> bool:
    """Whether one of two sentences commands what must be done by the other."""
    rest = difference(a, b)
    if rest.left + rest.right != ("must",):
        return False
    longer, shorter = (read(a), read(b)) if rest.left else (read(b), read(a))
    return _commands(shorter, longer, "must")


def _commands(a: Sentence, b: Sentence, word: str) -> bool:
    """Whether ``a`` is a command (``dry the samples``) and ``b``, which alone has ``word``, says it must be done."""
    verb = next((w for w in a if w.surface not in _COMMANDING), None)
    if word != "must" or verb is None or not verb.stem:
        return False
    if b[0].surface == "you" and b[1].stem == "must":
        return same_sentences(a, b[2:])
    return any(same_sentences(a, done) for done in done_first(b, verb.stem))


def _told_otherwise(a: Sentence, b: Sentence, rest: Difference) -> bool:
    """Whether ``a`` says that something lets happen what by ``b`` can happen with it, or that somebody is given what by
    ``b`` is received."""
    told = _OTHERWISE.get((rest.left, rest.right))
    if told is None:
        return False
    verbless = tuple(w for w in b if (w.stem,) != rest.right)
    return any(same_sentences(verbless, again) for again in told(a))


def _without(longer: Sentence, shorter: Sentence, word: str) -> Iterator[Sentence]:
    """``longer`` with the word that only it has accounted for: one said twice, the verb of ``renewal is performed``, of
    ``Y contains X`` for ``there is X in Y``, of ``A uses X to do B`` for ``A does B with X``."""
    if word in stems(shorter) and not any(w.surface in _PRONOUNS for w in shorter):
        for at in (at for at, w in enumerate(longer) if w.stem == word):
            yield (*longer[:at], *longer[at + 1 :])
    if word in _PERFORMING:
        yield from performed(longer, word)
    if word == "caus" and any(w.surface == "because" for w in shorter):
        yield from means_last(longer, word, "because")
    if word == "use":
        yield from used(longer)
    if word in _HAVING and shorter[0].surface == "there":
        yield tuple(w for w in longer if w.stem != word)
