"""What memory costs: deletions, an edit with its history, a question as of a date, a purge, a sweep.

``python -m kb_pipeline_tests.benchmarks.bench_lifecycle [--documents N] [--deleted N]`` writes abstracts of SciFact as
Markdown files (made-up documents where the corpus is not beside the checkout), compiles them through the verbs in this
process with hashed embeddings, and takes the knowledge base through its life. Each row is one run; CPU seconds tell
more on a busy machine.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from kb_pipeline.api import KnowledgeBase
from kb_pipeline.store.history import History
from kb_pipeline_tests.benchmarks.scifact import abstracts
from kb_pipeline_tests.conftest import CORPUS
from kb_pipeline_tests.driving import compile_all, new_root, opened, tree


def texts(count: int) -> list[str]:
    """Documents as Markdown."""
    if (CORPUS / "scifact").is_dir():
        return ["\n\n".join((f"# {a.title}", *a.sentences)) for a in abstracts(CORPUS / "scifact")[:count]]
    return [
        f"# Pump {n}\n\nThe pump {n} moves {n + 10} litres.\n\nIts valve {n} holds {n} bar.\n" for n in range(count)
    ]


SPENT: list[float] = []
"""Seconds that each note and each telling of the history took."""


def clock(name: str) -> None:
    """Let every call of a method of ``History`` be timed."""
    method = getattr(History, name)

    def timed(self: History, *args: object) -> None:
        began = time.perf_counter()
        method(self, *args)
        SPENT.append(time.perf_counter() - began)

    setattr(History, name, timed)


class Life:
    """One knowledge base through its life."""

    def __init__(self, root: Path, documents: int) -> None:
        self.root = root
        new_root(root, {f"notes/{n:04}.md": text for n, text in enumerate(texts(documents))})

    def step(self, name: str, action: Callable[[KnowledgeBase], str]) -> None:
        """Run an action on a knowledge base opened anew."""
        with opened(self.root) as base:
            began, spent = time.perf_counter(), time.process_time()
            said = action(base)
        seconds, spent = time.perf_counter() - began, time.process_time() - spent
        print(f"{name:36} {seconds:8.2f} s  {spent:8.2f} s of CPU  {said}", flush=True)

    def build(self, base: KnowledgeBase) -> str:
        """Compile; what was made, asked and told."""
        before, told = tree(self.root / "kb/history"), sum(SPENT)
        reports, _ = compile_all(base)
        after = tree(self.root / "kb/history")
        moved = sum(before.get(path) != state for path, state in after.items())
        items = sum(r.made for r in reports if r.stage == "tags")
        calls = sum(r.calls for r in reports)
        return (
            f"{items} items made, {calls} calls; history {sum(SPENT) - told:.3f} s, {moved} of its {len(after)} files"
        )

    def size(self) -> str:
        """What the history takes on disk beside the items."""
        sizes = [
            sum(p.stat().st_size for p in (self.root / "kb" / name).rglob("*.json*")) for name in ("history", "items")
        ]
        return f"history {sizes[0] / 1e6:.2f} MB beside {sizes[1] / 1e6:.2f} MB of items"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row a step."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--deleted", type=int, default=85)
    asked = parser.parse_args(arguments)
    clock("note")
    clock("settle")
    with tempfile.TemporaryDirectory() as folder:
        life = Life(Path(folder) / "base", asked.documents)
        files = sorted((life.root / "notes").glob("*.md"))
        life.step(f"first build of {len(files)} documents", life.build)
        life.step("build without a change", life.build)
        files[-1].write_text(files[-1].read_text() + "\nThe added sentence names 4711 litres of brine.\n")
        life.step("build after an edit of one", life.build)
        life.step("search as of a day", lambda base: f"{len(base.search('brine', as_of='2999-01-01').hits)} hits")
        for path in files[: asked.deleted]:
            path.unlink()
        life.step(f"build after {asked.deleted} were deleted", life.build)
        life.step("check ghosts", lambda base: str([f.count for f in base.check("ghosts")]))
        life.step("purge one", lambda base: str(dict(base.purge(f"notes/{files[-2].name}").erased)))
        life.step("sweep", lambda base: f"{(found := base.sweep()).rechecked} pairs, {found.overturned} otherwise")
        life.step("build after the sweep", life.build)
        print(life.size())


if __name__ == "__main__":
    main()
