"""Bytes → clean Markdown: one file a family of formats, ``FORMATS`` says which. Knows no disk, network or process.

Heavy libraries are loaded by the functions that use them, so that this package is cheap to import: risky formats are
converted in worker processes (``services/sandbox.py``), and only those pay.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from kb_pipeline.convert import code, ebook, html, mail, markdown, notebook, office, pdf, table, text
from kb_pipeline.convert.cleaning import clean, hardly_any_text
from kb_pipeline.convert.sniffing import sniff, zip_kind
from kb_pipeline.convert.versions import converter_versions
from kb_pipeline.errors import ConversionError
from kb_pipeline.records import Converted, RawDoc

__all__ = ["FORMATS", "NO_TEXT", "Format", "convert", "converter_versions", "hardly_any_text", "is_risky"]


@dataclass(frozen=True)
class Format:
    """A family of formats. ``risky``: its parsers can be made to run away, so a worker must do it.

    ``content`` are the kinds of bytes (``sniffing.sniff``) that a file of the family may hold.
    """

    name: str
    convert: Callable[[RawDoc, str], Converted]
    risky: bool
    content: frozenset[str]


_TEXT: Final = frozenset(("text", "empty"))
_CODE: Final = frozenset(("text", "empty", "html"))
_MARKDOWN: Final = Format("markdown", markdown.convert, risky=False, content=_TEXT)
_PLAIN: Final = Format("text", text.convert, risky=False, content=_TEXT)
_HTML: Final = Format("html", html.convert, risky=True, content=frozenset(("html", "text")))
_OFFICE: Final = Format(
    "office", office.convert, risky=True, content=frozenset((*office.MEDIA_TYPES, "zip", "encrypted-office", "ole"))
)

_FAMILIES: Final = (
    (_MARKDOWN, "md markdown mdown mkd mdx"),
    (_PLAIN, "txt text rst adoc asciidoc org tex log srt vtt readme license changelog"),
    (_HTML, "html htm xhtml"),
    (Format("pdf", pdf.convert, risky=True, content=frozenset(("pdf", "binary"))), "pdf"),
    (_OFFICE, " ".join(office.MEDIA_TYPES)),
    (Format("ebook", ebook.convert, risky=True, content=frozenset(("epub", "zip"))), "epub"),
    (Format("mail", mail.convert, risky=True, content=frozenset(("text",))), "eml mbox"),
    (Format("notebook", notebook.convert, risky=False, content=frozenset(("text",))), "ipynb"),
    (Format("table", table.convert, risky=False, content=_TEXT), "csv tsv tab"),
    (Format("code", code.convert, risky=False, content=_CODE), " ".join(code.LANGUAGES)),
)
FORMATS: Final = {extension: family for family, extensions in _FAMILIES for extension in extensions.split()}

_NO_TEXT: Final = (
    "png jpg jpeg gif webp bmp tif tiff ico heic avif psd svg eps ai "
    "mp3 wav flac ogg m4a aac mp4 mkv avi mov webm wmv "
    "zip gz tgz bz2 xz zst 7z rar tar jar war whl iso dmg "
    "exe dll so dylib bin o a class pyc wasm deb rpm apk "
    "ttf otf woff woff2 db sqlite sqlite3 parquet arrow feather npy npz pkl pt pth onnx safetensors gguf h5"
)
NO_TEXT: Final = frozenset(_NO_TEXT.split())

_MEDIA_TYPES: Final = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/markdown": "md",
    "text/plain": "txt",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "application/pdf": "pdf",
    "application/json": "json",
    "application/x-ipynb+json": "ipynb",
    "application/xml": "xml",
    "text/xml": "xml",
    "text/rtf": "rtf",
    "application/epub+zip": "epub",
    "message/rfc822": "eml",
    "application/mbox": "mbox",
    **{media_type: kind for kind, media_type in reversed(office.MEDIA_TYPES.items())},
}
# Names that tell a format without a dot; a file called ``c`` or ``a`` is no program and no archive.
_WHOLE_NAMES: Final = frozenset({"changelog", "dockerfile", "license", "makefile", "readme"})
# In-process work is bounded by size: a larger file is a worker's, whatever it is.
LARGE: Final = 16 * 1024 * 1024


def is_risky(doc: RawDoc) -> bool:
    """Whether ``doc`` must be converted in a worker: by its name, by its bytes, or by its size (over 16 MB)."""
    family = FORMATS.get(_stated_kind(doc))
    safe_bytes = family.content if family and not family.risky else _TEXT
    return len(doc.content) > LARGE or (family is not None and family.risky) or sniff(doc.content) not in safe_bytes


def convert(doc: RawDoc) -> Converted:
    """Convert ``doc`` by what it is: its name or media type tells the format, its bytes have the last word.

    A file that is not what its name says is converted as what it is, with a warning. Raises ``ConversionError`` where
    no text can be had, with the reason and the cure.
    """
    kind, warnings = _identify(doc)
    result = FORMATS[kind].convert(doc, kind)
    return result.model_copy(
        update={
            "title": _one_line(result.title),
            "authors": tuple(name for name in map(_one_line, result.authors) if name),
            "warnings": warnings + result.warnings,
        }
    )


def _one_line(name: str) -> str:
    return " ".join(clean(name).split())


def _stated_kind(doc: RawDoc) -> str:
    """The extension that name or media type gives, ``""`` where neither is known.

    A server that says HTML is believed over an extension: ``page.php`` is a page, not a program.
    """
    name = doc.name.rsplit("/", 1)[-1].lower()
    _, dot, extension = name.rpartition(".")
    by_media_type = _MEDIA_TYPES.get(doc.media_type.partition(";")[0].strip().lower(), "")
    if by_media_type == "html" and FORMATS.get(extension, _HTML).name == "code":
        return by_media_type
    known = extension in FORMATS or extension in NO_TEXT if dot else extension in _WHOLE_NAMES
    return extension if known else by_media_type


def _identify(doc: RawDoc) -> tuple[str, tuple[str, ...]]:
    """The kind to convert ``doc`` as, and a warning where that is not what it is called."""
    stated, found = _stated_kind(doc), sniff(doc.content)
    if stated in NO_TEXT:
        cure = "Exclude it in sources.yaml, or add a text version of it."
        raise ConversionError(f".{stated} is no text format.", where=doc.doc_id, cure=cure)
    if found == "empty" and (stated not in FORMATS or found not in FORMATS[stated].content):
        raise ConversionError("the file is empty.", where=doc.doc_id, cure="Fetch or export it again.")
    if found == "zip":
        found = zip_kind(doc.content) or "zip"
    if stated in FORMATS and found in FORMATS[stated].content:
        return _within_family(stated, found)
    actual = {"text": "txt", "empty": "txt", "encrypted-office": "docx"}.get(found, found)
    if actual not in FORMATS:
        cure = "Exclude it in sources.yaml, or add a text version of it."
        what = "it is an archive." if found == "zip" else "it is binary and of no known format."
        raise ConversionError(what, where=doc.doc_id, cure=cure)
    return actual, (f"named .{stated} but holds {actual}: converted as {actual}",) if stated else ()


def _within_family(stated: str, found: str) -> tuple[str, tuple[str, ...]]:
    """Office files that carry each other's names (an ``.xls`` that is an ``.xlsx``) are told apart by their bytes."""
    is_other = found in office.MEDIA_TYPES and office.MEDIA_TYPES[found] != office.MEDIA_TYPES.get(stated)
    if is_other and not (stated == "xlsb" and found == "xlsx"):
        return found, (f"named .{stated} but holds {found}: converted as {found}",)
    return stated, ()
