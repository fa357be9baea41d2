"""Promise 4, convergent: after any sequence of edits, additions, deletions and returns the active items equal those
that a build from scratch over the final sources gives (ids and dates aside).

Here the history is random and of few words; ``test_lifecycle`` has a long one with what is known after each step,
``test_lifecycle_random`` cuts builds off anywhere, and ``test_real_history`` plays four releases of a library."""

import random
from pathlib import Path

import pytest

from kb_pipeline_tests.driving import compile_all, new_root, opened, write
from kb_pipeline_tests.promises.documents import DOCUMENTS
from kb_pipeline_tests.promises.lifecycle_state import knowledge

# Sentences that meet again in several documents, differ by a figure, a unit or a negation, or supersede each other.
SENTENCES = (
    "The block cache keeps 16 pages of 4 KB in memory.",
    "The block cache keeps 32 pages of 4 KB in memory.",
    "The gateway accepts at most 512 connections at once.",
    "The gateway accepts at most 640 connections at once.",
    "The gateway accepts 640 connections at once at most.",
    "The scheduler retries a failed export job.",
    "The scheduler does not retry a failed export job.",
    "The relay holds 64 messages in its queue by default.",
    "The relay holds 256 messages in its queue by default.",
    "A replica needs 12 GB of disk.",
    "A replica needs 12 MB of disk.",
    "Each shard writes its journal before it answers.",
)
NAMES = ("notes/cache.md", "notes/a/limits.md", "handbook/relay-v1.0.md", "handbook/relay-v2.0.md", "handbook/new.md")


def document(chance: random.Random) -> str:
    """A document of some of the sentences, under a heading or two."""
    picked = chance.sample(SENTENCES, chance.randint(1, 6))
    half = len(picked) // 2
    return f"# Part\n\n{' '.join(picked[:half])}\n\n## Rest\n\n{' '.join(picked[half:])}\n"


def change(root: Path, chance: random.Random) -> None:
    """One to three edits, additions, deletions, moves or returns."""
    for _ in range(chance.randint(1, 3)):
        path = root / chance.choice(NAMES)
        if path.exists() and chance.random() < 0.3:
            path.unlink()
        elif path.exists() and chance.random() < 0.2:
            path.rename(path.with_name("moved.md"))
        else:
            text = DOCUMENTS.get(path.relative_to(root).as_posix()) if chance.random() < 0.2 else None
            write(root, {path.relative_to(root).as_posix(): text or document(chance)})
    for source in ("notes", "handbook"):
        (root / source).mkdir(exist_ok=True)


@pytest.mark.parametrize("seed", range(4))
def test_a_history_ends_where_a_fresh_build_does(tmp_path: Path, seed: int) -> None:
    """A random history, compiled step by step, publishes what a build of its last state publishes."""
    chance = random.Random(seed)
    root = new_root(tmp_path / "history", DOCUMENTS, notes="notes", handbook="handbook")
    for step in range(6):
        with opened(root) as base:
            compile_all(base)
            assert all(f.ok for f in base.check() if f.stage not in {"eval", "live"}), step
        change(root, chance)
    with opened(root) as base:
        compile_all(base)
    final = {p.relative_to(root).as_posix(): p.read_text() for p in root.glob("*/**/*.md") if "kb" not in p.parts}
    documents = {name: text for name, text in final.items() if name.startswith(("notes/", "handbook/"))}
    scratch = new_root(tmp_path / "scratch", documents, notes="notes", handbook="handbook")
    for source in ("notes", "handbook"):
        (scratch / source).mkdir(exist_ok=True)
    with opened(scratch) as base:
        compile_all(base)
    assert knowledge(root) == knowledge(scratch)
