"""What has grown old or loose in a knowledge base: proofs, links, tags, categories. Pure.

Owns the thresholds. Refuses to know where documents lie, and whether an address can be reached: a link is dead where
what it leads to is on record as gone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import pairwise
from posixpath import dirname, normpath
from urllib.parse import unquote

from rapidfuzz import fuzz, process

from kb_pipeline.records import CategoryWidth, DeadLink, Item, NearTags, OldItem, Taxonomy

OLD_DAYS = 365
"""A fact with one source of that age is worth a look: a year is what most handbooks call their review."""
WIDE_SHARE, WIDE_ITEMS = 0.4, 50
"""A category with this share of the active items, and as many, tells little."""
ALIKE, ALIKE_LENGTH = 90.0, 6
"""Tags are near-synonyms from this ratio of their letters on (0 to 100), where they have so many: not tcp and tcs."""
_MOST_TAGS = 3_000

_LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(\s*<?([^)\s>]+)>?[^)\n]*\)|<(https?://[^\s>]+)>")
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


def old_items(items: Iterable[Item], dates: Mapping[str, str], now: datetime) -> list[OldItem]:
    """Active items with one source alone whose document bears a date over ``OLD_DAYS`` ago, the oldest first.

    ``dates`` gives the day of each document.
    """
    before = (now - timedelta(days=OLD_DAYS)).strftime("%Y-%m-%d")
    found = []
    for item in items:
        docs = {c.doc_id for c in item.sources}
        if item.status == "active" and len(docs) == 1:
            (doc,) = docs
            if "" < dates.get(doc, "") < before:
                found.append(OldItem(id=item.id, statement=item.statement, doc_id=doc, date=dates[doc]))
    return sorted(found, key=lambda old: (old.date, old.id))


@dataclass(frozen=True)
class Places:
    """``known`` are the documents there are, ``gone`` maps documents and addresses that are gone to the reason."""

    known: frozenset[str]
    gone: Mapping[str, str]

    @cached_property
    def endings(self) -> frozenset[tuple[str, str]]:
        """Which endings of names there are in which source."""
        return frozenset((name.partition("/")[0], name.rpartition(".")[2]) for name in self.known)

    def fault(self, doc: str, target: str) -> str:
        """Why a link of ``doc`` leads nowhere; empty where it does not, or nobody knows.

        A relative link is dead too where it leads to no document, though its source has others of that ending.
        """
        bare = target.partition("#")[0]
        if "://" in target:
            return self.gone.get(target) or self.gone.get(bare, "")
        if not bare or bare.startswith(("mailto:", "/")):
            return ""
        source, _, path = doc.partition("/")
        place = f"{source}/{normpath(f'{dirname(path)}/{unquote(bare)}').lstrip('/')}"
        if place in self.gone or place in self.known:
            return self.gone.get(place, "") if place not in self.known else ""
        missing = (source, place.rpartition(".")[2]) in self.endings
        return "no such document in its source" if missing else ""


def dead_links(doc: str, text: str, places: Places) -> Iterator[DeadLink]:
    """The links of a document, code aside, that lead to what is gone, each once."""
    for target in dict.fromkeys(a or b for a, b in _LINK.findall(_FENCE.sub("", text))):
        if why := places.fault(doc, target):
            yield DeadLink(doc_id=doc, target=target, why=why)


def tag_counts(items: Iterable[Item]) -> Counter[str]:
    """How many active items bear each tag."""
    return Counter(tag for item in items if item.status == "active" for tag in item.tags)


def unused_tags(taxonomy: Taxonomy, counts: Mapping[str, int]) -> list[str]:
    """Tags of the vocabulary that no active item bears."""
    return sorted(tag for tag in taxonomy.tags if not counts.get(tag))


def near_tags(taxonomy: Taxonomy, counts: Mapping[str, int]) -> list[NearTags]:
    """Pairs of tags that may be one, by their letters alone: written apart or as one, or hardly different.

    Of more than 3,000 tags the most used are compared.
    """
    tags = sorted(sorted({*taxonomy.tags, *counts}, key=lambda tag: (-counts.get(tag, 0), tag))[:_MOST_TAGS])
    joined: dict[str, list[str]] = {}
    for tag in tags:
        joined.setdefault(tag.replace("-", ""), []).append(tag)
    found = {(a, b): "written apart and as one" for names in joined.values() for a, b in pairwise(names)}
    long = [tag for tag in tags if len(tag) >= ALIKE_LENGTH]
    scores = process.cdist(long, long, scorer=fuzz.ratio, score_cutoff=ALIKE)
    for row, column in zip(*scores.nonzero(), strict=True):
        a, b = long[row], long[column]
        if row < column and not _numbered(a, b):
            found.setdefault((a, b), f"alike to {scores[row, column]:.0f}%")
    made = (
        NearTags(a=a, b=b, a_items=counts.get(a, 0), b_items=counts.get(b, 0), why=w) for (a, b), w in found.items()
    )
    return sorted(made, key=lambda pair: (-pair.a_items - pair.b_items, pair.a, pair.b))


def _numbered(a: str, b: str) -> bool:
    """Whether two tags differ in a number: ``python-3-11`` and ``python-3-12`` are two."""
    return re.findall(r"\d+", a) != re.findall(r"\d+", b)


def widths(
    items: Sequence[Item], taxonomy: Taxonomy, unclassified: str
) -> tuple[float, list[CategoryWidth], list[str]]:
    """The share of active items without a category, the categories that are too wide, and those that are empty."""
    filed = Counter(item.primary_category for item in items if item.status == "active")
    total = sum(filed.values()) or 1
    shares = {name: round(count / total, 3) for name, count in filed.items()}
    wide = [
        CategoryWidth(category=name, items=filed[name], share=share)
        for name, share in shares.items()
        if name != unclassified and share >= WIDE_SHARE and filed[name] >= WIDE_ITEMS
    ]
    empty = sorted(c.name for c in taxonomy.categories if not filed[c.name])
    return shares.get(unclassified, 0.0), sorted(wide, key=lambda w: -w.items), empty
