"""The catalogue of the wiki: a page in one line, and the indexes made of such lines. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain

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


def master_index(briefs: Sequence[PageBrief]) -> str:
    """Every page by category: title, path, summary, and the keys by which a narrow fact is found: names, flags and
    figures, and of its everyday words those that fewest pages have."""
    held = _held(briefs)
    parts = [f"# Master index\n\n{len(briefs)} pages.\n"]
    for category, pages in by_category(briefs):
        folder = category_folder(category)
        parts.append(f"\n## [{label(heading_of(category))}]({address(folder)}/{INDEX}.md)\n\n")
        parts += [_line(page, page.path, held) for page in pages]
    return "".join(parts)


def category_index(category: str, briefs: Sequence[PageBrief]) -> str:
    """The pages of one category."""
    held = _held(briefs)
    lines = (_line(page, page.path.partition("/")[2], held) for page in _sorted(briefs))
    return f"# {label(heading_of(category))}\n\n{''.join(lines)}"


def topic_index(briefs: Sequence[PageBrief]) -> str:
    """Tags that several pages share, with their pages."""
    tagged: dict[str, list[PageBrief]] = {}
    for page in _sorted(briefs):
        for tag in page.tags:
            tagged.setdefault(tag, []).append(page)
    shared = {tag: pages for tag, pages in sorted(tagged.items()) if len(pages) >= _FEWEST_OF_A_TAG}
    entry = cache(_entry)  # of one page, under each of its tags
    parts = [f"\n## {label(tag)}\n\n{''.join(entry(p.title, p.path) for p in pages)}" for tag, pages in shared.items()]
    return f"# Topics\n\n{len(shared)} tags that at least {_FEWEST_OF_A_TAG} pages share.\n{''.join(parts)}"


def _entry(title: str, path: str) -> str:
    return f"- [{label(title)}]({address(path)})\n"


def _line(page: PageBrief, path: str, held: Mapping[str, int]) -> str:
    """A page of an index: its names and figures, and of its words those that are ``held`` by the fewest pages there."""
    words = sorted([key for key in page.keys if key in held], key=held.__getitem__)[:_SHOWN_WORDS]
    shown = "`, `".join([key for key in page.keys if key not in held and "`" not in key] + words)
    keys = f" | keys: `{shown}`" if shown else ""
    return f"- [{label(page.title)}]({address(path)}): {label(page.summary)}{keys}\n"


def _held(briefs: Sequence[PageBrief]) -> dict[str, int]:
    """How many pages have each of the everyday words among their keys."""
    counted = Counter(chain.from_iterable(page.keys for page in briefs))
    return {key: n for key, n in counted.items() if kind_of(key) == "word"}


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
