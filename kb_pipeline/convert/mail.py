"""RFC 822 mail (``.eml``, ``.mbox``) → Markdown: who, to whom, when, what; attachments by name only."""

import re
from collections.abc import Iterator
from email import policy
from email.errors import MessageError
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser
from email.utils import getaddresses, parsedate_to_datetime
from typing import Final

from kb_pipeline.convert.cleaning import clean
from kb_pipeline.convert.decoding import decode, repair_mojibake
from kb_pipeline.convert.html import parse as parse_html
from kb_pipeline.convert.rendering import render
from kb_pipeline.convert.versions import version_of
from kb_pipeline.errors import ConversionError
from kb_pipeline.records import Converted, RawDoc

_MBOX_START: Final = re.compile(rb"^From [^\n]*\n", re.MULTILINE)
_HEADERS: Final = ("From", "To", "Cc", "Date")
_MAX_DEPTH: Final = 5


def convert(doc: RawDoc, kind: str) -> Converted:
    """One message, or all of a mailbox in order. Raises ``ConversionError`` where there is no header at all."""
    parts = _MBOX_START.split(doc.content) if kind == "mbox" else [doc.content]
    messages = [BytesParser(_class=EmailMessage, policy=policy.default).parsebytes(p) for p in parts if p.strip()]
    if not any(message.keys() for message in messages):
        cure = "Export it again as .eml or .mbox."
        raise ConversionError("it is not a mail.", where=doc.doc_id, cure=cure)
    first, last = messages[0], messages[-1]
    people = [person for message in messages for person in _people(message, "From")]
    return Converted(
        text=clean("\n\n".join(block for message in messages for block in _blocks(message))),
        converter="kb_pipeline",
        converter_version=version_of("kb_pipeline"),
        title=_header(first, "Subject"),
        authors=tuple(dict.fromkeys(people)),
        effective_date=_day(last),
        source_type="mail",
        metadata={"messages": len(messages)},
    )


def _header(message: MIMEPart, name: str) -> str:
    """A header as one line, ``""`` where it is missing or broken beyond reading."""
    try:
        value = message.get(name)
        return " ".join(repair_mojibake(str(value))[0].split()) if value else ""
    except (MessageError, ValueError, AttributeError, IndexError, TypeError):
        return ""


def _people(message: EmailMessage, name: str) -> list[str]:
    """Names, or addresses where a person is given without a name."""
    return [person or address for person, address in getaddresses([_header(message, name)]) if person or address]


def _day(message: EmailMessage) -> str | None:
    try:
        return parsedate_to_datetime(_header(message, "Date")).date().isoformat()
    except (ValueError, TypeError):
        return None


def _blocks(message: MIMEPart, depth: int = 0) -> Iterator[str]:
    subject = _header(message, "Subject")
    yield f"{'#' * (1 + min(depth, 5))} {subject or '(no subject)'}"
    lines = [f"{name}: {value}" for name in _HEADERS if (value := _header(message, name))]
    if lines:
        yield "\n".join(f"- {line}" for line in lines)
    body = message.get_body(preferencelist=("plain", "html"))
    if body is not None:
        yield _body(body)
    names = []
    for part in message.iter_attachments():
        if part.get_content_type() == "message/rfc822" and depth < _MAX_DEPTH:
            yield from (b for inner in part.iter_parts() for b in _blocks(inner, depth + 1))
        elif name := part.get_filename():
            names.append(" ".join(name.split()))
    if names:
        yield f"Attachments: {', '.join(names)}"


def _body(part: MIMEPart) -> str:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    if part.get_content_type() == "text/html":
        return render(parse_html(data, "")[0]) if data.strip() else ""
    text = decode(data, part.get_content_charset("")).text
    return _unwrapped(text.replace("\r\n", "\n").strip()) if part.get_param("format") == "flowed" else text.strip()


def _unwrapped(text: str) -> str:
    """``format=flowed`` (RFC 3676): a line that ends in a space goes on in the next."""
    return re.sub(r"(?<!^--) \n(?=[^\n>])", " ", text, flags=re.MULTILINE)
