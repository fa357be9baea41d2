"""PDF → Markdown by liteparse, after a triage by pypdf; pypdf's plain text where liteparse reads nothing."""

from __future__ import annotations

import io
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kb_pipeline.convert.cleaning import clean, hardly_any_text
from kb_pipeline.convert.versions import version_of
from kb_pipeline.errors import ConversionError
from kb_pipeline.records import Converted, RawDoc

if TYPE_CHECKING:
    from pypdf import PdfReader

# What pypdf raises, besides its own errors, on files that are not what they say.
_DAMAGE: Final = (ValueError, TypeError, KeyError, IndexError, AttributeError, OSError, RecursionError, zlib.error)
# All page contents together. pypdf bounds one stream at 75 MB; a bomb may spread over many.
_MAX_CONTENT_BYTES: Final = 300 * 1024 * 1024
_JUNK_NAME: Final = re.compile(
    r"^\W*(?:anonymous|unspecified|untitled|unknown|user|admin|owner|author|title)\W*$|\.\w{2,4}$", re.IGNORECASE
)
_WORD_TITLE: Final = re.compile(r"^Microsoft (?:Word|PowerPoint) - ")
_PDF_DATE: Final = re.compile(r"^D:(\d{4})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
_FENCE: Final = re.compile(r"^(`{3,}).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_FENCED_TEXT: Final = re.compile(r"\n[^\n]*\w[^\n]*\n")
_IMAGE: Final = re.compile(r"!\[([^\]\n]*)\]\([^)\n]*\)")
_STRONG: Final = re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*\n]+?)(?<=[^\s*])\1(?![\w*])")
_PAGE_NUMBER: Final = re.compile(
    r"^(?:\W*(?:page|seite|página)?\W*\d{1,4}\W*(?:(?:of|von|de|/)\s*\d{1,4})?\W*)$", re.IGNORECASE
)
_RULE: Final = re.compile(r"^[-_*=\s]{3,}$")
_NOT_PROSE: Final = re.compile(r"^(?:#{1,6} |[|>`]|[-*+•] |\d+[.)] )")
_SENTENCE_END: Final = re.compile(r"[.!?:;…。！？]['\"”’)\]]*$")


@dataclass(frozen=True)
class _About:
    """What the triage learnt: number of pages (0 where unknown) and the document's own metadata."""

    pages: int = 0
    title: str = ""
    authors: tuple[str, ...] = ()
    date: str | None = None
    warnings: tuple[str, ...] = ()


def convert(doc: RawDoc, kind: str) -> Converted:
    """Markdown of all pages, ``metadata["pages"]`` their number.

    Raises ``ConversionError`` where the file is empty, needs a password, inflates beyond bounds or has no page that
    either library can read. A scan is converted (to hardly any text): reading images is not this converter's work.
    """
    del kind
    about = _triage(doc)
    pages, converter, warnings = _read(doc, about)
    text = clean("\n\n".join(_flow(_without_furniture(pages))))
    heading = re.match(r"#{1,6} (.+)", text)
    return Converted(
        text=text,
        converter=converter,
        converter_version=version_of(converter),
        title=about.title or (heading.group(1) if heading else ""),
        authors=about.authors,
        effective_date=about.date,
        source_type="doc",
        metadata={"pages": about.pages or len(pages)},
        warnings=about.warnings + warnings,
    )


# --- triage ------------------------------------------------------------------------------------------------------


def _triage(doc: RawDoc) -> _About:
    """Refuse what must not reach a parser that inflates without bounds; read the metadata."""
    from pypdf import PasswordType, PdfReader  # heavy: loaded by a worker alone
    from pypdf.errors import EmptyFileError, FileNotDecryptedError, LimitReachedError, PyPdfError

    try:
        reader = PdfReader(io.BytesIO(doc.content))
        if reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED:
            raise FileNotDecryptedError
        pages = len(reader.pages)
        if sum(_content_sizes(reader)) > _MAX_CONTENT_BYTES:
            raise LimitReachedError
        found: Mapping[str, Any] = reader.metadata or {}
        named = {key: str(found.get(key) or "").strip() for key in ("/Title", "/Author", "/ModDate", "/CreationDate")}
    except FileNotDecryptedError as error:
        cure = "Save a copy without a password."
        raise ConversionError("it is protected by a password.", where=doc.doc_id, cure=cure) from error
    except LimitReachedError as error:
        cure = "Print it to a new PDF if it is trusted."
        raise ConversionError("its pages inflate beyond 300 MB.", where=doc.doc_id, cure=cure) from error
    except EmptyFileError as error:
        raise ConversionError("the file is empty.", where=doc.doc_id, cure="Fetch or export it again.") from error
    except (PyPdfError, *_DAMAGE) as error:
        return _About(warnings=(f"damaged PDF, read as far as possible ({type(error).__name__})",))
    title = _WORD_TITLE.sub("", named["/Title"])
    date = _PDF_DATE.match(named["/ModDate"]) or _PDF_DATE.match(named["/CreationDate"])
    authors = (a.strip() for a in re.split(r"[;,]", named["/Author"]))
    return _About(
        pages=pages,
        title="" if _JUNK_NAME.search(title) else title,
        authors=tuple(a for a in authors if a and not _JUNK_NAME.search(a)),
        date="-".join(date.groups()) if date else None,
    )


