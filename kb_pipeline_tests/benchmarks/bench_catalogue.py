"""Facts that stand deep in a body: the catalogue way beside the search way.

``python -m kb_pipeline_tests.benchmarks.bench_catalogue [--pages 100 1000] [--asked 60]`` generates documents, each a
page of twelve statements, of which the ninth tells of a part that neither title nor lead names: by a maker's code
(``named``), or in everyday words (``plain``). It compiles them in this process with hashed embeddings and prints two
rows a size: the share of questions after such facts whose statement is among what is looked up by search, by the
catalogue as the rules choose from it, and as an honest model does; how often that model was shown a part of the
catalogue for one question; and seconds of the build.
"""

import argparse
import os
import platform
import random
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from kb_pipeline.api import KnowledgeBase
from kb_pipeline.engines.openai import OpenAi
from kb_pipeline.query.tools import TOOLS, Desk
from kb_pipeline.records import Scope, Tool, ToolCall
from kb_pipeline.rules.words import words
from kb_pipeline_tests.driving import compile_all, new_root, opened
from kb_pipeline_tests.fakes import ScriptedChat, honestly

_SUBJECTS = sorted(
    words("cache relay queue gateway shard replica ledger router broker index journal buffer arena tracer")
)
_DEEDS = sorted(words("keeps drops writes reads merges forwards counts limits rotates compresses signs locks splits"))
_THINGS = sorted(words("pages rows messages tokens blocks segments requests records frames tickets leases hashes"))
_PARTS = sorted(words("valve fuse lamp hinge washer piston gasket spring lever bearing flange nozzle"))
_LOOKS = sorted(
    words(
        "round square hollow narrow curved polished rusty smooth striped heavy bent tall dark shiny rough flat old warm"
    )
    | words("wide short thin")
)
_KINDS = {"named": 0, "plain": 1}  # which of the documents hold facts of a kind
_STATEMENTS, _DEEP = 12, 8


def main() -> None:
    """Print two rows a size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--asked", type=int, default=60)
    given = parser.parse_args()
    print(f"machine: {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}\n")
    columns = ("pages", "facts", "search", "catalogue", "by model", "shown", "build s")
    print("  ".join(f"{column:>10}" for column in columns))
    for size in given.pages:
        with tempfile.TemporaryDirectory(prefix="kb-catalogue-") as folder:
            for row in _rows(Path(folder) / "base", size, given.asked):
                print("  ".join(f"{cell:>10}" for cell in row), flush=True)


def _rows(root: Path, size: int, asked: int) -> Iterator[list[str]]:
    new_root(root, {f"notes/{n // 100}/{n}.md": _document(n) for n in range(size)})
    began = time.monotonic()
    with opened(root) as base:
        compile_all(base)
        seconds = time.monotonic() - began
        by_rules = base.world
        for kind, start in _KINDS.items():
            numbers = random.Random(1).sample(range(start, size, len(_KINDS)), min(asked, size // len(_KINDS)))
            base.world = by_rules
            shares = [_recall(base, numbers, "search"), _recall(base, numbers, "catalogue")]
            chat = ScriptedChat(honestly)
            base.world = replace(base.world, engine=OpenAi(base.settings, chat))
            shares.append(_recall(base, numbers, "catalogue"))
            yield [
                str(len(base.pages())),
                kind,
                *shares,
                f"{chat.tasks()['select'] / len(numbers):.1f}",
                f"{seconds:.0f}",
            ]


def _recall(base: KnowledgeBase, numbers: list[int], way: Tool) -> str:
    """The share of facts that are among what ``way`` looks up for their questions."""
    found = 0
    with base.world.index.snapshot() as snapshot:
        for question, fact in map(_asked_of, numbers):
            desk = Desk(question, base.world, snapshot, Scope())
            found += any(fact in evidence.text for evidence in TOOLS[way](ToolCall(tool=way, query=question), desk))
    return f"{found / len(numbers):.2f}"


def _subject(number: int) -> str:
    chance = random.Random(number)
    return f"{chance.choice(_SUBJECTS).capitalize()} {chance.choice(_SUBJECTS)} {number % 97}"


def _part(number: int) -> str:
    """A part that this document alone speaks of."""
    part, number_ = _PARTS[number % len(_PARTS)], number // len(_PARTS)
    if number % len(_KINDS) == _KINDS["named"]:
        return f"{part} KX-{number * 7919 % 99991:05d}"
    return f"{_LOOKS[number_ % len(_LOOKS)]} {_LOOKS[number_ // len(_LOOKS) % len(_LOOKS)]} {part}"


def _asked_of(number: int) -> tuple[str, str]:
    part = _part(number)
    question = f"After how many seconds does the {part} give up?"
    return question, f"The {part} gives up after {number % 60 + 3} seconds."


def _document(number: int) -> str:
    """A document of twelve statements, of which the ninth is what is asked for."""
    chance, subject = random.Random(number), _subject(number)
    lines = [f"# {subject}, plant {number}\n\nThe {subject} serves plant {number}.\n"]
    for n in range(_STATEMENTS):
        deed, thing = chance.choice(_DEEDS), chance.choice(_THINGS)
        stated = f"The {subject} {deed} {chance.randint(2, 9999)} {thing} of lot {number}-{n} in each round."
        lines.append(f"{_asked_of(number)[1] if n == _DEEP else stated}\n")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
