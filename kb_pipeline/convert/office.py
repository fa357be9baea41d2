"""Office documents and Outlook mail → Markdown by kreuzberg, whose HTML is rendered as any other."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from kb_pipeline.convert import word
from kb_pipeline.convert.archives import opened
from kb_pipeline.convert.cleaning import clean
from kb_pipeline.convert.front_matter import iso_date
from kb_pipeline.convert.markup import html_tree
from kb_pipeline.convert.rendering import render
from kb_pipeline.convert.sniffing import sniff
from kb_pipeline.convert.versions import version_of
from kb_pipeline.errors import ConversionError
from kb_pipeline.records import Converted, RawDoc, SourceType

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_OOXML: Final = "application/vnd.openxmlformats-officedocument."
MEDIA_TYPES: Final = {
    "docx": f"{_OOXML}wordprocessingml.document",
    "docm": f"{_OOXML}wordprocessingml.document",
    "dotx": f"{_OOXML}wordprocessingml.document",
    "pptx": f"{_OOXML}presentationml.presentation",
    "pptm": f"{_OOXML}presentationml.presentation",
    "ppsx": f"{_OOXML}presentationml.presentation",
    "xlsx": f"{_OOXML}spreadsheetml.sheet",
    "xlsm": f"{_OOXML}spreadsheetml.sheet",
    "odt": "application/vnd.oasis.opendocument.text",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "doc": "application/msword",
    "ppt": "application/vnd.ms-powerpoint",
    "xls": "application/vnd.ms-excel",
    "xlsb": "application/vnd.ms-excel.sheet.binary.macroEnabled.12",
    "fb2": "application/x-fictionbook+xml",
    "rtf": "application/rtf",
    "msg": "application/vnd.ms-outlook",
}
_SPREADSHEETS: Final = frozenset(("xlsx", "xlsm", "xlsb", "xls", "ods"))
_SAVE_AGAIN: Final = "Open it in its program and save it again."
_IMAGE: Final = re.compile(r"\\?!\[([^\]\n]*)\]\([^)\n]*\)")
_MAIL_HEADER: Final = re.compile(r"^(?:Subject|From|To|Cc|CC|Bcc|BCC|Date): ")


def convert(doc: RawDoc, kind: str) -> Converted:
    """Markdown of a document of ``kind`` (an extension of ``MEDIA_TYPES``).

    Raises ``ConversionError`` where it is protected by a password, truncated, inflates beyond bounds or is damaged.
    """
    content, about = _extract(doc, kind)
    root = html_tree(content, doc.doc_id)[0] if content.strip() else None
    text = clean(_IMAGE.sub(r"\1", render(root))) if root is not None else ""
    is_mail = kind == "msg"
    if is_mail:
        text = clean(_with_mail_headers(text, about))
    return Converted(
        text=text,
        converter="kreuzberg",
        converter_version=version_of("kreuzberg"),
        title=_title(root, about),
        authors=tuple(str(a) for a in about.get("authors") or () if a),
        effective_date=iso_date(about.get("modified_at") or about.get("created_at")),
        source_type=_source_type(kind),
        metadata={"pages": about["slide_count"]} if about.get("slide_count") else {},
    )


def _source_type(kind: str) -> SourceType:
    if kind == "msg":
        return "mail"
    return "table" if kind in _SPREADSHEETS else "doc"


def _checked(doc: RawDoc, kind: str) -> bytes:
    """What kreuzberg is given: the content, once the archive is known to be sound and a Word document rewritten."""
    from lxml.etree import XMLSyntaxError  # heavy: loaded by a worker alone

    if (found := sniff(doc.content)) == "encrypted-office":
        cure = "Save a copy without a password."
        raise ConversionError("it is protected by a password.", where=doc.doc_id, cure=cure)
    if found != "zip":
        return doc.content
    with opened(doc):
        pass
    try:
        return word.protected(doc.content) if MEDIA_TYPES[kind] == MEDIA_TYPES["docx"] else doc.content
    except (XMLSyntaxError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise ConversionError(f"it is damaged ({error}).", where=doc.doc_id, cure=_SAVE_AGAIN) from error


def _extract(doc: RawDoc, kind: str) -> tuple[str, Mapping[str, Any]]:
    from kreuzberg import (  # native: loaded by a worker alone
        ExtractionConfig,
        KreuzbergError,
        extract_bytes_sync,
    )

    # kreuzberg's stubs lag behind: it takes disable_ocr.
    config = ExtractionConfig(output_format="html", use_cache=False, disable_ocr=True)  # type: ignore[call-arg]
    try:
        result = extract_bytes_sync(_checked(doc, kind), MEDIA_TYPES[kind], config)
    except KreuzbergError as error:
        inflates = re.search(r"[Ss]ecurity limit.*?(\d{6,}) bytes", str(error))
        what = f"it inflates to {int(inflates.group(1)) >> 20} MB or more." if inflates else f"it is damaged ({error})."
        cure = "Remove embedded media if it is trusted." if inflates else _SAVE_AGAIN
        raise ConversionError(what, where=doc.doc_id, cure=cure) from error
    return word.restored(result.content), result.metadata


def _title(root: HtmlElement | None, about: Mapping[str, Any]) -> str:
    """The document's own title, else its first heading of level 1 or 2."""
    stated = str(about.get("title") or about.get("subject") or "").strip()
    if stated or root is None:
        return stated
    heading = next(root.iter("h1", "h2"), None)
    return " ".join(heading.text_content().split()) if heading is not None else ""


def _with_mail_headers(text: str, about: Mapping[str, Any]) -> str:
    """The body under its headers in the form that ``mail.py`` gives them."""
    blocks = text.split("\n\n")
    while blocks and _MAIL_HEADER.match(blocks[0]):
        del blocks[0]
    headers = {
        "From": about.get("from_email") or "",
        "To": ", ".join(about.get("to_emails") or ()),
        "Cc": ", ".join(about.get("cc_emails") or ()),
        "Date": about.get("created_at") or "",
    }
    names = [a for a in about.get("attachments") or () if a]
    attached = [f"Attachments: {', '.join(names)}"] if names else []
    lines = "\n".join(f"- {name}: {value}" for name, value in headers.items() if value)
    return "\n\n".join([f"# {about.get('subject') or '(no subject)'}", lines, *blocks, *attached])
