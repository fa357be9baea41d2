"""Chunks to drafts. The engine thinks; the guards here decide what of it may become knowledge."""

from collections.abc import Iterable, Iterator

from kb_pipeline.records import Chunk, Draft, Extraction, Reject
from kb_pipeline.rules.grounding import proves
from kb_pipeline.rules.numbers import supported
from kb_pipeline.world import World


def run(chunks: Iterable[Chunk], world: World) -> Iterator[tuple[Extraction, ...] | Exception]:
    """Extract atomic items from chunks; what its own quote does not prove is quarantined with a reason."""
    for chunk in chunks:
        yield (guard(world.engine.extract(chunk), chunk),)


def guard(extraction: Extraction, chunk: Chunk) -> Extraction:
    """``extraction`` with every unproven draft moved to the rejects."""
    drafts: list[Draft] = []
    rejects = list(extraction.rejects)
    for draft in extraction.drafts:
        reason, detail = _fault(draft, chunk)
        if reason:
            rejects.append(
                Reject(
                    stage="atomic_items",
                    where=chunk.hash,
                    reason=reason,
                    detail=detail,
                    excerpt=draft.statement[:200],
                    quarantined=True,
                )
            )
        else:
            drafts.append(draft)
    return Extraction(chunk_hash=chunk.hash, drafts=tuple(drafts), rejects=tuple(rejects))


def _fault(draft: Draft, chunk: Chunk) -> tuple[str, str]:
    if not proves(chunk.text, draft.start, draft.end, draft.source_span):
        return "span-not-verbatim", draft.source_span[:200]
    context = " ".join((chunk.header, *chunk.heading, chunk.text))
    missing = supported(f"{draft.statement} {draft.detail}", context)
    return ("number-not-in-source", ", ".join(missing)) if missing else ("", "")
