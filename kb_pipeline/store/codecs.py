"""How each stage's records lie on disk. A codec turns the records of one key into files below ``kb/`` and back."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from kb_pipeline.errors import StoreError
from kb_pipeline.records import (
    SCHEMA_VERSION,
    Chunk,
    Cluster,
    Conflict,
    DedupDecision,
    Document,
    EvalResult,
    Extraction,
    HumanDecision,
    Item,
    Meta,
    Outline,
    Page,
    Question,
    Rank,
    Record,
)
from kb_pipeline.rules import ids
from kb_pipeline.rules.edits import FIELDS, overlaid
from kb_pipeline.rules.history import Turn
from kb_pipeline.rules.taxonomy import category_folder
from kb_pipeline.store import pages
from kb_pipeline.store.files import file_hash

R = TypeVar("R", bound=Record)
Read = Callable[[str], bytes]
Lines = Mapping[int, bytes]
NO_LINES: Lines = {}


@dataclass(frozen=True)
class Found:
    """A file as a person left it, at ``path`` below ``kb/``.

    ``fresh`` says that it was edited since it was last overlaid, ``moved`` that it stands where we did not write it.
    ``written`` is the hash of what we had written, ``facts`` are what the manifest notes of it. ``folders`` maps the
    folder of each category to its name; empty where the categories are not known.
    """

    path: str
    data: bytes
    fresh: bool
    moved: bool = False
    written: str = ""
    folders: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Codec:
    """``encode(key, records, lines)`` gives path below ``kb/`` → bytes; ``decode(paths, read)`` gives the records back.
    ``lines`` are those of records that are as they were decoded, by ``id``: they need not be made again.

    ``content(records, encoded)`` hashes the declared content fields: what the next stage's work depends on.
    ``editable`` says that people edit these files, so that foreign bytes are kept, not overwritten; ``versioned`` that
    a replaced text is kept under its hash, ``shared`` that the one file of a key is large and read by several stages.
    ``file_of(paths)`` is the one of a key's sorted paths that ``decode`` reads the records from.
    ``facts(records)`` is what the manifest notes of them.
    ``overlaid(edited file, records)`` gives records with what a person changed in that file, and whether that is
    anything; it raises ``StoreError`` that names file, field and cure where the edit cannot stand.
    ``turn(file as it stood, what the machine says, what is published)`` is what their history is told of.
    ``suffix`` ends the names of editable files, ``key_of(path, data)`` tells whose one is, below ``foreign`` lies what
    the stage does not make.
    """

    encode: Callable[[str, Sequence[Record], Lines], dict[str, bytes]]
    decode: Callable[[Sequence[str], Read], tuple[Record, ...]]
    content: Callable[[Sequence[Record], Mapping[str, bytes]], str]
    editable: bool = False
    versioned: bool = False
    shared: bool = False
    file_of: Callable[[Sequence[str]], str] = lambda paths: paths[0]
    facts: Callable[[Sequence[Record]], Mapping[str, Any]] = lambda _: {}
    overlaid: Callable[[Found, Sequence[Record]], tuple[Sequence[Record], bool]] = lambda _, r: (r, False)
    turn: Callable[[bytes | None, Sequence[Record], Sequence[Record]], Turn] | None = None
    suffix: str | tuple[str, ...] = ".json"
    foreign: str = ""
    key_of: Callable[[str, bytes], str] = lambda path, _: path.rpartition("/")[2].removesuffix(".json")


def json_lines(records: Sequence[Record], known: Lines = NO_LINES) -> bytes:
    """One JSON object a line, in order; defaults are left out, except the schema's version. ``known`` are the lines of
    records by ``id``."""
    return b"".join(b"%b\n" % (known.get(id(record)) or _line(record)) for record in records)


def _line(record: Record) -> bytes:
    line = record.model_dump_json(exclude_defaults=True)
    if "schema_version" not in type(record).model_fields:
        return line.encode()
    return f'{{"schema_version":{SCHEMA_VERSION},{line[1:]}'.encode()


def pretty(record: Record) -> bytes:
    """Indented JSON in field order with one final newline: for people and for git."""
    return (record.model_dump_json(indent=2) + "\n").encode()


def parse(kind: type[R], path: str, data: bytes) -> R:
    """One record from JSON. Raises ``StoreError`` that names file, field and mistake."""
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "the file"
        raise StoreError(f"{field}: {first['msg']}.", where=path, cure=_cure(data), code="record") from error


def _cure(data: bytes) -> str:
    try:
        found = int(json.loads(data).get("schema_version", SCHEMA_VERSION))
    except (ValueError, AttributeError, TypeError):
        found = SCHEMA_VERSION
    if found > SCHEMA_VERSION:
        return f"It has schema version {found}, this program knows up to {SCHEMA_VERSION}: update the program."
    return "Correct it; until then its last valid version is served."


def _content(_: Sequence[Record], encoded: Mapping[str, bytes]) -> str:
    return ids.digest(*encoded.values())


def _lines_in(
    folder: str,
    kinds: Mapping[str, type[Record]] | type[Record],
    content: Callable[[Sequence[Record], Mapping[str, bytes]], str] = _content,
    *,
    shared: bool = False,
) -> Codec:
    def encode(key: str, records: Sequence[Record], lines: Lines) -> dict[str, bytes]:
        return {f"{folder}/{key}.jsonl": json_lines(records, lines)}

    def decode(paths: Sequence[str], read: Read) -> tuple[Record, ...]:
        kind = kinds if isinstance(kinds, type) else kinds[paths[0].rpartition("/")[2].removesuffix(".jsonl")]
        return tuple(parse(kind, f"kb/{paths[0]}", line) for line in read(paths[0]).splitlines() if line)

    return Codec(encode, decode, content, shared=shared)


def _encode_document(key: str, records: Sequence[Record], _: Lines) -> dict[str, bytes]:
    document = cast(Document, records[0])
    return {
        f"normalized/{key}.md": document.text.encode(),
        f"normalized/{key}.meta.json": pretty(document.meta),
    }


def _meta_of(paths: Sequence[str]) -> str:
    return next(path for path in paths if path.endswith(".meta.json"))


def _decode_meta(paths: Sequence[str], read: Read) -> tuple[Record, ...]:
    path = _meta_of(paths)
    return (parse(Meta, f"kb/{path}", read(path)),)


def _decode_document(paths: Sequence[str], read: Read) -> tuple[Record, ...]:
    (meta,) = _decode_meta(paths, read)
    text = read(next(p for p in paths if p.endswith(".md"))).decode()
    return (Document(meta=cast(Meta, meta), text=text),)


def _document_content(records: Sequence[Record], _: Mapping[str, bytes]) -> str:
    """The text and what is said of it: not when it was fetched, nor from which bytes, since equal text is no news."""
    document = cast(Document, records[0])
    said = {"doc_id", "title", "uri", "source_type", "license", "language", "effective_date", "authors", "status"}
    return ids.digest(document.text, document.meta.model_dump_json(include=said))


def _chunk_content(records: Sequence[Record], _: Mapping[str, bytes]) -> str:
    return ids.digest(*(cast(Chunk, c).hash for c in records))


def _encode_item(key: str, records: Sequence[Record], _: Lines) -> dict[str, bytes]:
    item = cast(Item, records[0])
    return {f"items/{category_folder(item.primary_category)}/{key}.json": pretty(item)}


def _item_facts(records: Sequence[Record]) -> dict[str, Any]:
    """Which kept versions an inactive item is proven by: what must not be collected."""
    item = cast(Item, records[0])
    return {} if item.status == "active" else {"cites": sorted({s.version for s in item.sources})}


def _overlaid_item(found: Found, records: Sequence[Record]) -> tuple[tuple[Record, ...], bool]:
    machine = cast(Item, records[0])
    person = _filed(_parsed_item(found, machine), machine, found)
    item = overlaid(person, machine, fresh=found.fresh, written=lambda item: file_hash(pretty(item)) == found.written)
    return (item,), bool(item.edited)


def _parsed_item(found: Found, machine: Item) -> Item:
    """The item in a person's file. One that was written by hand, which has no id yet, says only what it says: all else
    is the machine's."""
    try:
        stated = json.loads(found.data)
    except ValueError:
        stated = None
    if isinstance(stated, dict) and "id" not in stated:
        base = machine.model_dump(mode="json", include={"id", *FIELDS})
        return parse(Item, f"kb/{found.path}", json.dumps({**base, **stated}).encode())
    return parse(Item, f"kb/{found.path}", found.data)


