"""Files of the knowledge base that break, vanish or come back garbled: named, made anew, and nothing else is lost."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kb_pipeline.errors import KbError, StoreError
from kb_pipeline_tests.driving import Cli, compile_all, new_root, opened

ALPHA = "# Alpha\n\nThe alpha cache holds 16 blocks.\n\nThe alpha server accepts 512 connections at once.\n"
BETA = "# Beta\n\nThe beta queue keeps 24 messages.\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built knowledge base, with a document that was deleted and an item that a person edited."""
    root = new_root(tmp_path_factory.mktemp("built") / "base", {"notes/alpha.md": ALPHA, "notes/beta.md": BETA})
    (root / "notes/gone.md").write_text("# Gone\n\nThe gone lamp burns 60 watts.\n")
    build(root)
    (root / "notes/gone.md").unlink()
    path = next(p for p in (root / "kb/items").glob("*/*.json") if "beta queue" in p.read_text())
    path.write_text(path.read_text().replace('"The beta queue keeps', '"Each beta queue keeps'))
    build(root)
    return root


@pytest.fixture
def root(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "base"))


def build(root: Path) -> list[str]:
    with opened(root) as base:
        reports, _ = compile_all(base)
        assert [f for f in base.check() if f.blocking and not f.ok] == []
        assert not base.stale()
    return [warning for report in reports for warning in report.warnings]


def known(root: Path) -> dict[str, tuple[Any, ...]]:
    """Items by id: what they say, their status and when they were born."""
    return {key: (i["statement"], i["status"], i["created_at"], i["edited"]) for key, i in Cli(root).items().items()}


def served(root: Path) -> set[str]:
    with opened(root) as base:
        assert base.search("alpha cache holds blocks").hits[0].text == "The alpha cache holds 16 blocks."
        return {row[0] for row in base.sql("select text from rows where kind = 'item'")[1]}


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def garbled(path: Path) -> None:
    path.write_bytes(b"\xff\x00<<<<<<< HEAD\n")


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def removed(path: Path) -> None:
    path.unlink()


HARMS = (truncated, garbled, emptied, removed)
MANIFESTS = ("raw/notes", "normalized/notes", "chunks/notes", "atomic_items/notes", "dedup/", "items/", "eval/")


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("manifest", MANIFESTS)
def test_a_lost_manifest_loses_nothing(root: Path, manifest: str, harm: Callable[[Path], None]) -> None:
    """Whatever happened to it, the next build makes it anew: the same items, dates, edits and rows."""
    before, rows = known(root), served(root)
    harm(next((root / "kb").glob(f"{manifest.replace('/', '/*')}manifest.jsonl".replace("*notes", "notes."))))
    build(root)
    assert known(root) == before
    assert served(root) == rows


@pytest.mark.parametrize("harm", HARMS)
def test_all_manifests_lost_at_once_lose_nothing(root: Path, harm: Callable[[Path], None]) -> None:
    """Even then originals and item files are enough, and an edited item stays the person's."""
    before, rows = known(root), served(root)
    for path in (root / "kb").glob("*/*manifest.jsonl"):
        harm(path)
    build(root)
    after = known(root)
    assert {key: after[key][:3] for key in after} == {key: before[key][:3] for key in before}
    assert served(root) == rows


def test_lost_originals_and_their_manifest_wait_for_the_source(root: Path) -> None:
    """With the source unavailable at the same time nothing is taken for deleted: the build says what is lost."""
    before, rows = known(root), served(root)
    (root / "notes").rename(root / "away")
    for stage in ("raw", "normalized"):
        (root / f"kb/{stage}/notes.manifest.jsonl").unlink()
    with opened(root) as base, pytest.raises(StoreError, match=r"was lost.*kb build --source notes"):
        compile_all(base)
    assert (known(root), served(root)) == (before, rows)
    (root / "away").rename(root / "notes")
    build(root)
    assert (known(root), served(root)) == (before, rows)


@pytest.mark.parametrize("name", ["clusters", "decisions"])
@pytest.mark.parametrize("harm", HARMS)
def test_lost_decisions_are_made_anew(root: Path, name: str, harm: Callable[[Path], None]) -> None:
    """A file that dedup published is made again where it is gone or broken."""
    before, rows = known(root), served(root)
    harm(root / f"kb/dedup/{name}.jsonl")
    build(root)
    assert (known(root), served(root)) == (before, rows)


@pytest.mark.parametrize("folder", ["raw", "normalized", "chunks", "atomic_items", "dedup", "index", "eval", "cache"])
def test_a_deleted_folder_is_made_anew(root: Path, folder: str) -> None:
    """Each folder of the knowledge base but the items can be deleted; the next build makes it again."""
    before, rows = known(root), served(root)
    shutil.rmtree(root / "kb" / folder)
    build(root)
    assert (known(root), served(root)) == (before, rows)


def test_a_lost_index_goes_on_counting(root: Path) -> None:
    """What was measured of generations before it was lost stays told of those."""
    results = root / "kb/eval/results.jsonl"
    before = [json.loads(line)["generation"] for line in results.read_text().splitlines()]
    shutil.rmtree(root / "kb/index")
    build(root)
    after = [json.loads(line)["generation"] for line in results.read_text().splitlines()]
    assert after[: len(before)] == before
    assert after[len(before) :] == [f"g{len(before) + 1:08}"]


