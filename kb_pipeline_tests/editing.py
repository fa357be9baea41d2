"""An editor that saves item files while a build runs, in each of the ways in which editors save."""

import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kb_pipeline_tests.driving import compile_all, opened, write

Save = Callable[[Path, bytes], None]


def over(path: Path, data: bytes) -> None:
    """A new file is given the old name."""
    new = path.with_name(f".{path.name}.swp")
    new.write_bytes(data)
    new.replace(path)


def into(path: Path, data: bytes) -> None:
    """The file that is there is emptied and written anew."""
    with path.open("r+b") as file:
        file.truncate(0)
        file.write(data)


def elsewhere(path: Path, data: bytes) -> None:
    """The file is moved to the folder of another category and saved there."""
    other = path.parent.parent / ("limits" if path.parent.name != "limits" else "caches") / path.name
    other.parent.mkdir(exist_ok=True)
    path.replace(other)
    over(other, data)


WAYS: dict[str, Save] = {"replaces the file": over, "writes into the file": into, "moves the file": elsewhere}
TAXONOMY = """version: 1
categories:
  - {name: Caches, description: What is kept in memory, keywords: [zzz]}
  - {name: Limits, description: What is allowed at most, keywords: [zzzz]}
tags: {}
"""


def documents(size: int, release: int) -> dict[str, str]:
    """``size`` notes of one statement each, all of whose offsets move with ``release``."""
    lead = "Nothing else is known of it. " * (1 + release % 3)
    return {f"notes/{n:04}.md": f"# Part {n}\n\n{lead}\n\nThe part {n} holds {n + 7} blocks.\n" for n in range(size)}


@dataclass
class Round:
    """What one build and the saves during it came to: statements by item as they were saved, and when."""

    saved: dict[str, tuple[str, str]] = field(default_factory=dict)  # item: way, statement
    during: int = 0
    seconds: float = 0.0


def item_file(root: Path, key: str) -> Path | None:
    """Where the file of an item stands just now."""
    return next((root / "kb/items").glob(f"*/{key}.json"), None)


def save_during(root: Path, release: int, chance: random.Random, keys: list[str], span: float) -> Round:
    """Change all notes and build, while each way of saving saves one item at some moment within ``span`` seconds."""
    done, ended = Round(), threading.Event()
    write(root, documents(len(list((root / "notes").glob("*.md"))), release))
    began = time.monotonic()

    def edit(way: str, key: str, pause: float) -> None:
        time.sleep(pause)
        path = item_file(root, key)
        if path is None:
            return
        try:
            item = json.loads(path.read_bytes())
            item["statement"] = f"{item['statement'].partition(' (')[0]} (release {release}, which {way})"
            WAYS[way](path, json.dumps(item, indent=2).encode())
        except (FileNotFoundError, ValueError):
            return  # the build took it from under the editor, which would say so
        done.saved[key] = way, item["statement"]
        done.during += not ended.is_set()

    editors = [
        threading.Thread(target=edit, args=(way, key, chance.random() * span))
        for way, key in zip(WAYS, chance.sample(keys, len(WAYS)), strict=True)
    ]
    for editor in editors:
        editor.start()
    with opened(root) as base:
        compile_all(base)
    ended.set()
    done.seconds = time.monotonic() - began
    for editor in editors:
        editor.join()
    return done


def lost(root: Path, rounds: Round) -> Iterator[tuple[str, str]]:
    """The ways and items whose last saved statement is not what stands once every build is done."""
    with opened(root) as base:
        while base.stale():
            compile_all(base)
    for key, (way, statement) in rounds.saved.items():
        path = item_file(root, key)
        if path is None or json.loads(path.read_text())["statement"] != statement:
            yield way, key
