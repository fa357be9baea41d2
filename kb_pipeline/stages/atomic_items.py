"""Chunks to drafts. The engine thinks; the guards here decide what of it may become knowledge."""

from collections.abc import Iterable, Iterator, Sequence

from kb_pipeline.errors import UNAVAILABLE, ModelError
from kb_pipeline.records import Chunk, Draft, Extraction, Reject
from kb_pipeline.rules.evidence import around, fault, named
from kb_pipeline.world import World


def run(chunks: Iterable[Chunk], world: World) -> Iterator[tuple[Extraction, ...] | Exception]:
    """Extract atomic items from chunks; what its own quote does not prove is quarantined with a reason."""
    asked = list(chunks)
    return _guarded(asked, world.engine.extract(asked))


def _guarded(
    chunks: Sequence[Chunk], extractions: Iterable[Extraction | Exception]
) -> Iterator[tuple[Extraction, ...] | Exception]:
    for chunk, found in zip(chunks, extractions, strict=True):
        if isinstance(found, Extraction):
            yield (guard(found, chunk),)
        elif isinstance(found, ModelError) and found.code != UNAVAILABLE:
            yield (Extraction(chunk_hash=chunk.hash, rejects=(_unanswered(chunk, found),)),)
        else:
            yield found


def guard(extraction: Extraction, chunk: Chunk) -> Extraction:
    """``extraction`` with every unproven draft moved to the rejects, and without names that the chunk does not hold."""
    drafts: list[Draft] = []
    rejects = list(extraction.rejects)
    source = around(chunk)
    for draft in extraction.drafts:
        reason, detail = fault(draft, chunk, source)
        if reason:
            rejects.append(_reject(chunk, reason, detail, draft.statement))
        elif (entities := named(draft.entities, source)) != draft.entities:
            drafts.append(draft.model_copy(update={"entities": entities}))
        else:
            drafts.append(draft)
    return Extraction(chunk_hash=chunk.hash, drafts=tuple(drafts), rejects=tuple(rejects))


def _unanswered(chunk: Chunk, error: ModelError) -> Reject:
    """A chunk that the engine could not read: a reject, so that no document is lost over it."""
    return _reject(chunk, f"model-{error.code}", str(error), chunk.text)


def _reject(chunk: Chunk, reason: str, detail: str, excerpt: str) -> Reject:
    return Reject(
        stage="atomic_items",
        where=chunk.hash,
        reason=reason,
        detail=detail[:200],
        excerpt=excerpt[:200],
        quarantined=True,
    )
