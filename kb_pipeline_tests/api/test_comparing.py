"""What the last build, and people's hands, made of the wiki: told from what is retained, and to whom it is his."""

from pathlib import Path

import pytest

from kb_pipeline.errors import NotFound, StoreError
from kb_pipeline_tests.driving import Cli, compile_all, new_root, opened, write

PARTS = ("valve", "tap", "hatch", "lid", "gate", "flap", "spout")


def guide(*, bar: int = 3, parts: tuple[str, ...] = PARTS) -> str:
    """A document that is one page."""
    said = "".join(f"The crimson {part} opens at {n} bar.\n\n" for n, part in enumerate(parts, start=bar))
    return f"# Crimson guide\n\n{said}"


EXTRA = "".join(f"The azure keel number {n} bears {n}0 tons.\n\n" for n in range(2, 9))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A wiki of two projects, compiled once."""
    made = new_root(tmp_path / "base", {"red/guide.md": guide()}, red="red", blue="blue")
    write(made, {"blue/keel.md": f"# Azure keel\n\n{EXTRA}"})
    sources = made / "sources.yaml"
    sources.write_text(f"{sources.read_text()}projects:\n  - {{id: red, name: Red, sources: [red]}}\n")
    with opened(made) as base:
        compile_all(base)
    return made


def rebuilt(root: Path, documents: dict[str, str]) -> None:
    """Build again over other documents."""
    write(root, documents)
    with opened(root) as base:
        compile_all(base)


def test_a_first_build_has_nothing_to_be_compared_with(root: Path) -> None:
    """That is said, of a page and of all; what a person writes since can be told from the generation itself."""
    with opened(root) as base:
        assert base.page_changes("Crimson guide").kind == "unknown"
        found = base.wiki_changes()
        assert (found.since, found.pages, found.retained) == ("", (), ("g00000001",))
        assert base.wiki_changes("g1").pages == ()
        path = root / "kb/wiki" / base.page("Crimson guide").brief.path
        path.write_text(path.read_text().replace("opens at 3 bar", "opens at 3 bar, as we saw"))
        (page,) = base.wiki_changes("g1").pages
        assert [change.now for change in page.changes] == ["The crimson valve opens at 3 bar, as we saw."]
        with pytest.raises(NotFound, match="g00000001"):
            base.wiki_changes("g9")


def test_a_generation_that_cannot_be_read_is_passed_over(root: Path) -> None:
    """The one before it is compared with; named, it is an error with its cure."""
    for bar in (4, 5):
        rebuilt(root, {"red/guide.md": guide(bar=bar)})
    (root / "kb/index/g00000002/manifest.json").write_text("{}")
    with opened(root) as base:
        assert base.wiki_changes().since == "g00000001"
        with pytest.raises(StoreError, match="kb build"):
            base.page_changes("Crimson guide", "g2")


def test_each_sentence_that_changed_is_told_with_its_cause(root: Path) -> None:
    """An edited figure word by word, a sentence that came and one that went; a page that nothing touched is none."""
    text = guide(parts=PARTS[:-1]).replace("tap opens at 4", "tap opens at 44")
    rebuilt(root, {"red/guide.md": f"{text}The crimson whistle needs 3 litres of steam.\n"})
    with opened(root) as base:
        (page,) = base.wiki_changes().pages
        assert (page.title, page.kind) == ("Crimson guide", "changed")
        found = {change.kind: change for change in base.page_changes(page.id).changes}
    changed, came, went = found["changed"], found["added"], found["removed"]
    assert [piece.text for piece in changed.pieces if piece.kind != "same"] == ["4", "44"]
    assert (came.now, came.event) == ("The crimson whistle needs 3 litres of steam.", "born")
    assert came.cause == "stated in red/guide.md"
    assert (went.before, went.event) == ("The crimson spout opens at 9 bar.", "retired")
    assert went.cause == "red/guide.md states it no longer"


def test_what_a_person_changed_is_told_as_his(root: Path) -> None:
    """Words that he wrote, and a sentence that he took out of the page while its item stands."""
    with opened(root) as base:
        path = root / "kb/wiki" / base.page("Crimson guide").brief.path
    lines = [line for line in path.read_text().split("\n") if not line.startswith("The crimson lid")]
    text = "\n".join(lines).replace("flap opens at 8 bar", "flap opens at 8 bar or so")
    path.write_text(
        text.replace("The crimson gate opens at 7 bar.", "Of gates we say nothing.") + "\n## Mine\n\nOurs.\n"
    )
    rebuilt(root, {"red/guide.md": guide()})
    with opened(root) as base:
        changes = base.page_changes("Crimson guide", "g1").changes
    assert {change.by for change in changes} == {"person"}
    assert {(change.kind, change.before, change.now) for change in changes} == {
        ("removed", "The crimson lid opens at 6 bar.", ""),
        ("changed", "The crimson flap opens at 8 bar.", "The crimson flap opens at 8 bar or so."),
        ("changed", "The crimson gate opens at 7 bar.", "Of gates we say nothing."),
        ("added", "", "Ours."),
    }
    assert [c.cause for c in changes if c.kind == "removed"] == ["a person took it out of the page"]


def test_of_what_is_gone_no_word_is_shown(root: Path) -> None:
    """Of a document that was deleted, sentences are told without their words, with the item whose history has them; a
    page of it alone by its path."""
    rebuilt(root, {"red/guide.md": guide(), "red/more.md": "# Crimson guide\n\nThe crimson siren needs 90 volts.\n"})
    (root / "red/more.md").unlink()
    (root / "blue/keel.md").unlink()
    with opened(root) as base:
        compile_all(base)
        assert base.world.index.masked() == {"red/more.md", "blue/keel.md"}
        page = base.page_changes("Crimson guide")
        (change,) = page.changes
        assert (change.kind, change.before, change.event) == ("removed", "", "retired")
        assert change.cause == "red/more.md is gone"
        assert len(change.items) == 1
        told = base.wiki_changes().model_dump_json()
    assert "siren" not in told
    assert "keel number" not in told
    assert "Azure keel" not in told
    assert "azure-keel.md" in told


def test_nobody_is_told_what_is_not_his_to_see(root: Path) -> None:
    """Neither which pages of others changed, nor why an item did; a page that rested on others' documents was not
    there for him."""
    shared = {"blue/extra.md": "# Crimson guide\n\nThe azure bell needs 11 ropes.\n"}
    rebuilt(root, {**shared, "blue/keel.md": f"# Azure keel\n\n{EXTRA}The azure keel has 2 cracks.\n"})
    (root / "blue/extra.md").unlink()
    rebuilt(root, {"red/guide.md": guide(parts=PARTS[1:]), "blue/keel.md": f"# Azure keel\n\n{EXTRA}"})
    with opened(root) as base:
        red = base.within(["red"])
        page = red.page_changes("Crimson guide")
        told = f"{page.model_dump_json()}{red.wiki_changes().model_dump_json()}"
        assert page.kind == "created"
        assert {change.cause for change in page.changes} <= {"", "it stood on another page"}
        assert "azure" not in told.casefold()
        assert "keel" not in told
        with pytest.raises(NotFound):
            red.page_changes("Azure keel")
        gone = next(p.id for p in base.pages() if p.title == "Azure keel")
        with pytest.raises(NotFound):
            red.page_changes(gone)
    Cli(root).run("diff", "Azure keel")


def test_a_page_that_came_or_went_is_whole(root: Path) -> None:
    """Every sentence of it; one that went is found by its id, and an index of before is named as it is retained."""
    other = "".join(f"The umber drum number {n} turns {n}0 times.\n\n" for n in range(2, 9))
    rebuilt(root, {"red/drum.md": f"# Umber drum\n\n{other}"})
    cli = Cli(root)
    (came,) = cli.json("diff")["pages"]
    assert (came["kind"], came["title"], len(came["changes"])) == ("created", "Umber drum", 7)
    assert "+ The umber drum number 2 turns 20 times." in cli.run("diff", "Umber drum").stdout
    write(root, {"red/drum.md": "# Umber drum\n\nIt is being repaired.\n"})
    with opened(root) as base:
        compile_all(base)
    went = next(page for page in cli.json("diff")["pages"] if page["kind"] == "removed")
    assert went["title"] == "Umber drum"
    assert cli.json("diff", went["id"])["changes"][0]["event"] == "retired"
    assert "is not retained" in cli.run("diff", "--since", "g99", code=1).stderr
