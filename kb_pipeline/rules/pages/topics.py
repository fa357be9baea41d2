"""Documents to subjects: one tree of headings a subject, whatever number of documents speak of it. Pure.

Owns which documents are one subject (the same title, or versions of one document) and how a subject is told by name.
Refuses to know how large a page may be. Names come from documents alone: titles, headings, file names.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain

from kb_pipeline.records import Chunk, Meta, Outline, Placed
from kb_pipeline.rules.numbers import version_key
from kb_pipeline.rules.order import place
from kb_pipeline.rules.taxonomy import phrase
from kb_pipeline.rules.words import words

GENERIC = words(
    "readme index overview introduction intro note changelog todo summary content home documentation doc misc history "
    "usage example license about faq link reference memory setting error limit fixed added changed removed deprecated "
    "definition installation requirement background conclusion result method problem upgrade configuration general"
)
"""Titles that say nothing of their subject (in the singular): two documents or sections so called are not one."""

_VERSION = re.compile(
    r"[\s,:(\[–—-]*\b(?:version\s+|v)?\d+(?:\.\w+)+\b[)\]]?$|[\s,:(\[–—-]+v\d+\b[)\]]?$", re.IGNORECASE
)
_RELEASE = re.compile(r"(?:version\s+|v|\[)?\d+(?:[.-]\w+)+\b", re.IGNORECASE)
_FILE = re.compile(r"\.[A-Za-z]\w{0,4}$")
_ORNAMENT = re.compile(r"^[^\w\"'(*.<$/-]+|[^\w\"')*.>?!/]+$")
_LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")


@dataclass
class Topic:
    """A subject: ``items`` stand below its own heading, ``children`` below headings of their own. ``names`` are all
    the ways in which documents write its name, the first the one to use."""

    key: str
    names: list[str]
    items: list[Placed] = field(default_factory=list)
    children: "dict[str, Topic]" = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name to use."""
        return self.names[0]

    def total(self) -> int:
        """How many items stand here and below."""
        return len(self.items) + sum(child.total() for child in self.children.values())

    def child(self, heading: str) -> "Topic":
        """The subject below ``heading``, new where there is none yet."""
        form = form_of(heading) or heading
        found = self.children.setdefault(form, Topic(f"{self.key}/{form}", []))
        if heading not in found.names:
            found.names.append(heading)
        return found


@lru_cache(maxsize=1 << 18)  # a name is asked for again and again: of its document, its page, its links
def form_of(name: str) -> str:
    """``name`` as names are compared: without case, plural, hyphen and markup; empty where no letter is left."""
    return "-".join(phrase(name))


def is_generic(name: str) -> bool:
    """Whether ``name`` says nothing of its subject, so that its namesake elsewhere is another one."""
    form = form_of(name)
    return not form or form in GENERIC or (form[0].isdigit() and form.replace("-", "").isdigit())


def is_release(heading: str) -> bool:
    """Whether a heading is a version or a date: one of a series, which is read in its order."""
    return _RELEASE.match(heading) is not None


def clean(heading: str) -> str:
    """A heading as a title: without links, emphasis and ornaments at its ends."""
    text = _LINK.sub(r"\1", heading).replace("`", "").replace("**", "")
    return " ".join(_ORNAMENT.sub("", text).split()) or heading.strip()


def title_of(meta: Meta, chunks: Sequence[Chunk]) -> str:
    """What a document is called: the one heading that stands above all the others, else the title it was given, else
    its file's name as words."""
    tops = {chunk.heading[0] for chunk in chunks if chunk.heading}
    if len(tops) == 1:
        return clean(min(tops))
    stem = meta.doc_id.rpartition("/")[2]
    given = clean(meta.title)
    if given and given not in {stem, *map(clean, tops)}:
        return given
    spoken = re.sub(r"(?:(?<!\d)|(?!-\d))[\s_-]+", " ", _FILE.sub("", stem)).strip()  # the hyphens of a date stay
    return f"{spoken[:1].upper()}{spoken[1:]}" or meta.doc_id


def below_title(heading: Sequence[str], title: str) -> tuple[str, ...]:
    """The headings below the title of the document, clean."""
    cleaned = tuple(map(clean, heading))
    return cleaned[1:] if cleaned[:1] == (title,) else cleaned


def subjects(outlines: Iterable[Outline]) -> list[Topic]:
    """One tree a subject, by key; a later version of a document comes before the earlier ones."""
    grouped = _grouped(sorted(outlines, key=lambda o: o.doc_id))
    return [_tree(key, grouped[key]) for key in sorted(grouped)]


def _tree(key: str, outlines: Sequence[Outline]) -> Topic:
    newest = sorted(outlines, key=_newest_first) if len(outlines) > 1 else outlines
    names = [without_version(o.title) if len({o.title for o in outlines}) > 1 else o.title for o in newest]
    spelled = _spelled(names[0], outlines)
    root = Topic(key, list(dict.fromkeys([spelled, *names, *(o.title for o in newest)])))
    for outline in newest:
        for section in outline.sections:
            topic = root
            for heading in section.heading:
                topic = topic.child(heading)
            topic.items += section.items
    return root


def _spelled(name: str, outlines: Iterable[Outline]) -> str:
    """``name`` with the capitals that its items give it: ``Testclient``, from the name of a file, is ``TestClient``."""
    form = name.casefold()
    items = chain.from_iterable(section.items for o in outlines for section in o.sections)
    written = [n for item in items for n in item.names if n.casefold() == form and not n.islower()]
    counted = Counter(written) if written else {}
    return min(counted, key=lambda n: (-counted[n], n), default=name)


def _newest_first(outline: Outline) -> tuple[object, ...]:
    numbers, stage, post = version_key(place(outline.doc_id).version or "0")
    return tuple(-n for n in (*numbers, 0)), -stage, -post, outline.doc_id


def without_version(title: str) -> str:
    """``Siskin engine guide, v0.6`` → ``Siskin engine guide``; a title that is nothing but a version stays."""
    return _VERSION.sub("", title).rstrip(" ,:(") or title


def _grouped(outlines: Sequence[Outline]) -> dict[str, list[Outline]]:
    """Documents of one subject by its key: those of one title, unless it is generic, and versions of one document."""
    heads: dict[str, str] = {}

    def head(mark: str) -> str:
        while heads.setdefault(mark, mark) != mark:
            mark = heads[mark]
        return mark

    marks = [tuple(_marks(outline)) for outline in outlines]
    for of_one in marks:
        first, *rest = sorted({head(mark) for mark in of_one})
        heads.update(dict.fromkeys(rest, first))
    groups: dict[str, list[Outline]] = {}
    for outline, (own, *_) in zip(outlines, marks, strict=True):
        groups.setdefault(head(own), []).append(outline)
    return {_key(group): group for group in groups.values()}


def _marks(outline: Outline) -> Iterator[str]:
    yield _own(outline)
    where = place(outline.doc_id)
    if where.version:
        yield f"lineage {where.lineage}"


def _own(outline: Outline) -> str:
    form = form_of(outline.title)
    return f"at {outline.doc_id}" if is_generic(outline.title) else f"title {form}"


def _key(group: Sequence[Outline]) -> str:
    """The same whichever of the documents came first; that of a title outlives a move of its document."""
    titles = sorted({o.title for o in group})
    if len(titles) == 1:
        return _own(group[0])
    return f"lineage {min(place(o.doc_id).lineage for o in group)}"
