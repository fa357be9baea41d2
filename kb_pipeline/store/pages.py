"""How a file of the wiki lies on disk, what of it is a person's, and what the manifest notes of it.

A page is told by the ``id`` in its front matter, so that it may move; an index by its path.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from kb_pipeline.errors import StoreError
from kb_pipeline.records import Clash, PageBrief, Record, Rendering
from kb_pipeline.rules.pages.merging import front_of, is_reviewed, is_untouched, line_hashes, merged, outstanding, split
from kb_pipeline.rules.pages.reading import likely_base
from kb_pipeline.rules.pages.settling import kept, name_of

FOLDER = "wiki"
ANSWERS = f"{FOLDER}/answers/"  # answers that were kept, which are no pages
CATALOGUE, SUFFIXES = "catalogue", (".md", ".json")
_CATALOGUE = f"{FOLDER}/{CATALOGUE}.json"
_HASH = 8


def encode(key: str, records: Sequence[Record], _: object) -> dict[str, bytes]:
    """The one file of a rendering; the catalogue as JSON, a page a line."""
    if key == CATALOGUE:
        lines = ",\n".join(brief.model_dump_json(exclude_defaults=True) for brief in records)
        return {_CATALOGUE: f"[\n{lines}\n]\n".encode()}
    rendering = cast(Rendering, records[0])
    return {f"{FOLDER}/{rendering.path}": rendering.text.encode()}


def decode(paths: Sequence[str], read: Callable[[str], bytes]) -> tuple[Record, ...]:
    """A file as it stands."""
    data = read(paths[0])
    if paths[0] == _CATALOGUE:
        return _catalogue(data)
    return (Rendering(id=key_of(paths[0], data), path=paths[0].removeprefix(f"{FOLDER}/"), text=_text(data, paths[0])),)


def _catalogue(data: bytes) -> tuple[Record, ...]:
    try:
        return TypeAdapter(tuple[PageBrief, ...]).validate_json(data)
    except ValidationError as error:
        what = f"is no catalogue: {error.errors()[0]['msg']}."
        raise StoreError(what, where=f"kb/{_CATALOGUE}", cure="Remove it and run `kb build`.", code="record") from error


def key_of(path: str, data: bytes) -> str:
    """The key of the file at ``path`` below ``kb/``: a page's id, ``log``, ``index/<category>``."""
    if path == _CATALOGUE:
        return CATALOGUE
    named = front_of(_text(data, path)).get("id")
    if isinstance(named, str) and named:
        return named
    stem = path.removeprefix(f"{FOLDER}/").removesuffix(".md")
    folder, _, name = stem.rpartition("/")
    return f"{name}/{folder}" if folder else stem


def facts(records: Sequence[Record]) -> dict[str, Any]:
    """The hashes of the lines that the machine rendered, what is a person's, where both differ, what is proposed."""
    if not records or not isinstance(records[0], Rendering):
        return {}
    rendering = records[0]
    noted = rendering.model_dump(mode="json", include={"by_hand", "clashes", "proposal"}, exclude_defaults=True)
    return {**noted, "base": "".join(rendering.base)} if rendering.base else noted


def overlaid(data: bytes, records: Sequence[Record], known: Mapping[str, Any]) -> tuple[Sequence[Record], bool]:
    """The page of both hands; ``known`` are its facts of the last time. An index is the machine's alone."""
    machine = records[0]
    if not isinstance(machine, Rendering) or not machine.id.startswith("pg_"):
        return records, False
    person = _text(data, machine.path)
    if is_untouched(person):
        return records, False
    held = str(known.get("base", ""))
    base = tuple(held[at : at + _HASH] for at in range(0, len(held), _HASH)) or likely_base(person)
    now = line_hashes(machine.text)
    if is_reviewed(person):
        accepted = split(person)[1] == split(machine.text)[1]
        proposal = "" if accepted or now == base or name_of(machine.text) in kept(person) else machine.text
        update = {"text": person, "base": now if accepted else base, "proposal": proposal}
        return (machine.model_copy(update=update),), True
    both = merged(base, machine.text, person)
    if both.text == machine.text:
        return records, False
    earlier = outstanding(map(Clash.model_validate, known.get("clashes", ())), machine.text, both.text)
    settled = kept(person)
    clashes = tuple(clash for clash in dict.fromkeys((*earlier, *both.clashes)) if name_of(clash) not in settled)
    hands: dict[str, Any] = {"text": both.text, "base": now, "by_hand": both.by_hand, "clashes": clashes}
    return (machine.model_copy(update=hands),), True


def _text(data: bytes, path: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise StoreError("is no UTF-8 text.", where=f"kb/{path}", cure="Save it as UTF-8.", code="record") from error
