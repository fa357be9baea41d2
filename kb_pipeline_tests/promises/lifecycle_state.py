"""What a knowledge base holds, read from its files as anyone may, and what of it must not be there."""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import yaml

from kb_pipeline.api import PER_SOURCE, KnowledgeBase
from kb_pipeline_tests.driving import Cli, opened

_ASIDE = {"id", "aliases", "created_at", "updated_at", "valid_to", "content_hash", "related_items", "superseded_by"}
Json = dict[str, Any]
Opener = Callable[[Path], AbstractContextManager[KnowledgeBase]]


def knowledge(root: Path) -> dict[str, Any]:
    """Active items, what they superseded and what disagrees, by what they say, with ids and dates aside."""
    by_id = Cli(root).items()
    said = {key: f"{item['statement']} [{item['context']}]" for key, item in by_id.items()}
    active = {said[key]: _told(item, said) for key, item in by_id.items() if item["status"] == "active"}
    superseded = {
        said[key]: {**_told(item, said), "by": said[item["superseded_by"]]}
        for key, item in by_id.items()
        if item["status"] == "superseded"
    }
    clashes = sorted(
        [*sorted((said[line["a"]], said[line["b"]])), line["kind"], line["why"]] for line in lines(root, "conflicts")
    )
    return {"active": active, "superseded": superseded, "conflicts": clashes}


def _told(item: Json, said: Mapping[str, str]) -> Json:
    proofs = [{name: value for name, value in c.items() if name != "fetched_at"} for c in item["sources"]]
    related = sorted(said[key] for key in item["related_items"])
    return {k: v for k, v in item.items() if k not in _ASIDE} | {"sources": proofs, "related": related}


def lines(root: Path, name: str) -> list[Json]:
    """The lines of a file of ``dedup``."""
    path = root / f"kb/dedup/{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def registered(root: Path) -> list[Json]:
    """The entries of ``sources.yaml``."""
    return list(yaml.safe_load((root / "sources.yaml").read_text())["sources"])


def documents(root: Path) -> dict[str, str]:
    """The documents that sources hold now, and those of items written by hand, by id, with a hash of path and bytes."""
    found = {}
    for source in registered(root):
        folder = root / source["uri"]
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name not in source.get("exclude", ()):
                told = path.relative_to(root).as_posix().encode() + path.read_bytes()
                found[f"{source['id']}/{path.relative_to(folder).as_posix()}"] = hashlib.sha256(told).hexdigest()
    for path in (root / "kb/normalized/human").glob("*.md"):
        found[f"human/{path.stem}"] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def from_scratch(root: Path, scratch: Path, open_: Opener = opened) -> Path:
    """The items of a build over the same sources that knows of no history; ``scratch``, below which it lies."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    for name in ("sources.yaml", "taxonomy.yaml"):
        shutil.copy(root / name, scratch / name)
    for source in registered(root):
        shutil.copytree(root / source["uri"], scratch / source["uri"], dirs_exist_ok=True)
    carry(root / "kb", scratch / "kb")
    with open_(scratch) as base:
        publish(base)
    return scratch


def carry(old: Path, new: Path) -> None:
    """Bring along what people did, and nothing else: decisions, purges, the items that they wrote or edited."""
    paths = [
        old / "purged.jsonl",
        old / "dedup/human.jsonl",
        old / "normalized/human.manifest.jsonl",
        *old.glob("normalized/human/*"),
    ]
    items = ((path, json.loads(path.read_text())) for path in old.glob("items/*/*.json"))
    paths += [path for path, item in items if item["edited"] or any(_by_hand(c) for c in item["sources"])]
    for path in filter(Path.is_file, paths):
        target = new / path.relative_to(old)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)


def _by_hand(citation: Json) -> bool:
    return bool(citation["source_type"] == "human")


def publish(base: KnowledgeBase) -> None:
    """Bring items up to date, and nothing that comes after them."""
    for source in base.settings.sources:
        for stage in PER_SOURCE:
            base.build_stage(stage, source.id)
    for stage in ("dedup", "tags"):
        base.build_stage(stage)


def ghosts(base: KnowledgeBase, root: Path, gone: Iterable[str]) -> list[str]:
    """What lives of documents or statements that are gone: items, rows, files, questions and hits."""
    held = documents(root).keys()
    items = Cli(root).items()
    live = {key for key, item in items.items() if item["status"] == "active"}
    found = [
        f"item {key} cites {c['doc_id']}" for key in live for c in items[key]["sources"] if c["doc_id"] not in held
    ]
    _, rows = base.sql("select id, kind, docs from rows")
    found += [f"row {key} of {doc}" for key, _, docs in rows for doc in docs if doc not in held]
    found += [f"row {key} of no active item" for key, kind, _ in rows if kind == "item" and key not in live]
    found += [f"no row of {key}" for key in live - {key for key, _, _ in rows}]
    found += [f"file {path}" for path in _texts(root) if path not in held]
    gold = [json.loads(line) for line in (root / "kb/eval/qa_gold.jsonl").read_text().splitlines()]
    found += [f"question about {q['about']}" for q in gold if q["about"] not in live]
    for statement in gone:
        hits = base.search(statement, k=3).hits
        found += [f"hit {hit.id}: {statement}" for hit in hits if hit.kind == "item" and hit.text == statement]
    return found


def _texts(root: Path) -> set[str]:
    """Ids of the documents whose text is kept as current."""
    folder = root / "kb/normalized"
    files = (path.relative_to(folder).as_posix() for path in folder.rglob("*.md"))
    return {path.removesuffix(".md") for path in files if not path.startswith(".versions/")}


def quotes(root: Path) -> dict[str, set[tuple[str, str]]]:
    """What each active item cites: documents and words."""
    items = Cli(root).items().items()
    return {key: {(c["doc_id"], c["source_span"]) for c in i["sources"]} for key, i in items if i["status"] == "active"}


def lost(root: Path, before: Mapping[str, set[tuple[str, str]]]) -> list[str]:
    """Citations of ``before`` that items which are active still do not have any more, though the words still stand."""
    now = quotes(root)
    missing = []
    for key in before.keys() & now.keys():
        for doc, words in before[key] - now[key]:
            text = root / f"kb/normalized/{doc}.md"
            if text.is_file() and words in text.read_text():
                missing.append(f"{key} no longer cites {doc}: {words}")
    return missing
