"""The catalogue of the wiki: a page in one line, and the indexes made of such lines. Pure."""

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, repeat
from typing import NamedTuple

from kb_pipeline.records import UNCLASSIFIED, Item, Page, PageBrief, Written
from kb_pipeline.rules.catalogue import kind_of
from kb_pipeline.rules.numbers import SYMBOLS
from kb_pipeline.rules.pages.markdown import address, label
from kb_pipeline.rules.pages.rendering import cited, summary_of, tags_of
from kb_pipeline.rules.taxonomy import category_folder
from kb_pipeline.rules.words import FUNCTION_WORDS, singular

MASTER, TOPICS, LOG, INDEX = "master-index", "topic-index", "log", "index"
MOST_KEYS = 500  # characters of names, flags and figures of one page in the catalogue
MOST_WORDS = 800  # characters of everyday words of one page among its keys
_SHOWN_WORDS = 12  # of them in a line of an index
_FEWEST_OF_A_TAG = 3  # pages
_UNITS = "|".join(map(re.escape, sorted(SYMBOLS, key=len, reverse=True)))
_FIGURE = re.compile(rf"(?<![\w.,-])\d+(?:[.,]\d+)*(?:\s?%|[A-Za-zµ°]{{1,6}}\b|\s(?:{_UNITS})(?!\w))?")
_WORD = re.compile(r"(?<![\w.'’-])[^\W\d_]{3,24}(?![\w'’-]|\.\w)")
_LOG_HEAD = "# Log\n\nWhat became of the pages of this wiki, oldest first; one line a change.\n\n"


def brief_of(page: Page, written: Written, items: Mapping[str, Item]) -> PageBrief:
    """The page in one line. Keys are names of its items, the most frequent first, figures in their sentences, then
    words of these that neither title nor summary has: those that the page uses once before others, long ones first."""
    own = [items[key] for key in page.items]
    summary, keys = summary_of(written), tuple(_keys(own))
    words = _words(own, " ".join((page.title, *page.aliases, summary, *keys)))
    return PageBrief(
        id=page.id,
        title=page.title,
        path=page.path,
        category=page.category,
        summary=summary,
        keys=(*keys, *_fitting(words, MOST_WORDS)),
        aliases=page.aliases,
        tags=tuple(tags_of(own)),
        docs=_docs([*own, *items.values()]),
        items=len(cited(written)),
        updated=max((item.updated_at for item in own), default=""),
    )


def _docs(items: Sequence[Item]) -> tuple[str, ...]:
    counted = Counter(doc for item in items for doc in {c.doc_id for c in item.sources})
    return tuple(sorted(counted, key=lambda doc: (-counted[doc], doc)))


def _keys(items: Sequence[Item]) -> Iterator[str]:
    names = _counted(items)
    return _fitting(sorted(names, key=lambda key: (-names[key], key)), MOST_KEYS)


def _words(items: Sequence[Item], told: str) -> list[str]:
    """Everyday words of the items that ``told`` has not, in the singular where it is told by the ending."""
    known = {singular(word) for word in _WORD.findall(told.casefold())} | FUNCTION_WORDS
    counted = Counter(singular(word) for item in items for word in set(_WORD.findall(item.statement)) if word.islower())
    return sorted(counted.keys() - known, key=lambda word: (counted[word], -len(word), word))


def _fitting(keys: Iterable[str], room: int) -> Iterator[str]:
    for key in keys:
        room -= len(key) + 2
        if room < 0:
            return
        yield key


def _counted(items: Sequence[Item]) -> Counter[str]:
    names = Counter(name for item in items for name in item.entities)
    figures = Counter(m[0].strip() for item in items for m in _FIGURE.finditer(item.statement))
    return names + Counter({figure: 1 for figure in figures if figure not in names and len(figure) > 1})


