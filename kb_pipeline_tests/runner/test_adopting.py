"""What people do to the folder of items with whole files: delete one, write one, move one; through every build."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from kb_pipeline.errors import NotFound
from kb_pipeline.records import Scope
from kb_pipeline_tests.driving import Cli, built, compile_all, new_root, opened, write

ALPHA = "# Alpha\n\nThe alpha cache holds 16 blocks.\n\nThe alpha server accepts 512 connections at once.\n"
BETA = "# Beta\n\nBeta weighs 7 kg.\n"
CACHE, SERVER, WEIGHT = (
    "The alpha cache holds 16 blocks.",
    "The alpha server accepts 512 connections at once.",
    "Beta weighs 7 kg.",
)
TAXONOMY = """version: 1
categories:
  - {name: Caches, description: What is kept in memory, keywords: [cache]}
  - {name: Decisions, description: What was decided, keywords: [decided]}
tags: {}
"""
DECIDED = "We decided that every replica keeps two copies of its log."


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = new_root(tmp_path_factory.mktemp("pristine") / "kb", {"notes/alpha.md": ALPHA, "notes/beta.md": BETA})
    (root / "taxonomy.yaml").write_text(TAXONOMY)
    built(root)
    return root


@pytest.fixture
def root(pristine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pristine, tmp_path / "kb"))


def cloned(root: Path) -> Path:
    """What git keeps, elsewhere."""
    untracked = shutil.ignore_patterns("cache", "index", "logs", "chunks", "atomic_items", "raw")
    there = Path(shutil.copytree(root, root.parent / f"{root.name}-clone", ignore=untracked))
    shutil.copytree(root / "kb/raw", there / "kb/raw")
    return there


def through_everything(root: Path) -> Path:
    """A build, a full one, one without the cache, one of other recipes, and one of a clone, which is returned."""
    built(root)
    built(root, full=True)
    shutil.rmtree(root / "kb/cache")
    built(root)
    (root / "taxonomy.yaml").write_text(TAXONOMY.replace("[decided]", "[decided, agreed]"))
    built(root)
    there = cloned(root)
    built(there)
    return there


def item(root: Path, statement: str) -> dict[str, Any]:
    return next(i for i in Cli(root).items().values() if i["statement"] == statement)


def path_of(root: Path, statement: str) -> Path:
    key = item(root, statement)["id"]
    return next((root / "kb/items").glob(f"*/{key}.json"))


def statements(root: Path) -> set[str]:
    return set(Cli(root).active())


def served(root: Path, query: str) -> list[str]:
    with opened(root) as base:
        return [hit.text for hit in base.search(query).hits if hit.kind == "item"]


def hand_written(root: Path, name: str, **fields: Any) -> Path:
    path = root / "kb/items" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(fields))
    return path


def test_a_deleted_file_hides_its_item_until_it_is_restored(root: Path) -> None:
    """On this machine and on every other, through every build; restored it is back under its id."""
    path = path_of(root, CACHE)
    path.unlink()
    (warning,) = built(root)
    assert f"kb restore {path.stem}" in warning
    there = through_everything(root)
    for place in (root, there):
        assert CACHE not in statements(place)
        assert CACHE not in served(place, "alpha cache blocks")
        assert not list((place / "kb/items").glob(f"*/{path.stem}.json"))
    with opened(root) as base:
        base.restore(path.stem)
    built(root)
    assert item(root, CACHE)["id"] == path.stem
    assert served(root, "alpha cache blocks")[0] == CACHE


def test_what_is_hidden_stays_so_when_another_document_states_it(root: Path) -> None:
    """The same statement elsewhere, or again after its document was away, is still hidden."""
    path_of(root, CACHE).unlink()
    built(root)
    (root / "notes/alpha.md").unlink()
    built(root)
    write(root, {"notes/alpha.md": ALPHA, "notes/other.md": f"# Other\n\n{CACHE}\n"})
    built(root)
    assert CACHE not in statements(root)


def test_a_retired_item_that_was_deleted_does_not_return_with_its_document(root: Path) -> None:
    """Deleted while no document stated it: hidden when one does again."""
    path = path_of(root, WEIGHT)
    (root / "notes/beta.md").unlink()
    built(root)
    path.unlink()
    built(root)
    write(root, {"notes/beta.md": BETA})
    built(root)
    assert WEIGHT not in statements(root)
    with opened(root) as base:
        base.restore(path.stem)
    built(root)
    assert WEIGHT in statements(root)


def test_a_folder_that_is_lost_hides_nothing(root: Path) -> None:
    """When most files are gone at once, nobody decided that: they are made anew, and a warning says so."""
    more = "\n\n".join(f"The {word} server accepts {n} connections at once." for n, word in enumerate(WORDS, start=20))
    write(root, {"notes/more.md": f"# More\n\n{more}\n"})
    built(root)
    before = statements(root)
    for path in (root / "kb/items").glob("*/*.json"):
        path.unlink()
    warnings = built(root)
    assert [warning for warning in warnings if "gone at once" in warning] == warnings[:1] == warnings
    assert statements(root) == before


WORDS = ("bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet", "kilo", "lima", "mike")


def test_a_written_file_is_an_item_with_a_document_of_its_own(root: Path) -> None:
    """A statement in a folder is enough: it is proven by its own document, marked, filed, indexed, and stays."""
    path = hand_written(root, "caches/my-note.json", statement=DECIDED, tags=["log"])
    assert [w for w in built(root) if "edited by hand; the edit is kept" not in w] == []
    assert not path.exists()
    there = through_everything(root)
    for place in (root, there):
        found = item(place, DECIDED)
        (proof,) = found["sources"]
        assert (proof["doc_id"], proof["source_type"]) == (f"human/{found['id']}", "human")
        text = (place / f"kb/normalized/human/{found['id']}.md").read_text()
        assert text[proof["start"] : proof["end"]] == proof["source_span"] == DECIDED
        assert (found["engine"], found["primary_category"], found["tags"]) == ("human", "Caches", ["log"])
        assert set(found["edited"]) == {"primary_category", "tags"}
        assert served(place, "replica copies of its log")[0] == DECIDED
        with opened(place) as base:
            found_there = base.search("replica copies of its log", scope=Scope(sources=("human",))).hits
            assert {hit.doc_id for hit in found_there} == {f"human/{found['id']}"}
        assert len(list((place / "kb/items").glob("*/*.json"))) == 4


def test_a_written_item_follows_its_file_and_goes_with_it(root: Path) -> None:
    """Its document says what the file says, under the same id; without the file both are gone, in every generation."""
    hand_written(root, "note.json", statement=DECIDED)
    built(root)
    path = path_of(root, DECIDED)
    path.write_text(path.read_text().replace("two copies", "three copies"))
    built(root)
    three = DECIDED.replace("two", "three")
    found = item(root, three)
    assert (found["id"], found["edited"], found["sources"][0]["source_span"]) == (path.stem, {}, three)
    path = path_of(root, three)
    path.unlink()
    built(root)
    assert statements(root) == {CACHE, SERVER, WEIGHT}
    assert not (root / "kb/dedup/human.jsonl").exists()
    with opened(root) as base:
        told = base.history(path.stem)
        assert [(event.kind, event.by) for event in told if event.kind in {"born", "edited", "hidden"}] == [
            *(("born", "person"), ("edited", "person"), ("hidden", "person"))
        ]
        assert next(event.before["statement"] for event in told if event.kind == "edited") == DECIDED
        assert told[-1].before["statement"] == three
        with pytest.raises(NotFound, match="kb history"):
            base.show(path.stem)
    assert not list((root / "kb/normalized/human").glob("*.md"))
    with opened(root) as base:
        base.rollback()
        assert three not in [hit.text for hit in base.search("replica copies of its log").hits]


def test_a_written_item_is_never_merged_away_silently(root: Path) -> None:
    """What says nearly the same stays beside it and waits for review; a person's merge joins them, sources united."""
    near = "The alpha cache holds 16 blocks"
    hand_written(root, "caches/mine.json", statement=f"{near} in memory.", context="by hand")
    write(root, {"notes/copy.md": f"# Copy\n\n{near} in its memory.\n"})
    built(root)
    key = item(root, f"{near} in memory.")["id"]
    with opened(root) as base:
        waiting = [r for r in base.reviews() if r.kind == "pair" and key in {i.id for i in r.items}]
        assert waiting
        assert all("written by hand" in r.why for r in waiting)
        other = next(i.id for i in waiting[0].items if i.id != key)
        base.decide(f"pair:{key}:{other}", "merge", "one fact")
    there = through_everything(root)
    for place in (root, there):
        (merged,) = (i for i in Cli(place).items().values() if f"human/{key}" in {s["doc_id"] for s in i["sources"]})
        assert len(merged["sources"]) == 2


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("decisions/x.json", "{", "is no JSON"),
        ("decisions/x.json", "{}", "statement: an item must say something"),
        ("decisions/x.json", '{"statement": "A.", "confidence": "sure"}', "confidence: "),
        ("decisions/x.json", '{"statement": "A.", "statment": "B."}', "statment: is no field"),
        ("decisions/x.json", '{"statement": "A.", "primary_category": "Q"}', "Categories: Caches, Decisions"),
        ("nowhere/x.json", '{"statement": "A."}', "Folders: caches, decisions"),
        ("caches/x.json", json.dumps({"statement": CACHE}), "Edit that one"),
    ],
)
def test_a_written_file_that_cannot_stand_is_named_until_it_is_mended(
    root: Path, name: str, text: str, says: str
) -> None:
    """File, field and cure in the build's warnings and in the status; the file stays, and mended it is an item."""
    path = root / "kb/items" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    (warning,) = built(root)
    assert warning.startswith(f"kb/items/{name}: ")
    assert says in warning
    with opened(root) as base:
        assert [warning] == [reject.reason for reject in base.status().quarantine]
        assert [warning] == [line for found in base.check("tags") if not found.ok for line in found.offenders]
    assert path.read_text() == text
    path.unlink()
    hand_written(root, "decisions/x.json", statement=DECIDED)
    built(root)
    with opened(root) as base:
        assert not base.status().quarantine
    assert DECIDED in statements(root)