def _filed(person: Item, machine: Item, found: Found) -> Item:
    """``person`` under the category whose folder its file was moved to; only categories of the closed list hold."""
    where = f"kb/{found.path}"
    if not person.statement.strip():
        raise StoreError("statement: an item must say something.", where=where, cure="Correct it.", code="record")
    if not found.folders:
        return person
    known = ", ".join(found.folders.values())
    if found.moved:
        folder = found.path.split("/")[-2]
        if folder not in found.folders:
            cure = f"Move it to one of: {', '.join(found.folders)}."
            raise StoreError(f"'{folder}' is the folder of no category.", where=where, cure=cure, code="record")
        return person.model_copy(update={"primary_category": found.folders[folder]})
    stated = {"primary_category": (person.primary_category,), "secondary_categories": person.secondary_categories}
    for name, categories in stated.items():
        unknown = set(categories) - set(found.folders.values())
        if unknown and found.fresh:
            what = f"{name}: '{min(unknown)}' is not a category of taxonomy.yaml."
            raise StoreError(what, where=where, cure=f"Categories: {known}.", code="record")
        if unknown:  # it left the closed list since: the machine files the item
            person = person.model_copy(update={name: getattr(machine, name)})
    return person


def _item_turn(data: bytes | None, said: Sequence[Record], now: Sequence[Record]) -> Turn:
    """A file that cannot be read tells nothing of what was."""
    try:
        before = parse(Item, "", data) if data else None
    except StoreError:
        before = None
    machine, published = (cast(Item, records[0]) if records else None for records in (said, now))
    return Turn(before, machine, published)


