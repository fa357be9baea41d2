"""Originals to clean Markdown with meta data. The converter does the work; this decides type, language and status."""

from collections.abc import Iterable, Iterator

from kb_pipeline.convert import hardly_any_text
from kb_pipeline.records import Converted, Document, Meta, RawDoc
from kb_pipeline.rules import ids
from kb_pipeline.rules.language import language
from kb_pipeline.world import World


def run(docs: Iterable[RawDoc], world: World) -> Iterator[tuple[Document, ...] | Exception]:
    """Convert originals to clean Markdown with meta data; hostile formats in bounded processes of their own."""
    originals = list(docs)
    for raw, converted in zip(originals, world.converter.convert(originals), strict=True):
        yield converted if isinstance(converted, Exception) else (_document(raw, converted),)


def _document(raw: RawDoc, converted: Converted) -> Document:
    text = converted.text
    scanty = hardly_any_text(text, int(converted.metadata.get("pages", 1)))
    return Document(
        text=text,
        meta=Meta(
            doc_id=raw.doc_id,
            source_id=raw.source_id,
            title=converted.title or raw.title or raw.name.rpartition("/")[2],
            uri=raw.uri,
            source_type=raw.source_type or converted.source_type or "doc",
            license=raw.license,
            language=language(text),
            raw_sha256=raw.raw_sha256,
            text_sha256=ids.sha256(text.encode()),
            effective_date=raw.effective_date or converted.effective_date,
            authors=raw.authors or converted.authors,
            fetched_at=raw.fetched_at,
            converter=converted.converter,
            converter_version=converted.converter_version,
            status="hardly-any-text" if scanty else "ok",
            warnings=converted.warnings,
            metadata=converted.metadata,
        ),
    )
