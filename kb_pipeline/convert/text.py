"""Plain text → itself: decoded, repaired, cleaned. No markup is read into it."""

from typing import Final

from kb_pipeline.convert.cleaning import clean
from kb_pipeline.convert.decoding import decode, repair_mojibake
from kb_pipeline.convert.versions import version_of
from kb_pipeline.records import Converted, RawDoc, SourceType

_NOTES: Final = frozenset(("txt", "text"))
_MAX_TITLE: Final = 120


def convert(doc: RawDoc, kind: str) -> Converted:
    """The text of ``doc``; never fails, every guess at its encoding is a warning."""
    text, warnings = readable(doc.content)
    source_type: SourceType = "note" if kind in _NOTES else "doc"
    return Converted(
        text=text,
        converter="kb_pipeline",
        converter_version=version_of("kb_pipeline"),
        title=_title(text),
        source_type=source_type,
        warnings=warnings,
    )


def readable(data: bytes) -> tuple[str, tuple[str, ...]]:
    """Decoded, repaired and cleaned text, and warnings."""
    text, _, warnings = decode(data)
    text, repaired = repair_mojibake(text)
    if repaired:
        warnings += (f"mojibake repaired in {repaired} lines",)
    cleaned = clean(text)
    return cleaned, warnings


def _title(text: str) -> str:
    """The first line where a blank line sets it off and it is short enough to be a title."""
    first, _, rest = text.lstrip("\n").partition("\n")
    is_title = len(first) <= _MAX_TITLE and rest.startswith("\n") and not first.endswith((".", ":"))
    return first.strip() if is_title else ""
