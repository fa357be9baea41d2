"""Bytes of unknown encoding → text: byte-order mark, UTF-8, then a guess; mojibake repaired. Knows no format."""

import codecs
from typing import NamedTuple

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE = 256 * 1024
_WESTERN = "cp1252"


class Decoded(NamedTuple):
    """Text, the encoding it was read with, and what had to be guessed or repaired."""

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()


def decode(data: bytes, declared: str = "") -> Decoded:
    """Text of ``data``. Never raises: what no encoding explains is replaced by U+FFFD, with a warning.

    ``declared`` is an encoding that the document or its server names; it is believed only where it fits.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _replacing(data.removeprefix(mark) if encoding == "utf-8" else data, encoding)
    for encoding in (_without_mark(data), declared, "utf-8"):
        text = _strictly(data, encoding)
        if text is not None:
            return Decoded(text, encoding)
    return _guess(data)


def repair_mojibake(text: str) -> tuple[str, int]:
    """``text`` with lines such as ``cafÃ©`` read as they were meant, and how many lines that were."""
    if text.isascii():
        return text, 0
    from ftfy import fix_encoding  # loaded only where a text needs it
    from ftfy.badness import is_bad

    lines = text.split("\n")
    repaired = [fix_encoding(line) if is_bad(line) else line for line in lines]
    return "\n".join(repaired), sum(a != b for a, b in zip(lines, repaired, strict=True))


def _without_mark(data: bytes) -> str:
    """UTF-16 without a mark shows as a NUL in nearly every second byte of mostly Latin text."""
    sample = data[:4096]
    if len(sample) < 8 or len(data) % 2:
        return ""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if odd > 0.7 * half and even < 0.05 * half:
        return "utf-16-le"
    return "utf-16-be" if even > 0.7 * half and odd < 0.05 * half else ""


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding) if encoding else None
    except (UnicodeError, LookupError):
        return None


def _replacing(data: bytes, encoding: str) -> Decoded:
    text = data.decode(encoding, errors="replace")
    lost = text.count("\ufffd")
    return Decoded(text, encoding, (f"{lost} invalid byte sequences were replaced",) if lost else ())


def _guess(data: bytes) -> Decoded:
    """The likeliest of charset-normalizer's answers, Windows Western winning a tie; else UTF-8 with replacements."""
    mostly_utf8 = _replacing(data, "utf-8")
    damaged = mostly_utf8.text.count("\ufffd")
    readable = sum(1 for c in mostly_utf8.text if ord(c) > 127) - damaged
    # No legacy encoding of text uses NUL: a file that holds one is damaged, not foreign.
    if readable > 4 * damaged or b"\0" in data:
        return mostly_utf8
    from charset_normalizer import from_bytes  # loaded only where a text needs it

    matches = list(from_bytes(data[:_SAMPLE]))
    best = [m.encoding for m in matches if (m.chaos, -m.coherence) == (matches[0].chaos, -matches[0].coherence)]
    for encoding in [_WESTERN] * (_WESTERN in best) + best:
        text = _strictly(data, encoding)
        if text is not None:
            return Decoded(text, encoding, (f"encoding guessed: {encoding}",))
    return mostly_utf8
