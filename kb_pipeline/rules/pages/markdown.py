"""Plain sentences as Markdown that any reader shows alike: names of code as code, all else to the letter. Pure."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from types import MappingProxyType

from kb_pipeline.rules.shown import whole

_NAME = r"\.?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"
_VALUE = r"(?:\[[^\]`\n]*\]|\{[^}`\n]*\}|\"[^\"`\n]*\"|'[^'`\n]*'|[\w./-]*\w)"
_CODE = re.compile(
    r"(?<![\w`])(?:"
    rf"(?:await\s+)?{_NAME}\((?:[^()`\n]|\([^()`\n]*\))*\)(?:\.\w+)*"  # a call
    rf"|--[a-z][\w-]+(?:={_VALUE})?"  # a flag
    rf"|{_NAME}={_VALUE}"  # an argument with its value
    rf"|{_NAME}\[(?:[\"'][^\]`\n]*[\"']|[A-Za-z]\w*(?:, ?\w+)*)\]"  # an element, a generic type
    r"|(?:[\w.~*-]*/)+[\w.*-]+\.\w{1,5}\b"  # a path
    r"|\*\.\w+(?:\.\w+)+"  # a wildcard
    r"|(?:[A-Za-z_]\w*\.)*(?:_*[A-Za-z]\w*_\w+|__\w+__)(?:\.\w+)*"  # snake case
    r"|(?!(?:\w\.)+\w\b(?!\.\w))[a-z_]\w*(?:\.[A-Za-z_]\w*)+"  # dotted, but for i.e. and its like
    r"|(?<=\s)\[(?:'[^'`\n]*'|\"[^\"`\n]*\")?(?:, ?(?:'[^'`\n]*'|\"[^\"`\n]*\"))*\]"  # a list of strings
    r")(?![\w`])"
)
_SIGN = re.compile(
    r"[-\[/_(=.](?:(?<=[\[/_])|(?<=\w[(=])|(?<=--)|(?<=\.)(?=[A-Za-z_])|(?<=\*\.))"
)  # all code has one, few sentences do: to look for code itself takes long
_URL = re.compile(r"https?://[^\s<>()\[\]*\\`'\"]+[^\s<>()\[\]*\\`'\".,;:!?](?![*\\])")
_SPOKEN = re.compile(r"\(\w+(?: \w+)+\)$")  # words in brackets are no arguments
_SPAN = re.compile(r"(?<!`)(`+)(?!`)(?:.*?[^`])\1(?!`)")
_SPECIAL = re.compile(
    r"[\\`*\[<~$_]"  # first, so that most text is passed over at once
    r"(?:(?<=[\\`*\[<])|(?<=~)(?=~)|(?<=\$)(?=.*\$)|(?<=_)(?:(?<![^\W_]_)|(?![^\W_])))"
)
_LINE_START = re.compile(r"^(?:([-+=#>|])(?=\s|$|[-=#>|])|(\d+)([.)])(?=\s))")
_HOST = re.compile(r"(?:[a-z0-9-]+\.)+(?:com|org|io|net|dev|ai|html?)$")
_ESCAPE = re.compile(r"\\(?=[\\`*_\[\]<>#|~$.)+=-])")
_NONE: Mapping[str, Sequence[bool]] = MappingProxyType({})
_ENCODED = str.maketrans({c: f"%{ord(c):02X}" for c in (*" ()<>%\"'#?", *map(chr, range(32)))})


def inline(text: str, names: Mapping[str, Sequence[bool]] = _NONE) -> str:
    """``text`` with names of code in backticks, addresses as links, and what Markdown would read as its own escaped.

    ``names`` are code beside what looks like it: each where, for the time that it occurs, true stands.
    """
    text = " ".join(text.split())
    found: list[str] = []
    at = 0
    matches = [*_URL.finditer(text), *_known(text, names), *_coded(text)]
    for m in sorted(matches, key=lambda m: (m.start(), -m.end())):
        if m.start() < at or (m.re is _CODE and _SPOKEN.search(m[0])):
            continue
        found.append(_escaped(text[at : m.start()], first=at == 0))
        plainly = m.re is _CODE and _HOST.fullmatch(m[0])
        found.append(f"<{m[0]}>" if m.re is _URL else m[0] if plainly else f"`{m[0]}`")
        at = m.end()
    return "".join([*found, _escaped(text[at:], first=at == 0)])


def _known(text: str, names: Mapping[str, Sequence[bool]]) -> Iterator[re.Match[str]]:
    for name, as_code in names.items():
        yield from compress(re.finditer(whole(name), text), as_code)


def _coded(text: str) -> Iterator[re.Match[str]]:
    return _CODE.finditer(text) if _SIGN.search(text) else iter(())


def quoted(text: str) -> str:
    """Markdown of a document as a quote: its code as code, all else to the letter, since a link of it may lead nowhere
    from here."""
    text, at, found = " ".join(text.split()), 0, []
    for m in _SPAN.finditer(text):
        found += [_escaped(text[at : m.start()], first=at == 0), m[0]]
        at = m.end()
    return "".join([*found, _escaped(text[at:], first=at == 0)])


def _escaped(text: str, *, first: bool) -> str:
    text = _SPECIAL.sub(r"\\\g<0>", text)
    return _LINE_START.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", text) if first else text


def fenced(code: str, language: str = "") -> str:
    """``code`` as a block, whatever marks of fences it holds itself."""
    longest = max(map(len, re.findall(r"`{3,}", code)), default=2)
    mark = "`" * (longest + 1)
    return f"\n{mark}{language}\n{code}\n{mark}\n\n"


def plain(markdown: str) -> str:
    """What ``inline`` made its text from, but for white space."""
    parts = re.split(r"((?<!\\)`[^`]*`|<https?://[^>]*>)", markdown)
    return "".join(p[1:-1] if n % 2 else _ESCAPE.sub("", p) for n, p in enumerate(parts))


def label(title: str) -> str:
    """A title as the text of a link or a heading."""
    return _SPECIAL.sub(r"\\\g<0>", " ".join(title.split()))


def address(path: str) -> str:
    """A relative path as the target of a link: what would end it early is encoded, letters of any script stay."""
    return path.translate(_ENCODED)


def anchor(heading: str) -> str:
    """The anchor that code hosts give to a heading."""
    kept = "".join(c for c in heading.lower() if c.isalnum() or c in " -_" or unicodedata.category(c).startswith("M"))
    return kept.replace(" ", "-")


def is_rtl(text: str) -> bool:
    """Whether most letters of ``text`` are written from right to left."""
    letters = [unicodedata.bidirectional(c) for c in text if c.isalpha()]
    return sum(kind in {"R", "AL"} for kind in letters) * 2 > len(letters)