def _content_sizes(reader: PdfReader) -> Iterator[int]:
    """Bytes of each content stream once inflated; pypdf raises ``LimitReachedError`` for a single bomb."""
    for page in reader.pages:
        contents: Any = page.get("/Contents")
        contents = contents.get_object() if contents is not None else []
        for part in contents if isinstance(contents, list) else [contents]:
            stream = part.get_object()
            if hasattr(stream, "get_data"):
                yield len(stream.get_data())


# --- reading -----------------------------------------------------------------------------------------------------


def _read(doc: RawDoc, about: _About) -> tuple[list[str], str, tuple[str, ...]]:
    """Pages as Markdown, the library that read them, warnings."""
    from liteparse import LiteParse, ParseError  # native: loaded by a worker alone

    parser = LiteParse(
        output_format="markdown",
        ocr_enabled=False,
        continue_on_page_error=True,
        extract_links=False,
        image_mode="off",
        quiet=True,
    )
    try:
        result = parser.parse(doc.content)
        pages, reason = [page.markdown for page in result.pages], ""
        failed = tuple(f"page {error.page_num} could not be read" for error in result.page_errors or ())
    except ParseError as error:
        pages, reason, failed = [], str(error), ()
    if not hardly_any_text("".join(pages), about.pages or len(pages)):
        return pages, "liteparse", failed
    plain = _plain_pages(doc)
    if sum(map(len, plain)) > sum(map(len, pages)):
        return plain, "pypdf", (*failed, "only its plain text could be read")
    if reason:
        cure = "Open it in a PDF reader and print it to a new PDF."
        raise ConversionError(f"it cannot be read ({reason}).", where=doc.doc_id, cure=cure)
    return pages, "liteparse", failed


def _plain_pages(doc: RawDoc) -> list[str]:
    from pypdf import PdfReader  # heavy: loaded by a worker alone
    from pypdf.errors import PyPdfError

    try:
        reader = PdfReader(io.BytesIO(doc.content))
        if reader.is_encrypted:
            reader.decrypt("")
        return [page.extract_text() for page in reader.pages]
    except (PyPdfError, *_DAMAGE):
        return []


# --- from pages to a text ----------------------------------------------------------------------------------------


def _blocks(page: str) -> list[str]:
    """The blocks of a page without emphasis, images, rules and empty fences."""
    pieces, at = [], 0
    for fence in _FENCE.finditer(page):
        pieces += _prose(page[at : fence.start()])
        if _FENCED_TEXT.search(fence.group()):
            pieces.append(fence.group())
        at = fence.end()
    return pieces + _prose(page[at:])


def _prose(markdown: str) -> list[str]:
    blocks = (block.strip() for block in re.split(r"\n\s*\n", _IMAGE.sub(r"\1", markdown)))
    return [_STRONG.sub(r"\2", block) for block in blocks if block and not _RULE.match(block)]


def _without_furniture(pages: Sequence[str]) -> list[list[str]]:
    """Blocks by page without page numbers and, from three pages on, the first and last lines that most pages share."""
    split = [_blocks(page) for page in pages]
    edges = Counter(key for blocks in split for key in {_shape(b) for b in (*blocks[:1], *blocks[-1:])})
    common = {key for key, n in edges.items() if n >= 3 and 2 * n > len(pages)}
    for blocks in split:
        for end in (0, -1):
            while len(blocks) > 1 and (_shape(blocks[end]) in common or _PAGE_NUMBER.match(blocks[end])):
                del blocks[end]
    return split


def _shape(block: str) -> str:
    """A block with its digits made equal: running heads differ in the page number alone."""
    return re.sub(r"\d+", "0", block).casefold()


def _flow(pages: Sequence[Sequence[str]]) -> list[str]:
    """Blocks in order, a sentence that a line or page break cut in two made whole."""
    flowing: list[str] = []
    for block in (b for page in pages for b in page):
        before = flowing[-1] if flowing else ""
        prose = before and not _NOT_PROSE.match(before) and not _NOT_PROSE.match(block)
        if prose and block[0].islower() and not _SENTENCE_END.search(before):
            flowing[-1] = f"{before} {block}"
        else:
            flowing.append(block)
    return flowing