def test_an_index_of_another_file_layout_is_made_anew(root: Path) -> None:
    """An update of the program that writes other files needs no hand: the next build names it and starts afresh."""
    before, rows = known(root), served(root)
    for path in (root / "kb/index").glob("g*/manifest.json"):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"layout": "an older one"}))
    build(root)
    assert (known(root), served(root)) == (before, rows)


@pytest.mark.parametrize("harm", [removed, truncated, garbled])
def test_a_lost_catalogue_lists_all_pages_again(root: Path, harm: Callable[[Path], None]) -> None:
    """The catalogue tells of every page after the next build, also of those that nothing else touches."""
    said = ("opens after 3 seconds", "weighs 40 kilograms", "needs 2 guards", "is painted green", "costs 900 euros")
    for name in ("Gamma", "Delta"):
        text = "\n\n".join(f"The {name.lower()} gate {fact}." for fact in said)
        (root / f"notes/{name.lower()}.md").write_text(f"# {name} gates\n\n{text}\n")
    build(root)
    catalogue = root / "kb/wiki/catalogue.json"
    titles = {page["title"] for page in json.loads(catalogue.read_text())}
    assert {"Gamma gates", "Delta gates"} < titles
    harm(catalogue)
    with (root / "notes/gamma.md").open("a") as f:
        f.write("\nThe gamma gate closes at night.\n")
    build(root)
    assert {page["title"] for page in json.loads(catalogue.read_text())} == titles


def test_deleted_items_are_made_anew(root: Path) -> None:
    """Without the folder of items the documents are enough for what they state; history and edits went with it."""
    shutil.rmtree(root / "kb/items")
    build(root)
    assert {s for s, status, _, _ in known(root).values() if status == "active"} == {
        "The alpha cache holds 16 blocks.",
        "The alpha server accepts 512 connections at once.",
        "The beta queue keeps 24 messages.",
    }
    served(root)


SHAPES: tuple[object, ...] = ([], 5, {"a": 3}, {"raw:notes": 5, "dedup": []}, {"needs": 4, "recipe": 1}, {"notes": [1]})


@pytest.mark.parametrize("shape", SHAPES)
def test_a_garbled_cache_costs_time_only(root: Path, shape: object) -> None:
    """Whatever JSON stands in the machine's own notes, the next build ends as if they were lost."""
    before, rows = known(root), served(root)
    for path in (root / "kb/cache").rglob("*.json"):
        path.write_text(json.dumps(shape))
    (root / "notes/alpha.md").touch()
    build(root)
    assert (known(root), served(root)) == (before, rows)


@pytest.mark.parametrize("harm", HARMS)
def test_broken_vectors_are_computed_again(root: Path, harm: Callable[[Path], None]) -> None:
    """A vector cache that is cut, emptied or garbled is no error."""
    for path in (root / "kb/cache/vectors").iterdir():
        harm(path)
    (root / "notes/alpha.md").write_text(ALPHA.replace("512", "640"))
    build(root)
    assert "The alpha server accepts 640 connections at once." in served(root)


POINTERS = {"CURRENT": ("", "garbage", "g00000077\n"), "PIN": ("", "xx", "[1]"), "mask.json": ("", "xx", '{"a": 1}')}


@pytest.mark.parametrize(("name", "content"), [(name, c) for name, contents in POINTERS.items() for c in contents])
def test_a_broken_pointer_is_told_and_set_anew(root: Path, name: str, content: str) -> None:
    """Readers get an error with the cure or what they should; status says it; the next build mends it."""
    rows = served(root)
    (root / "kb/index" / name).write_text(content)
    with opened(root) as base:
        status = base.status()
        if name != "PIN":
            assert name in " ".join(status.warnings)
            with pytest.raises(KbError, match="kb build"):
                base.search("alpha")
    build(root)
    assert served(root) == rows


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("pattern", ["manifest.json", "seg/*.arrow", "lex/*/meta.json"])
def test_a_broken_generation_is_replaced(root: Path, harm: Callable[[Path], None], pattern: str) -> None:
    """A damaged live generation is named to readers; the next build goes on from a whole one."""
    rows = served(root)
    live = root / "kb/index" / (root / "kb/index/CURRENT").read_text().strip()
    path = next(live.glob(pattern))
    copy = path.read_bytes()
    path.unlink()
    path.write_bytes(copy)  # else a hard link would break its predecessor too
    harm(path)
    with opened(root) as base, pytest.raises(KbError, match=live.name):
        base.search("alpha")
    build(root)
    assert served(root) == rows


@pytest.mark.parametrize("content", ["", "xx", "[]", '{"schema_version": "x"}'])
def test_a_broken_stamp_of_the_schema_is_written_anew(root: Path, content: str) -> None:
    """What does not say that it is newer is not refused."""
    (root / "kb/schema.json").write_text(content)
    (root / "notes/alpha.md").write_text(ALPHA.replace("512", "640"))
    build(root)
    assert json.loads((root / "kb/schema.json").read_text())["schema_version"] == 1


def test_a_newer_schema_is_refused_by_every_verb(root: Path) -> None:
    """A knowledge base of a newer program is neither read nor written."""
    (root / "kb/schema.json").write_text('{"schema_version": 99}')
    with pytest.raises(StoreError, match=r"99.*Update the program"), opened(root):
        pass
