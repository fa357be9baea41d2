"""What becomes of an item that a person edited, while its documents move, vanish, return and merge."""

import random
from pathlib import Path

import pytest

from kb_pipeline_tests import editing
from kb_pipeline_tests.driving import Cli, compile_all, new_root, opened, write

ALPHA = "# Alpha\n\nThe alpha cache holds 16 blocks.\n\nThe alpha server accepts 512 connections at once.\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    built = new_root(tmp_path / "kb", {"notes/alpha.md": ALPHA, "notes/beta.md": "# Beta\n\nBeta weighs 7 kg.\n"})
    build(built)
    return built


def build(root: Path) -> list[str]:
    """Build, require that every check passes and nothing is left to do; the warnings."""
    with opened(root) as base:
        reports, _ = compile_all(base)
        assert [finding for finding in base.check() if finding.blocking and not finding.ok] == []
        assert not base.stale()
    return [warning for report in reports for warning in report.warnings]


def edit(root: Path, old: str, new: str) -> Path:
    path = next(p for p in (root / "kb/items").glob("*/*.json") if old in p.read_text())
    path.write_text(path.read_text().replace(old, new))
    return path


def served(root: Path, query: str) -> list[str]:
    with opened(root) as base:
        return [hit.text for hit in base.search(query).hits if hit.kind == "item"]


def test_an_edited_items_proof_follows_its_document(root: Path) -> None:
    """Text inserted above moves the quote of an edited item like any other's; the words stay the person's."""
    path = edit(root, '"The alpha cache holds 16 blocks."', '"Each alpha cache holds 16 blocks."')
    build(root)
    write(root, {"notes/alpha.md": f"# New\n\nSomething else stands here now.\n\n{ALPHA}"})
    build(root)
    item = Cli(root).items()[path.stem]
    text = (root / "kb/normalized/notes/alpha.md.md").read_text()
    (proof,) = item["sources"]
    assert text[proof["start"] : proof["end"]] == proof["source_span"] == "The alpha cache holds 16 blocks."
    assert served(root, "alpha cache")[0] == "Each alpha cache holds 16 blocks."


def test_an_edit_of_the_quote_itself_holds_nothing_up(root: Path) -> None:
    """A statement and its quote replaced together: the words are the person's, the quote the document's."""
    path = edit(root, "The alpha cache holds", "Each alpha cache holds")
    assert any(path.stem in warning for warning in build(root))
    item = Cli(root).items()[path.stem]
    assert item["statement"].startswith("Each alpha cache")
    assert item["sources"][0]["source_span"].startswith("The alpha cache")


def test_an_edit_outlives_the_deletion_of_its_document(root: Path) -> None:
    """Gone means gone, for edited items too; when the document returns, the person's words do."""
    path = edit(root, '"The alpha cache holds 16 blocks."', '"Each alpha cache holds 16 blocks."')
    build(root)
    (root / "notes/alpha.md").unlink()
    build(root)
    assert not any("alpha" in text for text in served(root, "alpha cache"))
    assert Cli(root).items()[path.stem]["status"] == "retired"
    write(root, {"notes/alpha.md": ALPHA})
    build(root)
    assert served(root, "alpha cache")[0] == "Each alpha cache holds 16 blocks."


def test_an_edit_made_while_its_document_vanishes_is_kept(root: Path) -> None:
    """Edited and deleted between two builds: out of everything live, the words on disk, back with the document."""
    path = edit(root, '"The alpha cache holds 16 blocks."', '"Each alpha cache holds 16 blocks."')
    (root / "notes/alpha.md").unlink()
    build(root)
    assert not any("alpha" in text for text in served(root, "alpha cache"))
    assert "Each alpha cache" in path.read_text()
    write(root, {"notes/alpha.md": ALPHA})
    build(root)
    assert served(root, "alpha cache")[0] == "Each alpha cache holds 16 blocks."


def test_a_broken_edit_does_not_keep_what_is_gone(root: Path) -> None:
    """An unreadable item file serves its last version only while its document stands."""
    path = edit(root, '"The alpha cache holds 16 blocks."', '"The alpha cache holds 16 blocks.')
    assert any(path.stem in warning for warning in build(root))
    assert "The alpha cache holds 16 blocks." in served(root, "alpha cache")
    (root / "notes/alpha.md").unlink()
    build(root)
    assert not any("alpha" in text for text in served(root, "alpha cache"))
    assert path.is_file()


def test_a_person_may_file_and_retire_an_item(root: Path) -> None:
    """Another category moves the file; an item retired by hand is out of the index and stays so."""
    moved = edit(root, '"primary_category": "UNCLASSIFIED"', '"primary_category": "Decisions"')
    build(root)
    assert not moved.exists()
    assert (root / "kb/items/decisions" / moved.name).is_file()
    retired = edit(root, '"Beta weighs 7 kg."', '"Beta weighs 7 kg."')
    retired.write_text(retired.read_text().replace('"status": "active"', '"status": "retired"'))
    build(root)
    write(root, {"notes/beta.md": "# Beta\n\nFirst of all.\n\nBeta weighs 7 kg.\n"})
    build(root)
    assert "Beta weighs 7 kg." not in served(root, "beta weighs")
    assert Cli(root).items()[retired.stem]["status"] == "retired"


def test_an_edit_taken_back_is_none(root: Path) -> None:
    """The machine's own bytes again, and the item follows the documents again."""
    path = edit(root, '"The alpha cache holds 16 blocks."', '"Each alpha cache holds 16 blocks."')
    build(root)
    edit(root, '"Each alpha cache holds 16 blocks."', '"The alpha cache holds 16 blocks."')
    build(root)
    assert Cli(root).items()[path.stem]["edited"] == {}
    assert build(root) == []
    write(root, {"notes/alpha.md": ALPHA.replace("16 blocks", "32 blocks")})
    assert build(root) == []


def test_no_edit_is_lost_that_is_saved_while_a_build_runs(tmp_path: Path) -> None:
    """However an editor saves, and whenever, the next builds keep it."""
    root = new_root(tmp_path / "kb", editing.documents(30, 0))
    (root / "taxonomy.yaml").write_text(editing.TAXONOMY)
    build(root)
    keys = [key for key, item in Cli(root).items().items() if " holds " in item["statement"]]
    chance, span = random.Random(3), 1.0
    for release in range(1, 5):
        done = editing.save_during(root, release, chance, keys, span)
        span = done.seconds
        assert done.saved
        assert list(editing.lost(root, done)) == []
