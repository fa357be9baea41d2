"""Titles and paths of pages: unique, whatever their script, and where they were if nothing speaks against it. Pure."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kb_pipeline.records import Page
from kb_pipeline.rules.pages.sizing import Draft, page_id
from kb_pipeline.rules.pages.topics import form_of, is_generic
from kb_pipeline.rules.taxonomy import category_folder

_LONGEST = 80  # bytes of a file's name; systems allow 255, hosts cut long ones
_TAKEN = frozenset({"index"})  # the name of a category's own index


@dataclass(frozen=True)
class Name:
    """What a page is called and where it lies, below ``kb/wiki``."""

    title: str
    path: str
    aliases: tuple[str, ...]


def titled(drafts: Sequence[Draft], categories: Mapping[str, str], standing: Mapping[str, Page]) -> list[Name]:
    """A name for each draft, in order. Of namesakes one keeps the bare title: that which has it, else the one whose
    subject comes first; the others say what they are a part of, and where that is not enough, their number."""
    order = sorted(drafts, key=lambda d: (_has(d, standing), bool(d.above), d.key))
    namesakes = Counter(form_of(draft.names[0]) for draft in drafts)
    titles: dict[str, str] = {}
    used: set[str] = set()
    for draft in order:
        sole = namesakes[form_of(draft.names[0])] == 1
        titles[draft.key] = next(t for t in _candidates(draft, sole) if _same(t) not in used)
        used.add(_same(titles[draft.key]))
    names = {key: _path(title, categories[key]) for key, title in titles.items()}
    taken: dict[str, str] = {}
    for draft in order:
        path = names[draft.key]
        taken.setdefault(path.casefold(), draft.key)
        if taken[path.casefold()] != draft.key:
            names[draft.key] = f"{path.removesuffix('.md')}-{page_id(draft.key)[3:9]}.md"
    return [Name(titles[d.key], names[d.key], _aliases(d.names, titles[d.key])) for d in drafts]


def _has(draft: Draft, standing: Mapping[str, Page]) -> bool:
    """Whether the draft must give way (true sorts last): it has no page yet that bears its bare name."""
    page = standing.get(page_id(draft.key))
    return page is None or page.title != draft.names[0]


def _candidates(draft: Draft, sole: bool) -> Iterable[str]:
    """Titles, the best first. A name that says nothing stands alone only as that of a document without namesakes."""
    name = draft.names[0]
    if draft.run_of or not is_generic(name) or (sole and not draft.above):
        yield name
    if draft.above:
        yield f"{draft.above[-1]}: {name}"
    elif folder := _folder(draft.key):
        yield f"{name} ({folder})"
    if len(draft.above) > 1:
        yield f"{': '.join(draft.above)}: {name}"
    yield f"{name} ({page_id(draft.key)[3:9]})"


def _folder(key: str) -> str:
    """The folder of a document whose title alone does not tell it from others."""
    return key.removeprefix("at ").rpartition("/")[0].rpartition("/")[2] if key.startswith("at ") else ""


def _aliases(names: Sequence[str], title: str) -> tuple[str, ...]:
    return tuple(name for name in dict.fromkeys(names) if name != title)


def _same(title: str) -> str:
    return unicodedata.normalize("NFKC", title).casefold()


def _path(title: str, category: str) -> str:
    return f"{category_folder(category)}/{slug(title)}.md"


def slug(title: str) -> str:
    """``title`` as the name of a file: letters and digits of any script, hyphens between; never empty."""
    text = unicodedata.normalize("NFKC", title).replace("++", "-plus-plus").replace("#", "-sharp").casefold()
    found = "-".join(re.findall(r"[^\W_]+", text)).encode()[:_LONGEST].decode(errors="ignore").strip("-")
    return f"{found}-page" if found in _TAKEN else found or "page"
