"""CSV and TSV of any encoding and delimiter → one Markdown table."""

import csv
import io
from typing import Final

from kb_pipeline.convert.cleaning import clean
from kb_pipeline.convert.decoding import decode, repair_mojibake
from kb_pipeline.convert.tables import markdown_table
from kb_pipeline.convert.versions import version_of
from kb_pipeline.errors import ConversionError
from kb_pipeline.records import Converted, RawDoc

_DELIMITERS: Final = ",;\t|"
_SAMPLE: Final = 64 * 1024
_MAX_FIELD: Final = 1024 * 1024


def convert(doc: RawDoc, kind: str) -> Converted:
    """A table whose header is the first row. Raises ``ConversionError`` where a field is over 1 MB long."""
    text, _, warnings = decode(doc.content)
    text, repaired = repair_mojibake(text)
    if repaired:
        warnings += (f"mojibake repaired in {repaired} lines",)
    text = text.replace("\0", "")
    delimiter = "\t" if kind in ("tsv", "tab") else delimiter_of(text[:_SAMPLE])
    csv.field_size_limit(_MAX_FIELD)
    try:
        grid = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        cure = "Check that its quotes are closed."
        raise ConversionError(f"it is no readable table: {error}.", where=doc.doc_id, cure=cure) from error
    widths = {len(row) for row in grid if row}
    if len(widths) > 1:
        warnings += (f"rows have {min(widths)} to {max(widths)} fields",)
    return Converted(
        text=clean(markdown_table(grid)) if any(grid) else "",
        converter="kb_pipeline",
        converter_version=version_of("kb_pipeline"),
        source_type="table",
        metadata={"rows": sum(map(bool, grid)), "delimiter": delimiter},
        warnings=warnings,
    )


def delimiter_of(sample: str) -> str:
    """The delimiter that splits the most lines of ``sample`` into one and the same number of fields above one."""

    def agreement(delimiter: str) -> tuple[int, int]:
        rows = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
        widths = [len(row) for row in rows if row]
        common = max(set(widths), key=lambda width: (widths.count(width), width), default=1)
        return (widths.count(common), common) if common > 1 else (0, 0)

    try:
        return max(_DELIMITERS, key=agreement)
    except csv.Error:
        return ","
