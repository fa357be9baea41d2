"""What conversion keeps, refuses and costs: real pages against trafilatura alone, hostile and mixed files in workers.

``python -m kb_pipeline_tests.benchmarks.bench_convert [--corpus DIR]`` reads ``web``, ``hostile`` and ``mixed`` of the
corpus beside the checkout. Of the hand-checked pages it counts the strings that must stay and those that must not,
each compared without white space and Markdown marks (quotes folded: the checkers straightened them), and once more as
they stand, white space apart. trafilatura runs in the same process with its defaults, as text, as Markdown and with
its wider net. Files and pages then go through the sandbox as a build sends them.
"""

import argparse
import gzip
import json
import os
import platform
import re
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kb_pipeline.convert import convert, hardly_any_text
from kb_pipeline.records import Converted, RawDoc
from kb_pipeline.services.sandbox import SandboxConverter
from kb_pipeline_tests.conftest import CORPUS

_QUOTES = str.maketrans("’‘“”", "''\"\"")


def main() -> None:
    """Print three tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    corpus = parser.parse_args().corpus
    if not corpus.is_dir():
        sys.exit(f"{corpus}: no corpus there. Name its folder with --corpus.")
    print(f"machine: {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}\n")
    _compare_pages(corpus / "web")
    for folder in ("web", "hostile", "mixed"):
        _run_sandbox(corpus / folder)


# --- pages -------------------------------------------------------------------------------------------------------


def _compare_pages(folder: Path) -> None:
    """One line an extractor over all pages."""
    from trafilatura import extract

    extractors: dict[str, Callable[[RawDoc], str]] = {
        "this project": lambda doc: convert(doc).text,
        "trafilatura, text": lambda doc: extract(doc.content) or "",
        "trafilatura, Markdown": lambda doc: extract(doc.content, output_format="markdown") or "",
        "trafilatura, wider net": lambda doc: extract(doc.content, favor_recall=True) or "",
    }
    pages = [(doc, json.loads((folder / f"{Path(doc.name).stem}.json").read_text())) for doc in _documents(folder)]
    print(f"{len(pages)} pages          kept  as is   dropped  as is   word 4-grams: precision recall   seconds")
    for name, extractor in extractors.items():
        start = time.perf_counter()
        texts = [extractor(doc) for doc, _ in pages]
        seconds = time.perf_counter() - start
        print(f"{name:22} {_score(texts, [truth for _, truth in pages])}   {seconds:7.1f}")


def _score(texts: list[str], truths: list[dict[str, Any]]) -> str:
    pairs = list(zip(texts, truths, strict=True))
    must = [(text, wanted) for text, truth in pairs for wanted in truth["with"]]
    must_not = [(text, unwanted) for text, truth in pairs for unwanted in truth["without"]]
    kept = sum(_plain(s) in _plain(text) for text, s in must)
    kept_raw = sum(_spaced(s) in _spaced(text) for text, s in must)
    dropped = sum(_plain(s) not in _plain(text) for text, s in must_not)
    dropped_raw = sum(_spaced(s) not in _spaced(text) for text, s in must_not)
    grams = [(_grams(text), _grams(truth["main_content"])) for text, truth in pairs]
    precision = sum(len(a & b) / max(1, len(a)) for a, b in grams) / len(grams)
    recall = sum(len(a & b) / max(1, len(b)) for a, b in grams) / len(grams)
    strings = f"{kept:3}/{len(must)} {kept_raw:5}   {dropped:3}/{len(must_not)} {dropped_raw:5}"
    return f"{strings}              {precision:9.3f} {recall:6.3f}"


def _plain(text: str) -> str:
    return re.sub(r"[`*_|>#\\\s]", "", text.translate(_QUOTES))


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _grams(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + 4]) for i in range(len(words) - 3)}


# --- files -------------------------------------------------------------------------------------------------------


def _documents(folder: Path) -> Iterator[RawDoc]:
    """The files of a folder, compressed pages opened, notes on them left out."""
    for path in sorted(folder.iterdir()):
        if path.suffix == ".gz":
            yield _document(path.stem, gzip.decompress(path.read_bytes()))
        elif folder.name != "web":
            yield _document(path.name, path.read_bytes())


def _document(name: str, content: bytes) -> RawDoc:
    return RawDoc(doc_id=f"corpus/{name}", source_id="corpus", name=name, uri="", content=content)


def _run_sandbox(folder: Path) -> None:
    """Convert a folder in workers and say what came of it."""
    docs = list(_documents(folder))
    start = time.perf_counter()
    with SandboxConverter(1536, 30) as converter:
        results = list(converter.convert(docs))
        seconds = time.perf_counter() - start
        main_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        memory = f"workers at most {converter.peak_mb} of 1536 MB, this process {main_mb} MB"
    converted = [r for r in results if isinstance(r, Converted)]
    scanty = sum(hardly_any_text(r.text, int(r.metadata.get("pages", 1))) for r in converted)
    counts = f"{len(converted)} converted ({scanty} hardly any text), {len(results) - len(converted)} refused"
    print(f"\n{folder.name}: {len(docs)} files, {counts}, {seconds:.1f} s; {memory}")
    for doc, result in zip(docs, results, strict=True):
        if isinstance(result, Exception):
            print(f"  {doc.name}: {str(result).removeprefix(f'{doc.doc_id}: ')}")


if __name__ == "__main__":
    main()