def _decode_item(paths: Sequence[str], read: Read) -> tuple[Record, ...]:
    return (parse(Item, f"kb/{paths[0]}", read(paths[0])),)


_DEDUP: Mapping[str, type[Record]] = {
    "decisions": DedupDecision,
    "clusters": Cluster,
    "conflicts": Conflict,
    "human": HumanDecision,
}


def _overlaid_wiki(found: Found, records: Sequence[Record]) -> tuple[Sequence[Record], bool]:
    return pages.overlaid(found.data, records, found.facts)


_PAGES: Mapping[str, type[Record]] = {"outlines": Outline, "plan": Page}
CODECS: Mapping[str, Codec] = {
    "normalized": Codec(_encode_document, _decode_document, _document_content, versioned=True),
    "meta": Codec(_encode_document, _decode_meta, _document_content, file_of=_meta_of),
    "chunks": _lines_in("chunks", Chunk, _chunk_content),
    "atomic_items": _lines_in("atomic_items", Extraction),
    "dedup": _lines_in("dedup", _DEDUP, shared=True),
    "tags": Codec(
        _encode_item,
        _decode_item,
        _content,
        editable=True,
        facts=_item_facts,
        overlaid=_overlaid_item,
        turn=_item_turn,
    ),
    "pages": _lines_in("pages", _PAGES, shared=True),
    "wiki": Codec(
        pages.encode,
        pages.decode,
        _content,
        editable=True,
        facts=pages.facts,
        overlaid=_overlaid_wiki,
        suffix=pages.SUFFIXES,
        key_of=pages.key_of,
        foreign=pages.ANSWERS,
    ),
    "eval": _lines_in("eval", {"qa_gold": Question, "human_gold": Question, "ranks": Rank, "results": EvalResult}),
}
