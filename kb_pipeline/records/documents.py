"""From ``sources.yaml`` and ``taxonomy.yaml`` to normalized documents."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from kb_pipeline.records.record import SCHEMA_VERSION, Record, SourceType


class Source(Record):
    """One entry of ``sources.yaml``.

    ``uri`` is a path (absolute or relative to the knowledge base's root) or URLs; ``refresh`` a cron line, an
    interval such as ``6h`` or ``manual`` (never on its own).
    """

    id: str
    type: str
    uri: tuple[str, ...]
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    license: str = "unknown"
    refresh: str = "24h"
    owners: tuple[str, ...] = ()
    options: Mapping[str, Any] = Field(default_factory=dict)


class Project(Record):
    """A named bundle of sources that search can be scoped to."""

    id: str
    name: str
    sources: tuple[str, ...]


class Category(Record):
    """One closed category; ``keywords`` and ``description`` are what classification rests on."""

    name: str
    description: str
    keywords: tuple[str, ...]


class Taxonomy(Record):
    """The closed categories and the tag vocabulary: ``tags`` maps a tag to its aliases."""

    categories: tuple[Category, ...] = ()
    tags: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)


class RawEntry(Record):
    """What the manifest knows of one original: ``path`` is its address within the source (``/``-separated).

    ``stat`` is a cheap fingerprint of the original (local: size and mtime in ns), never part of its identity.
    """

    path: str
    uri: str
    sha256: str
    size: int
    fetched_at: str
    media_type: str = ""
    source_type: SourceType | None = None
    license: str | None = None
    title: str = ""
    authors: tuple[str, ...] = ()
    effective_date: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    stat: tuple[int, int] | None = None
    deleted_at: str | None = None


class Fetched(Record):
    """One line of a connector's listing.

    ``same`` says that the original is unchanged since ``known`` (no bytes travel); ``changed`` carries the bytes
    in ``content``; ``failed`` carries a reason and keeps the last good version. A listing that ends normally is
    complete; one that raises is not, and deletes nothing.
    """

    path: str
    state: Literal["same", "changed", "failed"]
    uri: str = ""
    content: bytes | None = None
    reason: str = ""
    media_type: str = ""
    source_type: SourceType | None = None
    title: str = ""
    authors: tuple[str, ...] = ()
    effective_date: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    stat: tuple[int, int] | None = None


class RawDoc(Record):
    """An original as a converter sees it. ``name`` is its path, whose last extension tells the format."""

    doc_id: str
    source_id: str
    name: str
    uri: str
    content: bytes
    media_type: str = ""
    source_type: SourceType | None = None
    license: str = "unknown"
    title: str = ""
    authors: tuple[str, ...] = ()
    effective_date: str | None = None
    fetched_at: str = ""
    raw_sha256: str = ""


class Converted(Record):
    """What a converter returns. ``text`` is clean Markdown with LF line ends."""

    text: str
    converter: str
    converter_version: str
    title: str = ""
    authors: tuple[str, ...] = ()
    effective_date: str | None = None
    source_type: SourceType | None = None
    metadata: Mapping[str, Any] = Field(default_factory=dict)
    warnings: tuple[str, ...] = ()


class Meta(Record):
    """``<doc_id>.meta.json``. ``status`` is ``hardly-any-text`` where conversion gave under 20 letters a page."""

    schema_version: int = SCHEMA_VERSION
    doc_id: str
    source_id: str
    title: str
    uri: str
    source_type: SourceType
    license: str
    language: str
    raw_sha256: str
    text_sha256: str
    effective_date: str | None = None
    authors: tuple[str, ...] = ()
    fetched_at: str
    converter: str
    converter_version: str
    status: Literal["ok", "hardly-any-text"] = "ok"
    warnings: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = Field(default_factory=dict)


class Document(Record):
    """A normalized document: its Markdown and its meta data."""

    meta: Meta
    text: str


class Rewrite(Record):
    """A proposal: ``document.text[start:end]`` cleaned to ``text``, or None where the engine could not, and why."""

    start: int
    end: int
    text: str | None
    reason: str = ""
