"""An editor saves items while a build runs: is an edit ever lost?

    python -m kb_pipeline_tests.benchmarks.bench_edits [--rounds 50] [--notes 150]

In each round all notes change, so that every item's file is written, and three editors save an item each at a random
moment of the build: one replaces the file, one writes into it, one moves it to another category. Then builds run until
nothing is stale, and each saved statement must stand.
"""

import argparse
import json
import random
import tempfile
from collections import Counter
from pathlib import Path

from kb_pipeline_tests.driving import compile_all, new_root, opened
from kb_pipeline_tests.editing import TAXONOMY, WAYS, documents, lost, save_during


def main(rounds: int, notes: int) -> None:
    """Run the rounds and print a row a way of saving."""
    chance = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        root = new_root(Path(folder) / "kb", documents(notes, 0))
        (root / "taxonomy.yaml").write_text(TAXONOMY)
        with opened(root) as base:
            compile_all(base)
        items = [json.loads(p.read_text()) for p in (root / "kb/items").glob("*/*.json")]
        keys = sorted(item["id"] for item in items if " holds " in item["statement"])
        saved, missing, during, seconds = Counter[str](), Counter[str](), 0, 1.0
        for release in range(1, rounds + 1):
            done = save_during(root, release, chance, keys, seconds)
            saved.update(way for way, _ in done.saved.values())
            during += done.during
            seconds = done.seconds
            missing.update(way for way, _ in lost(root, done))
    print(f"| the editor … ({rounds} builds of {notes} changed notes) | saves | lost |\n|---|---|---|")
    for way in WAYS:
        print(f"| {way} | {saved[way]} | {missing[way]} |")
    print(f"| all, {during} of them while the build ran | {saved.total()} | {missing.total()} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--notes", type=int, default=150)
    chosen = parser.parse_args()
    main(chosen.rounds, chosen.notes)
