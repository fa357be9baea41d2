"""The two files that a user writes, ``sources.yaml`` and ``taxonomy.yaml``: every mistake reported on its line.

Knows the files' shape; knows no source type, no path on disk and no environment.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kb_pipeline.records import UNCLASSIFIED, Category, Project, Source, Taxonomy
from kb_pipeline.refresh import refresh_mistake
from kb_pipeline.yaml_lines import Located, Where, near

_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
_TAG = re.compile(r"[^\W_]+(-[^\W_]+)*")
_RESERVED = {"human": "items written by hand", "compile": "the stages that all sources share"}
_LISTS = ("uri", "include", "exclude", "owners", "sources", "keywords")


@dataclass(frozen=True)
class Registry:
    """What ``sources.yaml`` says. ``lines`` is that of ``Settings``."""

    sources: tuple[Source, ...]
    projects: tuple[Project, ...]
    default_project: str | None
    lines: Mapping[str, int]


def read_sources(file: Located) -> Registry:
    """The sources and projects of ``sources.yaml``; an entry with mistakes keeps what is right in it."""
    top = _top(file, ("version", "sources", "projects", "settings", "default_project"), needs="sources")
    entries = [(where, e) for where, raw in _entries(file, top, "sources") if (e := _source(file, raw, where))]
    known = [entry.id for _, entry in entries if entry.id]
    projects = [(w, p) for w, raw in _entries(file, top, "projects") if (p := _project(file, raw, w, known))]
    _unique(file, [((*where, "id"), f"source id {entry.id!r}", entry.id) for where, entry in entries])
    _unique(file, [((*where, "id"), f"project id {project.id!r}", project.id) for where, project in projects])
    default, names = top.get("default_project"), [project.id for _, project in projects]
    if default is not None and default not in names:
        cure = f"{near(str(default), names)}Name one of projects:, or remove the line."
        file.report(("default_project",), f"unknown project {default!r}. {cure}")
    return Registry(
        tuple(entry for _, entry in entries), tuple(p for _, p in projects), default, dict(_lines(file, entries))
    )


def read_taxonomy(file: Located) -> Taxonomy:
    """The categories and tags of ``taxonomy.yaml``."""
    top = _top(file, ("version", "categories", "tags"), needs="categories")
    categories = [(w, c) for w, raw in _entries(file, top, "categories") if (c := _category(file, raw, w))]
    _unique(file, [((*w, "name"), f"the folder name of category {c.name!r}", slug(c.name)) for w, c in categories])
    return Taxonomy(categories=tuple(c for _, c in categories), tags=_tags(file, top.get("tags")))


def slug(name: str) -> str:
    """``Serving & Scheduling`` → ``serving-scheduling``: a category's folder. Letters of any script are kept."""
    return "-".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", name).casefold()))


def _lines(file: Located, entries: Sequence[tuple[Where, Source]]) -> Iterator[tuple[str, int]]:
    for where, entry in reversed(entries):
        yield entry.id, file.line(where)
        for key in ("type", "uri"):
            yield f"{entry.id}.{key}", file.line((*where, key))
        for name in entry.options:
            yield f"{entry.id}.options.{name}", file.line((*where, "options", name))


def _top(file: Located, keys: tuple[str, ...], needs: str) -> Mapping[str, Any]:
    """The file's top mapping with its keys and ``version`` checked."""
    if file.mistakes and file.data is None:
        return {}
    data = file.data
    if not isinstance(data, Mapping):
        file.report((), f"the file must be a mapping. Begin with version: 1, then {needs}:")
        return {}
    for key in data:
        if key not in keys:
            file.report((key,), f"unknown key {key!r}. {near(key, keys)}Known keys: {', '.join(keys)}.")
    if "version" not in data:
        file.report((), "'version' is missing. Begin the file with version: 1")
    elif data["version"] is True or data["version"] != 1:
        file.report(("version",), f"unknown version {data['version']!r}. Write version: 1, or upgrade kb-pipeline.")
    if needs not in data:
        file.report((), f"{needs!r} is missing. Add {needs}: with a list below it, or {needs}: [] for none yet.")
    return data


def _entries(file: Located, top: Mapping[str, Any], section: str) -> list[tuple[Where, Any]]:
    value = top.get(section)
    if value is None:
        return []
    if not isinstance(value, list):
        file.report((section,), f"{section!r} must be a list. Begin each entry with a dash.")
        return []
    return [((section, i), _listed(raw)) for i, raw in enumerate(value)]


def _listed(raw: Any) -> Any:
    """An entry in which one text stands for a list of one."""
    if not isinstance(raw, Mapping):
        return raw
    return {k: [v] if k in _LISTS and isinstance(v, str) else v for k, v in raw.items()}


