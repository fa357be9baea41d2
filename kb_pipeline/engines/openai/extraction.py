"""Extraction by a model: chunks in, drafts with their quotes out. Owns how a chunk is asked for and cut in two.

A quote is moved to where it stands; one that stands nowhere, or in two places, makes a reject. What else a draft must
keep is for the guards outside to say.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from kb_pipeline.engines.openai.replies import ItemReply, ItemsReply
from kb_pipeline.errors import UNAVAILABLE, ModelError
from kb_pipeline.prompts import render
from kb_pipeline.records import Ask, Chunk, Draft, Extraction, Reject
from kb_pipeline.rules.grounding import locate
from kb_pipeline.rules.ids import draft_hash
from kb_pipeline.rules.taxonomy import tag_form
from kb_pipeline.world import ChatClient

STAGE = "atomic_items"
_EXCERPT = 200
_AT_ONCE = 1000  # chunks rendered at a time: what is held beside the client's own
_SMALLEST = 200  # code points; half a chunk below it is too short to be the reason of a cut reply
_BREAKS = ("\n\n", "\n", r"(?<=[.!?])\s+", r"\s+")  # where a chunk may be cut, best first


def extract(chunks: Sequence[Chunk], client: ChatClient, engine: str) -> Iterator[Extraction | Exception]:
    """One extraction a chunk, in order; a ``ModelError`` in place of one that the model could not give."""
    rest = iter(chunks)
    while part := list(islice(rest, _AT_ONCE)):
        for chunk, reply in zip(part, client.ask([ask(c) for c in part], ItemsReply), strict=True):
            yield _extraction(chunk, reply, client, engine)


def ask(chunk: Chunk) -> Ask:
    """The question about ``chunk``: its content and where it stands, no id and no offset."""
    shown = render("extract", headings=" > ".join(chunk.heading), header=chunk.header, source=chunk.text)
    return Ask(
        task="extract",
        version=shown.version,
        system=shown.system,
        user=shown.user,
        source_id=chunk.doc_id.partition("/")[0],
        doc_id=chunk.doc_id,
    )


def _extraction(
    chunk: Chunk, reply: ItemsReply | ModelError, client: ChatClient, engine: str
) -> Extraction | ModelError:
    if isinstance(reply, ItemsReply):
        found = [_draft(item, chunk, engine) for item in reply.items]
        return Extraction(
            chunk_hash=chunk.hash,
            drafts=tuple(d for d in found if isinstance(d, Draft)),
            rejects=tuple(r for r in found if isinstance(r, Reject)),
        )
    halves = halved(chunk) if reply.code == "cut" else ()
    if not halves:
        return reply
    made = [
        _extraction(half, answer, client, engine)
        for half, answer in zip(halves, client.ask([ask(h) for h in halves], ItemsReply), strict=True)
    ]
    return _joined(chunk, halves, made)


def halved(chunk: Chunk) -> tuple[Chunk, ...]:
    """``chunk`` in two at the paragraph, line, sentence or word nearest to its middle; empty where it is too short.

    Offsets of the halves count from the beginning of ``chunk``.
    """
    text, middle = chunk.text, len(chunk.text) // 2
    if len(text) < 2 * _SMALLEST:
        return ()
    for pattern in _BREAKS:
        places = [m.end() for m in re.finditer(pattern, text) if _SMALLEST <= m.end() <= len(text) - _SMALLEST]
        if places:
            at = min(places, key=lambda place: abs(place - middle))
            spans = ((0, at), (at, len(text)))
            return tuple(chunk.model_copy(update={"text": text[a:b], "start": a, "end": b}) for a, b in spans)
    return ()


def _joined(chunk: Chunk, halves: Sequence[Chunk], made: Sequence[Extraction | ModelError]) -> Extraction | ModelError:
    """What the halves gave, as of the whole; a half that failed is a reject beside what the other gave."""
    drafts: list[Draft] = []
    rejects: list[Reject] = []
    for half, found in zip(halves, made, strict=True):
        if isinstance(found, ModelError):
            if found.code == UNAVAILABLE:
                return found
            rejects.append(failure(half, found))
            continue
        moved = ({"start": d.start + half.start, "end": d.end + half.start} for d in found.drafts)
        drafts += [d.model_copy(update=at) for d, at in zip(found.drafts, moved, strict=True)]
        rejects += found.rejects
    return Extraction(chunk_hash=chunk.hash, drafts=tuple(drafts), rejects=tuple(rejects))


def failure(chunk: Chunk, error: ModelError) -> Reject:
    """A chunk of which the model gave nothing, quarantined with the reason."""
    return Reject(
        stage=STAGE,
        where=chunk.hash,
        reason=f"model-{error.code}",
        detail=str(error)[:_EXCERPT],
        excerpt=chunk.text[:_EXCERPT],
        quarantined=True,
    )


def _draft(item: ItemReply, chunk: Chunk, engine: str) -> Draft | Reject:
    place = locate(item.source_span, chunk.text)
    statement, context = " ".join(item.statement.split()), " ".join((item.context or "").split()) or None
    if place is None or not statement:
        return Reject(
            stage=STAGE,
            where=chunk.hash,
            reason="span-not-verbatim" if statement else "no-statement",
            detail=item.source_span[:_EXCERPT],
            excerpt=item.statement[:_EXCERPT],
            quarantined=True,
        )
    start, end = place
    return Draft(
        hash=draft_hash(statement, context),
        statement=statement,
        detail=item.detail.strip(),
        context=context,
        item_type=item.item_type,
        topic=tag_form(item.topic),
        entities=tuple(dict.fromkeys(name for e in item.entities if (name := " ".join(e.split())))),
        confidence=item.confidence,
        source_span=chunk.text[start:end],
        start=start,
        end=end,
        engine=engine,
    )
