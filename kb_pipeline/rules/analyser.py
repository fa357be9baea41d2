"""Text to search tokens: one analyser for indexing and querying in every backend. Pure.

Owns what a token is: a run of text without white space gives its whole form, the forms that engineers paste parts of
(``eu-west-1`` of a host name, ``1.13`` of ``v1.13.28``) and its words, stemmed. Knows nothing of an index or a score.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import Stemmer

VERSION = f"1 snowball {Stemmer.version()}"
"""Changes with every change of the tokens; an index made under another version is rebuilt."""

WORD, PART = 1.0, 0.3
"""Weights in a query of a word or a whole compound, and of a compound's other forms. Of 0.3 to 1.0 for the latter, 0.3
found the documents of 500 titles and 500 concluding sentences best (nDCG@10 .949 and .836; 1.0: .939 and .824)."""

_LONGEST = 120
"""Longer runs are data (base64, minified code): kept whole up to here, never taken apart."""

_APART = re.compile(r"[\x00-\x1f\x7f-\x9f,;()\[\]{}<>\"|`\u3001-\u3004\u3008-\u3020\u30fb\u201c-\u201f\u00ab\u00bb]")
"""What ends a run, as white space does."""
_UNSPACED = re.compile(
    "(["
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3021-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Kana, Han
    "\u1100-\u11ff\uac00-\ud7af"  # Hangul
    "\U00020000-\U0003ffff"
    "]+)"
)

_HAN = re.compile("[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")

_SPELLING = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u02bc", "'"),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"),
        **dict.fromkeys("\u2014\u2015\u2022", " "),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", ""),
        **dict(zip("øØłŁđĐıёЁ", "oOlLdDiеЕ", strict=True)),
        **dict(zip("æÆœŒþÞ", ("ae", "AE", "oe", "OE", "th", "Th"), strict=True)),
    }
)
_FOREIGN = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")
"""What folding may change, with the letter that accents may stand on."""
_ACCENTS = re.compile("(?<=[A-Za-z\u0370-\u03ff])[\u0300-\u036f]+|[\u0591-\u05c7\u064b-\u0652]")

_COMPOUND = re.compile(r"(?P<lead>[\W_]*)(?P<core>[^\W_](?:.*[^\W_])?)(?P<tail>\+\+|[+#%])?", re.DOTALL)
_LEAD = re.compile(r"(?:--?|[.@#$/~]|_+)$")
_OUTER = re.compile(r"[^\w.'+-]+|\.{2,}")
_DOT = re.compile(r"(?<!\d)\.|\.(?!\d)")
_INNER = re.compile(r"[-_+']+|(?<!\d)\.|\.(?!\d)")
_SIGNED = re.compile(r"[^\W\d_]+(?:\+\+|#)")
_VERSION = re.compile(r"v?(\d+\.\d+)((?:\.\d+)*)")
_LETTERS_DIGITS = re.compile(r"[^\W\d_]+|\d+")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_HUMPED = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
_PROSE = re.compile(r"[^\W\d_]+(?:[-'][^\W\d_]+)*")

_STEMMERS = tuple(
    (re.compile(f"[{letters}]+"), Stemmer.Stemmer(language).stemWord)
    for language, letters in (
        ("english", "a-z"),
        ("russian", "\u0430-\u044f"),
        ("greek", "\u03ac-\u03ce"),
        ("arabic", "\u0621-\u064a"),
        ("hindi", "\u0900-\u097f"),
        ("tamil", "\u0b80-\u0bff"),
    )
)


def analyse(text: str) -> list[str]:
    """Tokens of ``text`` for indexing, in order and with repetition; each run gives each of its forms once."""
    return spelled(text).split()


def spelled(text: str) -> str:
    """The same tokens as one text with white space between them, which is how an index takes them."""
    return " ".join(map(_spelled, _runs(text)))


def query_tokens(text: str) -> dict[str, float]:
    """Tokens of a query to their weights, which add up where a token is repeated.

    A compound that is code rather than prose (``max_seq_len``, ``A100-40GB``) weighs ``WORD`` and its other forms
    ``PART``; of ``dose-dependent`` the words weigh ``WORD`` and the rest ``PART``.
    """
    weights: dict[str, float] = {}
    for piece in _pieces(text):
        for token, weight in _weighted(piece):
            weights[token] = weights.get(token, 0.0) + weight
    return weights


def exact_forms(text: str) -> list[tuple[str, ...]]:
    """What the author of a query pasted rather than phrased: the forms of each piece that is code, the whole first."""
    return list(dict.fromkeys(_forms(piece) for piece in _pieces(text) if _is_code(piece)))


def fold(text: str) -> str:
    """``text`` with compatibility forms, accents, quotes, dashes and invisible characters folded; case is kept."""
    return text if text.isascii() else _FOREIGN.sub(lambda found: _folded(found[0]), text)


@lru_cache(maxsize=1 << 16)
def _folded(stretch: str) -> str:
    """One stretch of ``_FOREIGN``; nothing before or after it decides what becomes of it."""
    text = unicodedata.normalize("NFKC", stretch).translate(_SPELLING)
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", text)))


def _runs(text: str) -> list[str]:
    """What white space and brackets set apart, folded."""
    return _APART.sub(" ", fold(text)).split()


def _pieces(text: str) -> Iterator[str]:
    """Runs of ``text``, cut where a script without spaces begins and ends."""
    for run in _runs(text):
        yield from filter(None, _UNSPACED.split(run))


@lru_cache(maxsize=1 << 18)
def _spelled(run: str) -> str:
    """The tokens of a run; most runs repeat, so each is taken apart once."""
    if run.isascii() and run.isalpha() and (run.islower() or run.istitle()):
        return _stem(run.lower())  # the one form of a plain word, as four of ten are
    if run.isascii():
        return " ".join(_forms(run))
    pieces = filter(None, _UNSPACED.split(run))
    return " ".join(
        token for piece in pieces for token in (_characters(piece) if _UNSPACED.fullmatch(piece) else _forms(piece))
    )


def _weighted(piece: str) -> Iterator[tuple[str, float]]:
    if _UNSPACED.fullmatch(piece):
        yield from ((token, WORD) for token in _bigrams(piece))
        return
    forms = _forms(piece)
    if len(forms) == 1:
        yield forms[0], WORD
    elif _is_code(piece):
        yield from ((form, PART if i else WORD) for i, form in enumerate(forms))
    else:
        words = {_stem(word.casefold()) for word in _INNER.split(piece)}
        yield from ((form, WORD if form in words else PART) for form in forms)


def _bigrams(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def _characters(run: str) -> list[str]:
    """Bigrams of a script without spaces; a Han character is a word often enough to be found alone."""
    return _bigrams(run) + (_HAN.findall(run) if len(run) > 1 else [])


def _is_code(piece: str) -> bool:
    """Whether a person would paste it: a digit, a hump, an underscore, a path, a sign, but not a hyphenated word."""
    match = _COMPOUND.match(piece)
    if not match or _UNSPACED.fullmatch(piece):
        return False
    flag = match["lead"].endswith("--") or bool(match["tail"])
    return flag or bool(_HUMPED.search(piece)) or not _PROSE.fullmatch(match["core"])


def _forms(piece: str) -> tuple[str, ...]:
    """Each form of a piece once, the whole first: ``A100-40GB`` gives ``a100-40gb a100 40gb 40 gb a10040gb``."""
    match = _COMPOUND.match(piece)
    if not match:
        return ()
    core, tail, lead = match["core"].removesuffix("'s"), match["tail"] or "", _LEAD.search(match["lead"])
    if core.isalpha() and not (tail or lead or _HUMPED.search(core)):
        return (_stem(core.casefold()),)
    whole = core.casefold()
    if len(core) > _LONGEST:
        return (whole[:_LONGEST],)
    forms = dict.fromkeys([f"{lead[0]}{whole}"] if lead else [])
    forms |= dict.fromkeys([f"{whole}{tail}", whole if not whole.isalpha() else _stem(whole)])
    for outer in filter(None, _OUTER.split(core)):
        forms |= dict.fromkeys(_outer_forms(outer))
    return tuple(filter(None, forms))


def _outer_forms(outer: str) -> Iterator[str]:
    """Forms of a stretch between slashes, colons and the like: itself, its dotted labels, their words, these joined."""
    yield _plain(outer)
    yield from (signed.casefold() for signed in _SIGNED.findall(outer))
    for label in filter(None, _DOT.split(outer)):
        yield _plain(label)
        words = [word for word in _INNER.split(label) if word]
        for word in words:
            yield from _word_forms(word, alone=len(words) == 1)
        if 1 < len(words) <= 3 and all(word.isalnum() for word in words):
            yield "".join(words).casefold()


def _word_forms(word: str, *, alone: bool) -> Iterator[str]:
    """Forms of what hyphens, underscores and dots separate; one letter says nothing beside other words."""
    if len(word) == 1 and word.isalpha() and not alone:
        return
    yield _plain(word)
    if version := _VERSION.fullmatch(word.casefold()):
        yield version[1] + version[2]
        yield version[1]
        return
    parts = _HUMPS.findall(word) if _HUMPED.search(word) else _LETTERS_DIGITS.findall(word)
    if len(parts) > 1 and any(len(part) > 1 and part.isalpha() for part in parts):
        yield from (_plain(part) for part in parts if len(part) > 1 or part.isdigit())


def _plain(form: str) -> str:
    """One form in index spelling: letters alone are a word and stemmed."""
    folded = form.strip("-_+'.").casefold()
    return _stem(folded) if folded.isalpha() else folded


def _stem(word: str) -> str:
    """The Snowball stem by script; Latin script is taken for English."""
    for letters, stem in _STEMMERS:
        if letters.fullmatch(word):
            return str(stem(word))
    return word
