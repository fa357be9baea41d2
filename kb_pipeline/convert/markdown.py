"""Markdown → itself, cleaned; its front matter becomes metadata."""

import re
from collections.abc import Mapping
from typing import Any, Final

from kb_pipeline.convert import front_matter
from kb_pipeline.convert.cleaning import clean
from kb_pipeline.convert.text import readable
from kb_pipeline.convert.versions import version_of
from kb_pipeline.records import Converted, RawDoc

_HEADING: Final = re.compile(r"^#{1,2}[ \t]+(.+?)[ \t]*#*$|^(\S.*)\n=+$", re.MULTILINE)
_FENCE: Final = re.compile(r"^(?:`{3}|~{3})", re.MULTILINE)
_DATES: Final = (
    "effective_date",
    "updated",
    "lastmod",
    "last_modified",
    "last-modified",
    "modified",
    "date",
    "created",
)
_PEOPLE: Final = ("authors", "author")


def convert(doc: RawDoc, kind: str) -> Converted:
    """The Markdown of ``doc`` below its front matter; never fails."""
    del kind
    text, warnings = readable(doc.content)
    fields, body, refused = front_matter.split(text)
    body = clean(body)
    people = next((fields[name] for name in _PEOPLE if fields.get(name)), None)
    return Converted(
        text=body,
        converter="kb_pipeline",
        converter_version=version_of("kb_pipeline"),
        title=str(fields.get("title") or heading(body)),
        authors=front_matter.names(people),
        effective_date=_date(fields),
        source_type="note",
        # How many pages there are is the converter's to say: "hardly any text" rests on it.
        metadata={name: value for name, value in fields.items() if name != "pages"},
        warnings=warnings + refused,
    )


def heading(text: str) -> str:
    """The first heading of level 1 or 2 that stands before any fence, without its markup."""
    fence = _FENCE.search(text)
    found = _HEADING.search(text, 0, fence.start() if fence else len(text))
    return re.sub(r"[`*]|\\(?=\W)", "", found.group(1) or found.group(2)).strip() if found else ""


def _date(fields: Mapping[str, Any]) -> str | None:
    """The last change that front matter names, else the date of writing."""
    return next((day for name in _DATES if (day := front_matter.iso_date(fields.get(name)))), None)
