"""Notes and files that people drop into a served knowledge base: where they land, as a source like any other.

The inbox is a folder beside ``sources.yaml``. Where there is none yet, its entry is written into that file by hand, so
to speak: at the top of its list, with every line that is there left as it is.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from threading import Lock

import yaml

from kb_pipeline import settings as settings_
from kb_pipeline.api.visiting import Visitor
from kb_pipeline.errors import KbError, SettingsError
from kb_pipeline.records import Deposited
from kb_pipeline.sources import check_types
from kb_pipeline.store import files

_INBOX = "inbox"
_NAME, _SLUG = 100, 60
_ONE = Lock()
"""One change of ``sources.yaml`` at a time."""


def deposit(visitor: Visitor, note: str = "", title: str = "", dropped: Sequence[tuple[str, bytes]] = ()) -> Deposited:
    """Put a note and files (name, bytes) into the inbox of who brings them, making it where there is none.

    Raises ``KbError`` (code ``usage``) where there is nothing to put, ``Forbidden`` for less than an editor.
    """
    visitor.require("editor")
    if not note.strip() and not dropped:
        raise KbError("there is nothing to keep.", where="inbox", cure="Write a note or choose files.", code="usage")
    project = visitor.seen.settings.default_project if visitor.principal.projects else None
    source = f"{_INBOX}-{project}" if project else _INBOX
    with _ONE:
        message = _made(visitor, source, project)
        folder = visitor.base.settings.root / source
        folder.mkdir(exist_ok=True)
        given = [(name, data) for name, data in dropped]
        if note.strip():
            given.append(_note(note, title, visitor.base.world.clock.now()))
        names = [_put(folder, name, data) for name, data in given]
    return Deposited(source=source, documents=tuple(f"{source}/{name}" for name in names), message=message)


def _note(text: str, title: str, now: datetime) -> tuple[str, bytes]:
    """A note as a Markdown file, named after its day and title."""
    head = title.strip() or next(line.strip("# ") for line in text.splitlines() if line.strip())
    slug = re.sub(r"[^\w]+", "-", head.casefold()).strip("-")[:_SLUG].strip("-") or "note"
    body = text.strip().replace("\r\n", "\n")
    body = body if body.startswith("#") else f"# {head}\n\n{body}"
    return f"{now.date().isoformat()}-{slug}.md", body.encode() + b"\n"


def _put(folder: Path, name: str, data: bytes) -> str:
    """Write a file under a name that is free and leads nowhere else; the name."""
    plain = re.sub(r"[^\w.-]+", "-", Path(name.replace("\\", "/")).name).lstrip(".-")[-_NAME:] or "file"
    stem, suffix = Path(plain).stem, Path(plain).suffix
    number, path = 1, folder / plain
    while path.exists() and path.read_bytes() != data:
        number += 1
        path = folder / f"{stem}-{number}{suffix}"
    files.replace(path, data)
    return path.name


def _made(visitor: Visitor, source: str, project: str | None) -> str:
    """Make sure that the source is there; what was done for it, in words."""
    if any(known.id == source for known in visitor.base.settings.sources):
        return ""
    path = visitor.base.settings.root / settings_.SOURCES
    entry = f"- id: {source}\n  type: local\n  uri: {source}\n  license: internal\n  refresh: 1h\n"
    before = path.read_text(encoding="utf-8")
    after = _inserted(before, ("sources",), entry, f"{{id: {source}, type: local, uri: {source}, license: internal}}")
    if project:
        place = [p.id for p in visitor.base.settings.projects].index(project)
        after = _inserted(after, ("projects", place, "sources"), f"- {source}\n", source)
    files.replace(path, after.encode())
    try:
        settings_.load(visitor.base.settings.root, None, check_types)
    except SettingsError as error:
        files.replace(path, before.encode())
        raise _by_hand(source) from error
    return f"The source '{source}' was added to {settings_.SOURCES}."


def _inserted(text: str, where: tuple[str | int, ...], block: str, flow: str) -> str:
    """``text`` with an entry at the top of the list at ``where``, in the style of that list."""
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    for step in where:
        if isinstance(node, yaml.MappingNode):
            node = next((value for key, value in node.value if key.value == step), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            node = node.value[step]
    if not isinstance(node, yaml.SequenceNode):
        raise _by_hand(flow)
    start = node.start_mark
    if node.flow_style:
        return f"{text[: start.index + 1]}{flow}{', ' if node.value else ''}{text[start.index + 1 :]}"
    lines = text.splitlines(keepends=True)
    margin = " " * start.column
    lines[start.line : start.line] = [f"{margin}{line}" for line in block.splitlines(keepends=True)]
    return "".join(lines)


def _by_hand(source: str) -> KbError:
    what = f"the source '{source}' cannot be added to it by a program."
    cure = f"Add it: id: {source}, type: local, uri: {source}, license: internal."
    return KbError(what, where=settings_.SOURCES, cure=cure, code="busy")
