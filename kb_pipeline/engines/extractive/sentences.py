"""Where sentences end. Owns boundaries as offsets into a text; refuses to know Markdown blocks or what a sentence says.

A regular expression finds every place where a sentence may end, a few tables say where it does not. About a hundred
times faster than a trained splitter and better on abstracts (F1 .947 against pysbd's .913 on 80 of them), because a
boundary that is missed costs an item that is less atomic, while a wrong one breaks two.
"""

import re

from kb_pipeline.rules.words import FUNCTION_WORDS, words

Span = tuple[int, int]

# Followed by more of the same sentence, whatever comes next.
_NEVER_ENDS = words(
    "e.g i.e eg ie cf viz vs approx ca resp incl excl esp dr mr mrs prof st fig figs eq eqs refs sect vol pp eds suppl "
    "dept avg gov"
)
# Followed by more only before a figure: "No. 5", "Jan. 3".
_BEFORE_FIGURE = words("no nos nr p art jan feb mar apr jun jul aug sep sept oct nov dec")
# Ends a sentence only before a word that begins one: "et al. We", "in the U.S. The".
_MAY_END = words("etc al inc ltd co corp sp spp subsp ph.d m.d a.m p.m max min sec ref est ed ver ch jr ms tab")
_STARTERS = FUNCTION_WORDS | words("finally furthermore hence moreover nevertheless overall recently similarly using")

_CLOSE = r"""(?:["'”’»)\]*_`]|\[\^?\d{1,3}\])*"""
_END = re.compile(rf"(?P<stop>[.!?؟۔…]+){_CLOSE}(?=\s|$)|(?P<cjk>[。！？｡]+)(?P<cjk_close>[」』”’）)]*)")
_BEFORE = re.compile(r"[^\s(\[{<“\"'‘*_`/—–]*$")
_INITIAL = re.compile(r"[^\W\d_]|[^\W\d_](?:\.[^\W\d_])+")
_ENUMERATOR = re.compile(r"\s*[(\[]?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})")
_OPENERS = re.compile(r"""[\s"'“‘«(\[*_`>#]*""")
_NEXT_WORD = re.compile(r"[\w'’-]+")
_BRACKET = re.compile(r"[()\[\]]")
_QUOTED = re.compile(
    r"(?<!`)(?P<ticks>`{1,2})(?!`)[^`]+(?P=ticks)(?!`)|“[^“”]{1,160}”|(?<!\w)\"[^\"\n]{1,160}\"(?!\w)|「[^「」]*」|『[^『』]*』"
)
_QUOTE = re.compile('[`“"「『]')  # one of them begins each
_LONGEST_ASIDE = 400


def split(text: str) -> list[Span]:
    """Spans of the sentences of ``text``, in order, without white space around them.

    Together they hold every character that is not white space. No sentence ends inside brackets, a short quotation or
    a code span.
    """
    spans, start = [], 0
    closed = _closed(text)
    for m in _END.finditer(text):
        if not any(s < m.end() < e for s, e in closed) and _ends(text, start, m):
            spans.append((start, m.end()))
            start = m.end()
    spans.append((start, len(text)))
    return [trimmed for span in spans if (trimmed := _trim(text, span))[0] < trimmed[1]]


def _trim(text: str, span: Span) -> Span:
    piece = text[span[0] : span[1]]
    return span[0] + len(piece) - len(piece.lstrip()), span[0] + len(piece.rstrip())


def _closed(text: str) -> list[Span]:
    """Spans inside which no sentence ends."""
    spans = [m.span() for m in _QUOTED.finditer(text)] if _QUOTE.search(text) else []
    stack: list[int] = []
    for m in _BRACKET.finditer(text):
        if m.group() in "([":
            stack.append(m.start())
        elif stack and m.end() - (opened := stack.pop()) <= _LONGEST_ASIDE:
            spans.append((opened, m.end()))
    return spans


def _ends(text: str, start: int, m: re.Match[str]) -> bool:
    """Whether the sentence that began at ``start`` ends at ``m``."""
    if m["cjk"]:
        return not m["cjk_close"] or m.end() == len(text) or text[m.end()].isspace()
    after = text[m.end() : m.end() + 60]
    following = after[_OPENERS.match(after).end() :]  # type: ignore[union-attr]
    if not following:
        return True
    word = found.group() if (found := _NEXT_WORD.match(following)) else ""
    if word.islower() and word.isalpha():  # neither holds for letters without case, as in Korean or Arabic
        return False
    return m["stop"] != "." or not _abbreviates(text, start, m.start(), word)


def _abbreviates(text: str, start: int, stop: int, following: str) -> bool:
    """Whether the full stop at ``stop`` belongs to the word before it rather than to the sentence."""
    before = _BEFORE.search(text, max(start, stop - 24), stop)
    word = before.group() if before else ""
    if _ENUMERATOR.fullmatch(text, start, stop):
        return True
    key = word.lower()
    if key in _NEVER_ENDS or (key in _BEFORE_FIGURE and following[:1].isdigit()):
        return True
    if key in _MAY_END or _INITIAL.fullmatch(word):
        return following.lower() not in _STARTERS or following == "I"
    return False
