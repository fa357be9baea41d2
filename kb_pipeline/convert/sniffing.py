"""What a file is by its first bytes. Knows no extension and converts nothing."""

import re
import zipfile
from io import BytesIO
from typing import Final

_SIGNATURES: Final = (
    (b"%PDF-", "pdf"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ole"),
    (b"{\\rtf", "rtf"),
)
_OLE_STREAMS: Final = (
    ("EncryptedPackage", "encrypted-office"),
    ("__substg1.0_", "msg"),
    ("WordDocument", "doc"),
    ("PowerPoint Document", "ppt"),
    ("Workbook", "xls"),
    ("Book", "xls"),
)
_ZIP_MEMBERS: Final = (("word/", "docx"), ("ppt/", "pptx"), ("xl/", "xlsx"))
_ZIP_MIMETYPES: Final = (
    (b"application/epub+zip", "epub"),
    (b"application/vnd.oasis.opendocument.text", "odt"),
    (b"application/vnd.oasis.opendocument.spreadsheet", "ods"),
    (b"application/vnd.oasis.opendocument.presentation", "odp"),
)
_HTML: Final = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.{0,2000}?-->\s*)*<(?:!doctype\s+html|html[\s>])", re.IGNORECASE | re.DOTALL
)
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_HEAD: Final = 4096
_CONTROL: Final = bytes(byte for byte in range(32) if byte not in b"\t\n\f\r\x1b")


def sniff(data: bytes) -> str:
    """``pdf``, ``zip``, ``rtf``, ``html``, ``text``, ``empty``, an OLE kind (``msg``, ``doc``, ``xls``, ``ppt``,
    ``encrypted-office``, ``ole``) or ``binary``. Reads a few kilobytes; an OLE file is searched as a whole."""
    if not data:
        return "empty"
    head = data[:_HEAD].removeprefix(b"\xef\xbb\xbf").lstrip()
    for signature, kind in _SIGNATURES:
        if head.startswith(signature):
            return _ole_kind(data) if kind == "ole" else kind
    # The specification lets other bytes stand before a PDF's header.
    if b"%PDF-" in data[:1024]:
        return "pdf"
    if _HTML.match(head):
        return "html"
    return "text" if is_text(data) else "binary"


def is_text(data: bytes) -> bool:
    """Whether the first bytes look like a text of some encoding: few control characters, NULs only in UTF-16."""
    head = data[:_HEAD]
    if head.startswith(_UTF16):
        return True
    nuls = head.count(0)
    if nuls > len(head) // 3:
        return max(head[::2].count(0), head[1::2].count(0)) > 0.9 * nuls
    control = len(head) - len(head.translate(None, _CONTROL))
    return control <= max(2, len(head) // 50)


def zip_kind(data: bytes) -> str:
    """The kind of document that a ZIP archive is (``docx``, ``epub`` …), ``""`` where it is none or unreadable."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            names = archive.namelist()
            if "mimetype" in names:
                stated = archive.open("mimetype").read(200).strip()
                return next((kind for mimetype, kind in _ZIP_MIMETYPES if stated.startswith(mimetype)), "")
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError):
        return ""
    return next((kind for prefix, kind in _ZIP_MEMBERS if any(name.startswith(prefix) for name in names)), "")


def _ole_kind(data: bytes) -> str:
    """OLE directories name their streams in UTF-16."""
    return next((kind for name, kind in _OLE_STREAMS if name.encode("utf-16-le") in data), "ole")
