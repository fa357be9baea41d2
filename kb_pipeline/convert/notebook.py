"""Jupyter notebooks (nbformat 3 to 5) → Markdown: prose as it is, code in fences, text outputs within bounds."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from kb_pipeline.convert.cleaning import clean
from kb_pipeline.convert.fences import fenced
from kb_pipeline.convert.front_matter import names
from kb_pipeline.convert.markdown import heading
from kb_pipeline.convert.versions import version_of
from kb_pipeline.errors import ConversionError
from kb_pipeline.records import Converted, RawDoc

# An output longer than this is a log or a data dump: its head tells what it is.
MAX_OUTPUT_LINES: Final = 40
MAX_OUTPUT_CHARACTERS: Final = 4_000
_ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_EMBEDDED: Final = re.compile(r"!\[([^\]]*)\]\((?:data:|attachment:)[^)]*\)")


def convert(doc: RawDoc, kind: str) -> Converted:
    """Cells in order, outputs cut to 40 lines, images left out. Raises ``ConversionError`` where it is no notebook."""
    del kind
    try:
        book = json.loads(doc.content)
        sheets = book.get("worksheets") or [book]
        cells = [cell for sheet in sheets for cell in sheet["cells"] if isinstance(cell, dict)]
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError) as error:
        cure = "Open it in Jupyter and save it again."
        raise ConversionError("it is not a notebook.", where=doc.doc_id, cure=cure) from error
    about = _mapping(book.get("metadata"))
    language = _language(about)
    text = clean("\n\n".join(block for cell in cells for block in _cell(cell, language)))
    return Converted(
        text=text,
        converter="kb_pipeline",
        converter_version=version_of("kb_pipeline"),
        title=str(about.get("title") or heading(text)),
        authors=names(about.get("authors")),
        source_type="doc",
        metadata={"language": language},
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _language(about: Mapping[str, Any]) -> str:
    info, kernel = _mapping(about.get("language_info")), _mapping(about.get("kernelspec"))
    return str(info.get("name") or kernel.get("language") or "python").lower()


def _text(value: Any) -> str:
    """nbformat writes a text as one string or as a list of lines."""
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _cell(cell: Mapping[str, Any], language: str) -> Iterator[str]:
    source = _text(cell.get("source", cell.get("input"))).strip("\n")
    match cell.get("cell_type"):
        case "markdown":
            yield _EMBEDDED.sub(r"\1", source)
        case "heading":
            level = cell.get("level", 1)
            yield f"{'#' * (level if level in range(1, 7) else 1)} {source}"
        case "code" if source.strip():
            yield fenced(source, language)
            for output in cell.get("outputs") or ():
                yield from _output(_mapping(output))
        case "raw" if source.strip():
            yield fenced(source)
        case _:
            pass


def _output(output: Mapping[str, Any]) -> Iterator[str]:
    """Streams, results and errors as text; richer forms of the same result (images, HTML) are left out."""
    data = _mapping(output.get("data"))
    if output.get("output_type") in ("error", "pyerr"):
        yield fenced(_bounded(f"{output.get('ename', 'Error')}: {output.get('evalue', '')}"))
    elif "text/markdown" in data:
        yield _bounded(_EMBEDDED.sub(r"\1", _text(data["text/markdown"])))
    else:
        text = _bounded(_text(data.get("text/plain", output.get("text"))))
        if text and not re.fullmatch(r"<[^>\n]+>", text):
            yield fenced(text)


def _bounded(text: str) -> str:
    text = _ANSI.sub("", text).strip("\n").rstrip()
    lines = text[:MAX_OUTPUT_CHARACTERS].split("\n")
    cut = len(text) > MAX_OUTPUT_CHARACTERS or len(lines) > MAX_OUTPUT_LINES
    return "\n".join(lines[:MAX_OUTPUT_LINES]) + ("\n…" if cut else "")
