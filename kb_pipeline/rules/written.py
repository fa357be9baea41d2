"""An item that a person wrote by hand: the document it stands in, which it quotes, and what is drafted from that. Pure.

Such a document is ``human/<id>``, holds what the file says and follows it. Refuses to know files.
"""

import json
from typing import Any

from pydantic import ValidationError

from kb_pipeline.errors import StoreError
from kb_pipeline.records import Chunk, Document, Draft, Extraction, Item, Meta
from kb_pipeline.rules import ids
from kb_pipeline.rules.edits import FIELDS
from kb_pipeline.rules.language import language

HUMAN = "human"
"""The source of what people wrote by hand. No source of ``sources.yaml`` may bear that name."""

_DRAFTED = ("statement", "detail", "context", "item_type", "topic", "entities", "confidence")
_MADE_BY = "human"
_LICENSE = "internal"


def document_of(item_id: str) -> str:
    """The document that an item written by hand quotes."""
    return f"{HUMAN}/{item_id}"


def item_of(doc_id: str) -> str:
    """The item that was written with a document, or ``""`` for a document that nobody wrote so."""
    source, _, item_id = doc_id.partition("/")
    return item_id if source == HUMAN else ""


def read(path: str, data: bytes) -> Item:
    """What a file written by hand says, under the id of its statement.

    ``statement`` is all that it must say; ``FIELDS`` are what it may. Raises ``StoreError`` that names file, field and
    cure.
    """
    try:
        stated = json.loads(data)
    except ValueError as error:
        raise _wrong(path, f"is no JSON: {error}.", 'Write {"statement": "…"}.') from error
    unknown = stated.keys() - Item.model_fields.keys() if isinstance(stated, dict) else ()
    if unknown:
        cure = f'Write {{"statement": "…"}}. Fields: {", ".join(FIELDS)}.'
        raise _wrong(path, f"{min(unknown)}: is no field of an item.", cure)
    if not isinstance(stated, dict) or not isinstance(stated.get("statement"), str) or not stated["statement"].strip():
        raise _wrong(path, "statement: an item must say something.", 'Write {"statement": "…"}.')
    words = {name: value for name, value in stated.items() if name in FIELDS}
    words["statement"] = stated["statement"].strip()
    try:
        item = Item.model_validate({"id": "kb_", **words})
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise _wrong(path, f"{field}: {first['msg']}.", "Correct it.") from error
    return item.model_copy(update={"id": ids.item_id(ids.draft_hash(item.statement, item.context))})


def _wrong(path: str, what: str, cure: str) -> StoreError:
    return StoreError(what, where=f"kb/{path}", cure=cure, code="record")


def document(item: Item, now: str, before: Meta | None = None) -> Document:
    """The document of an item written by hand: its statement and, below, its detail. ``before`` is its last meta data,
    whose date holds while the words do."""
    text = "\n\n".join(filter(None, (item.statement, item.detail))) + "\n"
    digest = ids.sha256(text.encode())
    same = before is not None and before.text_sha256 == digest
    name = document_of(item.id)
    meta = Meta(
        doc_id=name,
        source_id=HUMAN,
        title=item.statement[:120],
        uri=f"kb/normalized/{name}.md",
        source_type="human",
        license=_LICENSE,
        language=language(text),
        raw_sha256=digest,
        text_sha256=digest,
        fetched_at=before.fetched_at if before and same else now,
        converter=_MADE_BY,
        converter_version="1",
        metadata=item.model_dump(mode="json", include=set(_DRAFTED)),
    )
    return Document(meta=meta, text=text)


def reworded(item: Item, said: Item) -> Item:
    """``item`` with what its file says now of all that its document follows, as a person's edit."""
    changes = {name: getattr(said, name) for name in _DRAFTED if getattr(said, name) != getattr(item, name)}
    return item.model_copy(update={**changes, "edited": {**item.edited, **dict.fromkeys(changes, "")}})


def pieces(found: Document) -> tuple[Chunk, Extraction]:
    """The one chunk of such a document, and the one draft in it, which quotes its statement."""
    said: dict[str, Any] = {name: found.meta.metadata[name] for name in _DRAFTED}
    text = found.text.rstrip("\n")
    content = ids.digest("text", text)
    chunk = Chunk(
        id=f"ck_{ids.digest(found.meta.doc_id, content, '1')[:12]}",
        doc_id=found.meta.doc_id,
        hash=content,
        kind="text",
        heading=(),
        text=text,
        start=0,
        end=len(text),
    )
    span = said["statement"]
    draft = Draft(
        hash=ids.draft_hash(span, said["context"]), source_span=span, start=0, end=len(span), engine=_MADE_BY, **said
    )
    return chunk, Extraction(chunk_hash=content, drafts=(draft,))
