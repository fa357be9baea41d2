"""Names of categories and tags: the folder of one, the normal form of the other, and where the vocabulary occurs. Pure.

Owns how phrases are compared: without case, plural, hyphen or accent of typography. Refuses to know what fits an item.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from kb_pipeline.records import UNCLASSIFIED, Tagging, Taxonomy
from kb_pipeline.rules.words import singular
from kb_pipeline.settings import slug

MOST_TAGS = 6
_CASELESS = str.casefold
_NOT_CLOSED = "'{}' is not a category of the closed list"
_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+(?:['’]s\b|\+\+|#)?")
# Two words written as one: PagedAttention. Short parts are names that are known as one word: GitHub, vLLM, FastAPI.
_CAMEL = re.compile(r"(?<![^\W_])([A-Z][a-z]{4,})([A-Z][a-z]{4,})s?(?![^\W_])")


def category_folder(name: str) -> str:
    """The folder of a category under ``kb/items``; ``unclassified`` for ``UNCLASSIFIED``."""
    return slug(name)


def category_folders(taxonomy: Taxonomy) -> dict[str, str]:
    """The name of each category, ``UNCLASSIFIED`` included, by its folder."""
    return {category_folder(name): name for name in (*(c.name for c in taxonomy.categories), UNCLASSIFIED)}


@lru_cache(maxsize=1 << 14)
def tag_form(name: str) -> str:
    """``name`` as a tag: lower case, singular, hyphenated (``KV caches`` → ``kv-cache``); empty if no word is left."""
    return "-".join(phrase(name))


def name_form(name: str) -> str:
    """A name as a tag without touching its plural: ``--max-num-seqs``, ``Jonas Lindqvist``."""
    return "-".join(re.findall(r"[^\W_]+", name.lower()))


class ClosedList:
    """The categories and tags of a taxonomy in the forms in which they are looked up."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self._categories = {_CASELESS(c.name): c.name for c in taxonomy.categories}
        self._tags = taxonomy.tags
        self._named = {form: tag for tag, aliases in taxonomy.tags.items() for form in map(tag_form, aliases)}
        self._named |= {tag_form(tag): tag for tag in taxonomy.tags}

    def settled(self, tagging: Tagging, names: Sequence[str] = ()) -> Tagging:
        """``tagging`` with its categories from the closed list, and at most six tags in normal form, aliases resolved.

        A primary category that is not in the list is none, and the note says so. ``names`` are the item's entities: a
        tag that is one of them keeps its plural. ``candidates`` are the tags that the vocabulary lacks.
        """
        primary = self._categories.get(_CASELESS(tagging.primary_category), UNCLASSIFIED)
        note = None if primary != UNCLASSIFIED else tagging.note or _NOT_CLOSED.format(tagging.primary_category[:60])
        others = (self._categories.get(_CASELESS(name)) for name in tagging.secondary_categories)
        forms = (self._form(tag, names) for tag in tagging.tags)
        tags = tuple(dict.fromkeys(self._named.get(form, form) for form in forms if form))[:MOST_TAGS]
        return Tagging(
            primary_category=primary,
            secondary_categories=tuple(dict.fromkeys(name for name in others if name and name != primary)),
            tags=tags,
            note=note,
            margin=tagging.margin,
            candidates=tuple(tag for tag in tags if tag not in self._tags),
        )

    def _form(self, tag: str, names: Sequence[str]) -> str:
        """``tag`` in normal form; as it is where it is known so, or where it is one of ``names``."""
        form = tag_form(tag)
        return tag if form == tag or tag in self._tags or any(name_form(name) == tag for name in names) else form


def phrase(text: str) -> tuple[str, ...]:
    """The words of ``text`` in the form in which phrases are compared; a CJK character is a word."""
    text = text if text.isascii() else unicodedata.normalize("NFKC", text)
    text = text if text.islower() else _CAMEL.sub(r"\1 \2", text)
    return tuple(map(_word, _TOKEN.findall(text)))


class Phrasebook:
    """Known phrases, each standing for some targets; finds the targets whose phrases occur in a text."""

    def __init__(self, known: Mapping[str, Iterable[str]]) -> None:
        """``known`` maps a target to its phrases; an empty phrase is never found."""
        self._by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for target, names in known.items():
            for words in sorted({form for name in names for form in _forms(name)}):
                self._by_first.setdefault(words[0], []).append((words, target))

    def find(self, words: tuple[str, ...]) -> dict[str, frozenset[tuple[str, ...]]]:
        """Targets in order of their first occurrence in ``words`` (see ``phrase``), with the phrases that occur."""
        found: dict[str, set[tuple[str, ...]]] = {}
        for at, word in enumerate(words):
            for known, target in self._by_first.get(word, ()):
                if words[at : at + len(known)] == known:
                    found.setdefault(target, set()).add(known)
        return {target: frozenset(phrases) for target, phrases in found.items()}


def vocabulary(tags: Mapping[str, Iterable[str]]) -> Phrasebook:
    """Finds the tags of a vocabulary by their names and aliases."""
    return Phrasebook({tag: (tag, *aliases) for tag, aliases in tags.items()})


def _forms(name: str) -> Iterable[tuple[str, ...]]:
    """A phrase as written and as it would be in lower case, where ``CORS`` looks like a plural."""
    return (form for form in {phrase(name), phrase(name.lower())} if form)


@lru_cache(maxsize=1 << 15)
def _word(token: str) -> str:
    if token.endswith(("'s", "’s")):
        token = token[:-2]
    if len(token) > 1 and token.isupper():
        return token.lower()
    if token[:-1].isupper() and len(token) > 2 and token.endswith("s"):
        return token[:-1].lower()
    return singular(token.lower())
