"""From Markdown to plain text, within a sentence. Owns what is inline markup; refuses to know blocks and offsets."""

import html
import re

_CODE = re.compile(r"(?<!`)(`+)(?!`)\s?(.+?)\s?(?<!`)\1(?!`)", re.DOTALL)
_IMAGE = re.compile(r"!\[[^\]]*\](?:\([^()\s]*(?:\([^()]*\)[^()]*)*\)|\[[^\]]*\])")
_FOOTNOTE = re.compile(r"\[\^[^\]]+\]:?")
_LINK = re.compile(r"\[([^\[\]]+)\](?:\(\s*<?[^()<>]*(?:\([^()]*\)[^()]*)*>?(?:\s+\"[^\"]*\")?\s*\)|\[[^\[\]]*\])")
# A reference whose address stands elsewhere: only what is surely a name, since brackets mean much else.
_SHORTCUT = re.compile(
    r"(?<![\w\])])\[(\ue000\d+\ue001|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[A-Za-z]+[a-z][A-Z]\w*)\](?![\[(:\w])"
)
_AUTOLINK = re.compile(r"<((?:https?|mailto|ftp):[^<>\s]+)>")
_TAG = re.compile(r"<(?:!--.*?--|/?[a-zA-Z][a-zA-Z0-9-]*(?:\s[^<>]*)?/?)>", re.DOTALL)
_BREAK = re.compile(r"<br\s*/?>")
# Bare ``__init__`` is a name, not strong text.
_STRONG = re.compile(r"(?<![\w*])(\*{1,3}|__(?![a-z0-9_]+__)|~~|==)(?=[^\s*])(.+?)(?<=[^\s*])\1(?![\w*])", re.DOTALL)
_TIGHT_STRONG = re.compile(r"\*\*(?=[^\s*])([^*]+?)(?<=[^\s*])\*\*")
_UNPAIRED = re.compile(r"^(?:\*{1,3}|~~)(?=\w)|(?<=[\w.!?)])(?:\*{2,3}|~~)$")  # its other half is in another sentence
_EMPHASIS = re.compile(r"(?<![\w_])_(?=[^\s_])([^_]+?)(?<=[^\s_])_(?![\w_])", re.DOTALL)
_ATTRIBUTES = re.compile(r"(?<=\S)\s?\{[:#.][^{}\n]*\}")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_MARKED = re.compile(r"[`\[*_&\\]|~~|==|<[a-zA-Z/!]|\{[:#.]")  # how all of it begins
_HELD = re.compile("\ue000(\\d+)\ue001")


def plain(text: str) -> str:
    """``text`` without inline markup, white space folded; the content of code spans stays exactly as written."""
    if not _MARKED.search(text):
        return _fold(text)
    held: list[str] = []

    def hold(content: str) -> str:
        held.append(content)
        return f"\ue000{len(held) - 1}\ue001"

    text = _CODE.sub(lambda m: hold(m[2]), text)
    text = _ESCAPE.sub(lambda m: hold(m[1]), text)
    text = _AUTOLINK.sub(lambda m: hold(m[1]), text)
    text = _BREAK.sub(" ", text)
    for pattern in (_IMAGE, _FOOTNOTE, _TAG, _ATTRIBUTES):
        text = pattern.sub("", text)
    text = _SHORTCUT.sub(r"\1", _LINK.sub(r"\1", text))
    for _ in range(2):  # emphasis within emphasis
        text = _TIGHT_STRONG.sub(r"\1", _STRONG.sub(r"\2", text))
    text = html.unescape(_UNPAIRED.sub("", _EMPHASIS.sub(r"\1", text).strip()))
    return _fold(_HELD.sub(lambda m: held[int(m[1])], text))


def code_spans(text: str) -> list[str]:
    """Contents of the code spans of ``text``."""
    return [m[2] for m in _CODE.finditer(text)] if "`" in text else []


def link_share(text: str) -> float:
    """How much of the words of ``text`` (0 to 1) is the text of links."""
    linked = "".join(plain(m[1] or m[2]) for m in re.finditer(rf"{_LINK.pattern}|<a\s[^>]*>(.*?)</a>", text, re.DOTALL))
    linked += "".join(re.findall(r"https?://\S+", _LINK.sub("", _TAG.sub("", text))))
    letters = sum(map(str.isalnum, plain(text)))
    return sum(map(str.isalnum, linked)) / letters if letters else 1.0


def _fold(text: str) -> str:
    return " ".join(text.split())
