"""What copies of a source add: every document again under another name, and again as a web page in a frame.

``python -m kb_pipeline_tests.benchmarks.bench_copies [--corpus DIR] [--documents N] [--embedder minilm]`` takes the
newest documentation of ``starlette-docs`` and as many SciFact abstracts as make up N documents, builds from them, then
with a second source that holds each under another name, then with a third that holds each rendered to HTML between a
menu and a footer. A row each: documents, active items, items that are new, items that all sources stand behind, items
with one confirmation, model calls, embeddings, seconds. Copies should add no item and no confirmation.
"""

import argparse
import os
import platform
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from kb_pipeline_tests.benchmarks.scifact import abstracts
from kb_pipeline_tests.conftest import CORPUS
from kb_pipeline_tests.driving import Cli, compile_all, new_root, opened, write
from kb_pipeline_tests.promises.test_real_history import RELEASES

_COUNTED = ("step", "documents", "active", "new", "lost", "in all sources", "one confirmation")
_COLUMNS = (*_COUNTED, "calls", "embeddings", "seconds")
_SOURCES = {"first": "first", "second": "second", "third": "third"}
_FRAME = (
    "<html><head><title>{title}</title></head><body><nav><ul><li><a href='/'>Home</a></li><li><a href='/news'>News</a>"
    "</li></ul></nav><main>{body}</main><footer><p>Imprint. Contact. All rights reserved.</p></footer></body></html>"
)


def main() -> None:
    """Print one row a step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--embedder", default="hashing")
    given = parser.parse_args()
    if not given.corpus.is_dir():
        sys.exit(f"{given.corpus}: no corpus there. Name its folder with --corpus.")
    print(f"machine: {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}\n")
    print("| " + " | ".join(_COLUMNS) + " |")
    print("|" + "---|" * len(_COLUMNS))
    texts = documents(given.corpus, given.documents)
    with tempfile.TemporaryDirectory(prefix="kb-copies-") as folder:
        root = new_root(Path(folder) / "base", {}, **_SOURCES)
        for source in _SOURCES:
            (root / source).mkdir()
        known = step("first", root, dict(texts), given.embedder, 1, {})
        renamed = {f"copy-{n:04}.md": text for n, text in enumerate(texts.values())}
        known = step("second", root, renamed, given.embedder, 2, known)
        step(
            "third",
            root,
            {f"page-{n:04}.html": page(text) for n, text in enumerate(texts.values())},
            given.embedder,
            3,
            known,
        )


def documents(corpus: Path, count: int) -> dict[str, str]:
    """``count`` Markdown texts by file name, the documentation first."""
    docs = sorted((corpus / "starlette-docs" / RELEASES[-1]).rglob("*.md"))
    found = {f"docs/{path.name}": path.read_text(encoding="utf-8") for path in docs}
    for a in abstracts(corpus / "scifact"):
        if len(found) >= count:
            break
        found[f"abstracts/{a.name}.md"] = f"# {a.title}\n\n{' '.join(a.sentences)}\n"
    return dict(list(found.items())[:count])


def page(markdown: str) -> str:
    """The text as a web page between a menu and a footer."""
    title = next((line.lstrip("# ") for line in markdown.splitlines() if line.startswith("#")), "Page")
    return _FRAME.format(title=title, body=MarkdownIt().render(markdown))


def step(
    source: str, root: Path, texts: dict[str, str], embedder: str, sources: int, known: dict[str, Any]
) -> dict[str, Any]:
    """Build with one more source and print what it added; the active items by id."""
    write(root / source, texts)
    began = time.monotonic()
    with opened(root, KB_EMBEDDER=embedder) as base:
        reports, _ = compile_all(base)
    seconds = time.monotonic() - began
    active = {key: item for key, item in Cli(root).items().items() if item["status"] == "active"}
    behind = [len({s["doc_id"].split("/")[0] for s in item["sources"]}) for item in active.values()]
    row = (
        *(
            f"{source} source",
            len(texts),
            len(active),
            len(active.keys() - known.keys()),
            len(known.keys() - active.keys()),
        ),
        *(sum(n == sources for n in behind), sum(item["confirmations"] == 1 for item in active.values())),
        *(sum(r.calls for r in reports), sum(r.embeddings for r in reports), f"{seconds:.1f}"),
    )
    print("| " + " | ".join(map(str, row)) + " |", flush=True)
    return active


if __name__ == "__main__":
    main()
