"""Originals to clean Markdown with meta data. The converter does the work, the engine may propose to clean further;
this decides type, language and status, and which proposals are taken."""

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from kb_pipeline.convert import hardly_any_text
from kb_pipeline.errors import KbError
from kb_pipeline.records import Converted, Document, Meta, RawDoc, Rewrite, SourceType
from kb_pipeline.rules import ids
from kb_pipeline.rules.faithful import unfaithful
from kb_pipeline.rules.language import language
from kb_pipeline.rules.transcripts import is_transcript
from kb_pipeline.world import World


def run(docs: Iterable[RawDoc], world: World) -> Iterator[tuple[Document, ...] | Exception]:
    """Convert originals to clean Markdown with meta data; hostile formats in bounded processes of their own."""
    originals = list(docs)
    return _documents(originals, world.converter.convert(originals), world)


def _documents(
    originals: Sequence[RawDoc], converted: Iterable[Converted | Exception], world: World
) -> Iterator[tuple[Document, ...] | Exception]:
    made = [_attempt(*pair) for pair in zip(originals, converted, strict=True)]
    proposals = world.engine.normalize([found for found in made if isinstance(found, Document)])
    for found in made:
        proposed = next(proposals) if isinstance(found, Document) else found
        yield proposed if isinstance(proposed, Exception) else (cleaned(cast(Document, found), proposed),)


def cleaned(document: Document, proposals: Sequence[Rewrite]) -> Document:
    """``document`` with those proposals that say the same as what they stand for; of the others it says why not."""
    if not proposals:
        return document
    text, parts, end, warnings = document.text, [], 0, []
    for proposal in sorted(proposals, key=lambda p: p.start):
        original = text[proposal.start : proposal.end]
        reason = proposal.reason if proposal.text is None else unfaithful(original, proposal.text)
        if reason or proposal.start < end:
            warnings.append(f"not cleaned at {proposal.start}: {reason or 'it overlaps another proposal'}")
            continue
        parts += [text[end : proposal.start], proposal.text or ""]
        end = proposal.end
    text = "".join((*parts, text[end:]))
    update = {"text_sha256": ids.sha256(text.encode()), "warnings": (*document.meta.warnings, *warnings)}
    return Document(text=text, meta=document.meta.model_copy(update=update))


def _attempt(raw: RawDoc, converted: Converted | Exception) -> Document | Exception:
    """The document, or why there is none: raised later, it would be taken for the fault of another one."""
    if isinstance(converted, Exception):
        return converted
    try:
        return _document(raw, converted)
    except (KbError, ValueError) as error:
        return error


def _type(converted: Converted) -> SourceType:
    """What the converter says, unless the text of a note shows that people talk in it."""
    stated = converted.source_type or "doc"
    return "chat" if stated == "note" and is_transcript(converted.text) else stated


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
            source_type=raw.source_type or _type(converted),
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