def _source(file: Located, raw: Any, where: Where) -> Source | None:
    label = _label("source", raw, "id", where)
    entry = file.record(Source, raw, where, label, {"id": "", "type": "", "uri": ("?",)})
    if entry is None:
        return None
    _check_id(file, entry.id, "source", where)
    if not entry.uri or not all(uri.strip() for uri in entry.uri):
        file.report((*where, "uri"), f"{label}'uri' is empty. Give a path, a URL, or a list of them.")
    if (why := refresh_mistake(entry.refresh)) is not None:
        cure = "Write an interval such as 6h or 7d, a cron line of five fields such as '0 3 * * *', or manual."
        file.report((*where, "refresh"), f"{label}refresh {entry.refresh!r} {why}. {cure}")
    return entry


def _project(file: Located, raw: Any, where: Where, known: Sequence[str]) -> Project | None:
    label = _label("project", raw, "id", where)
    project = file.record(Project, raw, where, label, {"id": "", "name": "?", "sources": ()})
    if project is None:
        return None
    _check_id(file, project.id, "project", where)
    for i, member in enumerate(project.sources):
        if member not in known:
            cure = f"{near(member, known)}Known sources: {', '.join(known) or 'none'}."
            file.report((*where, "sources", i), f"{label}unknown source {member!r}. {cure}")
    return project


def _label(noun: str, raw: Any, key: str, where: Where) -> str:
    name = raw.get(key) if isinstance(raw, Mapping) else None
    return f"{noun} {name!r}: " if isinstance(name, str) else f"{noun} {int(where[-1]) + 1}: "


def _check_id(file: Located, name: str, noun: str, where: Where) -> None:
    if not name:
        return  # reported as wrong before
    if name in _RESERVED and noun == "source":
        file.report((*where, "id"), f"the id {name!r} is kept for {_RESERVED[name]}. Choose another.")
    elif not _ID.fullmatch(name):
        rule = "holds only a-z, 0-9, - and _, begins with a letter or digit and has at most 100 characters"
        file.report((*where, "id"), f"{noun} id {name!r} is not allowed: an id {rule}. {_better(name)}")


def _better(name: str) -> str:
    ascii_only = slug(unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode())[:100]
    return f"Write {ascii_only!r}." if ascii_only else "Choose another."


def _unique(file: Located, names: Sequence[tuple[Where, str, str]]) -> None:
    """Report each name, given with the value it stands in and how to call it, that another took before."""
    first: dict[str, Where] = {}
    for where, noun, name in names:
        if name and name in first:
            file.report(where, f"{noun} is taken by line {file.line(first[name])}. Rename one of them.")
        first.setdefault(name, where)


def _category(file: Located, raw: Any, where: Where) -> Category | None:
    label = _label("category", raw, "name", where)
    category = file.record(Category, raw, where, label, {"name": "", "description": "?", "keywords": ("?",)})
    if category is None:
        return None
    if category.name and (not slug(category.name) or category.name.upper() == UNCLASSIFIED):
        file.report((*where, "name"), f"{label}this name cannot be used. Choose another, with a letter in it.")
    if not category.description.strip():
        cure = "Say in a sentence what belongs here; classification rests on it."
        file.report((*where, "description"), f"{label}'description' is empty. {cure}")
    if not category.keywords or not all(word.strip() for word in category.keywords):
        cure = "List the words that such texts use; classification rests on them."
        file.report((*where, "keywords"), f"{label}'keywords' is empty. {cure}")
    return category


def _tags(file: Located, raw: Any) -> dict[str, tuple[str, ...]]:
    """Tag to aliases; ``raw`` is such a mapping, or a list of tags without aliases."""
    if raw is None:
        return {}
    if not isinstance(raw, list | Mapping):
        file.report(("tags",), "'tags' must map tags to lists of aliases. Write a tag, a colon and [].")
        return {}
    pairs = list(raw.items()) if isinstance(raw, Mapping) else [(tag, None) for tag in raw]
    tags: dict[str, tuple[str, ...]] = {}
    meaning: list[tuple[Where, str, str]] = []
    for i, (tag, aliases) in enumerate(pairs):
        where: Where = ("tags", tag if isinstance(raw, Mapping) else i)
        names = [aliases] if isinstance(aliases, str) else aliases or []
        if not isinstance(tag, str) or not isinstance(names, list) or not all(isinstance(n, str) for n in names):
            file.report(where, f"tag {tag!r}: a tag is text, its aliases a list of texts. Put other values in quotes.")
            continue
        if not _TAG.fullmatch(tag) or tag != tag.lower():
            file.report(where, f"tag {tag!r} is not in normal form: lower case, words joined by -. {_better(tag)}")
        meaning += [(where, f"tag {tag!r}", tag.casefold())]
        meaning += [(where, f"alias {n!r} of tag {tag!r}", n.casefold()) for n in names if n.casefold() != tag]
        tags[tag] = tuple(names)
    _unique(file, meaning)
    return tags
