"""ZIP archives that documents come in, opened within bounds: what is wrong is said in words, not in a parser's."""

import io
import zipfile
from typing import Final

from kb_pipeline.errors import ConversionError
from kb_pipeline.records import RawDoc

# The sum of all members. The parsers behind bound a single one at best.
MAX_INFLATED: Final = 400 * 1024 * 1024
# One member of markup: a book's longest chapter, a document's body. Parsed, it takes some ten times as much.
_MAX_MARKUP: Final = 100 * 1024 * 1024


def opened(doc: RawDoc) -> zipfile.ZipFile:
    """The archive of ``doc``.

    Raises ``ConversionError`` where it is truncated, protected by a password, or inflates beyond 400 MB (100 MB of
    markup in one member).
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(doc.content))
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        cure = "Fetch or export it again."
        raise ConversionError("it is truncated or damaged.", where=doc.doc_id, cure=cure) from error
    members = archive.infolist()
    if any(member.flag_bits & 1 for member in members):
        cure = "Save a copy without a password."
        raise ConversionError("it is protected by a password.", where=doc.doc_id, cure=cure)
    markup = max((m.file_size for m in members if m.filename.endswith((".xml", ".xhtml", ".html"))), default=0)
    inflated = sum(member.file_size for member in members)
    if inflated > MAX_INFLATED or markup > _MAX_MARKUP:
        cure = "Split it, or remove what is embedded in it, if it is trusted."
        raise ConversionError(f"it inflates to {inflated >> 20} MB.", where=doc.doc_id, cure=cure)
    return archive