@dataclass(frozen=True)
class Indexes:
    """The indexes of ``briefs``, the pages of a wiki by id. What is the same in the lines of several is made once."""

    briefs: Sequence[PageBrief]

    @cached_property
    def shelves(self) -> dict[str, list[PageBrief]]:
        """``by_category``."""
        return dict(by_category(self.briefs))

    def master(self) -> str:
        """Every page by category: title, path, summary, and the keys by which a narrow fact is found: names, flags and
        figures, and of its everyday words those that fewest pages have."""
        parts = [f"# Master index\n\n{len(self.briefs)} pages.\n"]
        for category, pages in self.shelves.items():
            folder = category_folder(category)
            parts.append(f"\n## [{label(heading_of(category))}]({address(folder)}/{INDEX}.md)\n\n")
            parts += [_line(self._told[page.id], page.path, self._held) for page in pages]
        return "".join(parts)

    def of_category(self, category: str) -> str:
        """The pages of one category."""
        told = [self._told[page.id] for page in self.shelves[category]]
        held = Counter(chain.from_iterable(page.words for page in told))
        paths = (page.path.partition("/")[2] for page in self.shelves[category])
        return f"# {label(heading_of(category))}\n\n{''.join(map(_line, told, paths, repeat(held)))}"

    def topics(self) -> str:
        """Tags that several pages share, with their pages."""
        tagged: dict[str, list[PageBrief]] = {}
        for page in _sorted(self.briefs):
            for tag in page.tags:
                tagged.setdefault(tag, []).append(page)
        shared = {tag: pages for tag, pages in sorted(tagged.items()) if len(pages) >= _FEWEST_OF_A_TAG}
        entry = cache(_entry)  # of one page, under each of its tags
        parts = [f"\n## {label(tag)}\n\n{''.join(entry(p.title, p.path) for p in on)}" for tag, on in shared.items()]
        return f"# Topics\n\n{len(shared)} tags that at least {_FEWEST_OF_A_TAG} pages share.\n{''.join(parts)}"

    @cached_property
    def _held(self) -> dict[str, int]:
        """How many pages have each of the everyday words among their keys."""
        counted = Counter(chain.from_iterable(page.keys for page in self.briefs))
        return {key: n for key, n in counted.items() if kind_of(key) == "word"}

    @cached_property
    def _told(self) -> dict[str, "_Told"]:
        return {page.id: _told(page, self._held) for page in self.briefs}


class _Told(NamedTuple):
    """What a line of an index tells of a page wherever it stands; of ``words`` it shows some."""

    title: str
    summary: str
    names: list[str]
    words: list[str]


def _told(page: PageBrief, words: Container[str]) -> _Told:
    return _Told(
        title=label(page.title),
        summary=label(page.summary),
        names=[key for key in page.keys if key not in words and "`" not in key],
        words=[key for key in page.keys if key in words],
    )


def _line(page: _Told, path: str, held: Mapping[str, int]) -> str:
    """A page of an index: its names and figures, and of its words those that are ``held`` by the fewest pages there."""
    shown = "`, `".join(page.names + sorted(page.words, key=held.__getitem__)[:_SHOWN_WORDS])
    keys = f" | keys: `{shown}`" if shown else ""
    return f"- [{page.title}]({address(path)}): {page.summary}{keys}\n"


def _entry(title: str, path: str) -> str:
    return f"- [{label(title)}]({address(path)})\n"


def by_category(briefs: Iterable[PageBrief]) -> list[tuple[str, list[PageBrief]]]:
    """Pages by category, each by title; what no category holds comes last."""
    found: dict[str, list[PageBrief]] = {}
    for page in _sorted(briefs):
        found.setdefault(page.category, []).append(page)
    return sorted(found.items(), key=lambda entry: (entry[0] == UNCLASSIFIED, entry[0]))


def _sorted(briefs: Iterable[PageBrief]) -> list[PageBrief]:
    return sorted(briefs, key=lambda page: (page.title.casefold(), page.id))


def heading_of(category: str) -> str:
    """A category as people read it."""
    return "Other notes" if category == UNCLASSIFIED else category


def log_of(before: str, lines: Sequence[str]) -> str:
    """The log with new lines at its end."""
    added = "".join(f"- {line}\n" for line in lines)
    return f"{before or _LOG_HEAD}{added}"