def test_a_moved_file_files_its_item(root: Path) -> None:
    """Moved to the folder of another category it is filed there for good; the folder of none is named with the cure."""
    path = path_of(root, WEIGHT)
    moved = root / "kb/items/decisions" / path.name
    moved.parent.mkdir(exist_ok=True)
    path.rename(moved)
    built(root)
    there = through_everything(root)
    for place in (root, there):
        assert item(place, WEIGHT)["primary_category"] == "Decisions"
        assert path_of(place, WEIGHT).parent.name == "decisions"
    astray = root / "kb/items/nowhere" / path.name
    astray.parent.mkdir()
    moved.rename(astray)
    assert any("kb/items/nowhere" in w and "Move it to one of: caches" in w for w in built(root))
    assert WEIGHT in served(root, "beta weighs")
    with opened(root) as base:
        assert any("Move it to one of" in line for found in base.check("tags") for line in found.offenders)
    built(root, full=True)
    assert astray.exists()
    astray.rename(moved)
    built(root)
    assert item(root, WEIGHT)["primary_category"] == "Decisions"


def test_nothing_of_it_costs_a_build_that_has_nothing_to_do(root: Path) -> None:
    """After deletions and written files the next build writes nothing."""
    path_of(root, CACHE).unlink()
    hand_written(root, "note.json", statement=DECIDED)
    built(root)
    with opened(root) as base:
        reports, stale = compile_all(base)
        assert (reports, bool(stale)) == ([], False)
        with pytest.raises(NotFound, match="kb restore"):
            base.show(next(key for key in hidden(root)))


def hidden(root: Path) -> list[str]:
    lines = (root / "kb/dedup/human.jsonl").read_text().splitlines()
    return [name for line in lines for name in json.loads(line)["items"]]
