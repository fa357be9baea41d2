"""How still chunks keep on real edits, and what chunking costs.

``python -m kb_pipeline_tests.benchmarks.bench_chunking`` plays the releases of a library's documentation, one over the
other, and compares with the plain way (paragraphs packed up to the target from the top of each document); then it
times SciFact's abstracts and texts that are hard to read, in CPU seconds. It needs the corpus beside the checkout.
"""

import gzip
import json
import os
import platform
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from kb_pipeline.records import Chunk
from kb_pipeline.rules.chunking import chunk
from kb_pipeline.settings import Options
from kb_pipeline_tests.conftest import CORPUS
from kb_pipeline_tests.rules.test_chunking import document

RELEASES = ("0.13.0", "0.20.0", "0.37.0", "0.47.3")
PARAGRAPH = re.compile(r"\S.*?(?=\n\s*\n|\s*\Z)", re.DOTALL)
HARD = {
    "one line of a megabyte": "The same words again and again. " * 32_000,
    "one word of a megabyte": "x" * 1_000_000,
    "100,000 headings": "# Heading\n" * 100_000,
    "50,000 list items": "- an item\n" * 50_000,
    "50,000 table rows": "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 50_000,
    "a fence never closed": "```\n" + "a line\n" * 100_000,
    "50,000 quotes in one": ">" * 50_000 + " a\n",
    "lists 300 deep": "\n".join("  " * depth + "- a" for depth in range(300)),
}


class Piece(NamedTuple):
    """A chunk as far as this benchmark goes: where it stands and what names it."""

    start: int
    end: int
    name: str
    text: str


Chunker = Callable[[str], list[Piece]]


class Stillness(NamedTuple):
    """Of one document or many: paragraphs and chunks of the old text, and how many of them the new one lacks.

    ``touched`` chunks hold a paragraph that went, or stand before one that came; of the others that are gone,
    ``renamed`` ones have their text and another heading, ``moved`` ones lie cut elsewhere.
    """

    paragraphs: int = 0
    edited: int = 0
    chunks: int = 0
    gone: int = 0
    touched: int = 0
    renamed: int = 0
    moved: int = 0


def main() -> None:
    """Print the machine and the three tables."""
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    for name, chunker in (("kept still", still), ("packed from the top", packed)):
        print(f"{name:22}" + "".join(f"{field:>12}" for field in Stillness._fields))
        for old, new in pairwise(RELEASES):
            figures = released(CORPUS / "starlette-docs" / old, CORPUS / "starlette-docs" / new, chunker)
            print(f"{old} → {new}".ljust(22) + "".join(f"{figure:>12}" for figure in figures))
        print()
    with gzip.open(CORPUS / "scifact" / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        abstracts = [f"# {row['title']}\n\n{row['text']}\n" for row in map(json.loads, lines)]
    timed(f"{len(abstracts)} abstracts", abstracts)
    for name, text in HARD.items():
        timed(name, [text])


def released(old: Path, new: Path, chunker: Chunker) -> Stillness:
    """The sum over the documents that both releases have."""
    common = [path.name for path in sorted(old.glob("*.md")) if (new / path.name).is_file()]
    each = [stillness((old / name).read_text(), (new / name).read_text(), chunker) for name in common]
    return Stillness(*map(sum, zip(*each, strict=True)))


def stillness(old: str, new: str, chunker: Chunker) -> Stillness:
    """What an edit from ``old`` to ``new`` did to the chunks of ``old``."""
    before, after = chunker(old), chunker(new)
    places = [m.span() for m in PARAGRAPH.finditer(old)]
    words, words_after = PARAGRAPH.findall(old), PARAGRAPH.findall(new)
    edited = 0
    touched: set[int] = set()
    for kind, first, last, _, _ in SequenceMatcher(None, words, words_after, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        edited += last - first
        spans = places[first:last] or places[max(first - 1, 0) : max(first, 1)]
        touched |= {n for n, p in enumerate(before) for start, end in spans if p.start < end and start < p.end}
    gone = lacking([p.name for p in before], [p.name for p in after])
    elsewhere = {p.text for p in after}
    kept = [n for n in gone if n not in touched]
    renamed = sum(before[n].text in elsewhere for n in kept)
    return Stillness(len(words), edited, len(before), len(gone), len(gone) - len(kept), renamed, len(kept) - renamed)


def lacking(before: Sequence[str], after: Iterable[str]) -> list[int]:
    """The places of the names in ``before`` that ``after`` holds fewer times."""
    left = Counter(after)
    places = []
    for n, name in enumerate(before):
        if left[name]:
            left[name] -= 1
        else:
            places.append(n)
    return places


def chunks(text: str) -> list[Chunk]:
    """At the usual sizes."""
    usual = Options()
    return chunk(document(text), minimum=usual.chunk_min, target=usual.chunk_target, maximum=usual.chunk_max)


def still(text: str) -> list[Piece]:
    """The project's chunks, named by their hash."""
    return [Piece(c.start, c.end, c.hash, c.text) for c in chunks(text)]


def packed(text: str) -> list[Piece]:
    """Paragraphs packed up to the target, headings or not."""
    pieces: list[Piece] = []
    target = Options().chunk_target
    for m in PARAGRAPH.finditer(text):
        fits = pieces and m.end() - pieces[-1].start <= target
        start = pieces.pop().start if fits else m.start()
        words = text[start : m.end()]
        pieces.append(Piece(start, m.end(), words, words))
    return pieces


def timed(name: str, texts: Sequence[str]) -> None:
    """One line: CPU seconds, code points, chunks."""
    began = time.process_time()
    made = sum(len(chunks(text)) for text in texts)
    print(f"{name:24}{time.process_time() - began:8.2f} s{sum(map(len, texts)):>12,} code points{made:>9,} chunks")


if __name__ == "__main__":
    main()
