"""What a run that was killed, or a person who wrote meanwhile, leaves to the next one."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from kb_pipeline.api import KnowledgeBase
from kb_pipeline.engines.extractive import Extractive
from kb_pipeline.records import Item, Tagging, Taxonomy
from kb_pipeline.store.manifests import Manifest
from kb_pipeline_tests.driving import Cli, compile_all, new_root, opened, write

ALPHA = "# Alpha\n\nThe alpha cache holds 16 blocks. The alpha server accepts 512 connections at once.\n"
EDITED = ALPHA.replace("512", "640")
BETA = "# Beta\n\nThe beta queue keeps 24 messages.\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    built = new_root(tmp_path / "kb", {"notes/alpha.md": ALPHA, "notes/beta.md": BETA})
    with opened(built) as base:
        compile_all(base)
    return built


def item_file(root: Path, words: str) -> Path:
    """The file of the item that says so."""
    return next(p for p in (root / "kb/items").glob("*/*.json") if words in p.read_text())


def dies(action: Callable[[], object]) -> None:
    """Run ``action`` in a child that dies where a stage would save its manifest of items."""
    save = Manifest.save

    def dying(self: Manifest) -> None:
        if self.path.parent.name == "items":
            os._exit(9)
        save(self)

    if (child := os.fork()) == 0:
        Manifest.save = dying  # type: ignore[method-assign]
        action()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def build(root: Path) -> None:
    with opened(root) as base:
        compile_all(base)


def test_an_item_retired_by_a_killed_run_leaves_the_index(root: Path) -> None:
    """Files that a killed run wrote count as made only once the manifest says so."""
    write(root, {"notes/alpha.md": EDITED})
    dies(lambda: build(root))
    with opened(root) as base:
        compile_all(base)
        assert all(finding.ok for finding in base.check() if finding.blocking)
    assert "The alpha server accepts 512 connections at once." not in Cli(root).active()


def test_what_two_killed_runs_wrote_is_no_edit(root: Path) -> None:
    """Bytes of the first of two killed runs are ours too, though the second one meant to write others."""
    for text in (EDITED, EDITED.replace("16 blocks", "32 blocks")):
        write(root, {"notes/alpha.md": text})
        dies(lambda: build(root))
    with opened(root) as base:
        reports, _ = compile_all(base)
    assert not [w for r in reports for w in r.warnings]
    assert set(Cli(root).active()) == {
        "The alpha cache holds 32 blocks.",
        "The alpha server accepts 640 connections at once.",
        "The beta queue keeps 24 messages.",
    }
    assert not list((root / "kb").rglob(".tmp-kb-*"))


def test_a_killed_run_forgets_no_edit(root: Path) -> None:
    """An edit that a killed run had noticed, but not recorded, is noticed by the next one."""
    path = item_file(root, "beta")
    path.write_text(path.read_text().replace("The beta", "Each beta"))
    dies(lambda: build(root))
    with opened(root) as base:
        compile_all(base)
        assert base.search("beta queue").hits[0].text.startswith("Each beta")


class Meddler(Extractive):
    """An engine during whose work a person edits a file."""

    meddle: Callable[[], object]

    def tag(self, items: Sequence[Item], taxonomy: Taxonomy) -> Iterator[Tagging]:
        self.meddle()
        return super().tag(items, taxonomy)


def meddling(base: KnowledgeBase, meddle: Callable[[], object]) -> None:
    engine = Meddler(base.settings, base.world.embedder)
    engine.meddle = meddle
    base.world = replace(base.world, engine=engine)


@pytest.mark.parametrize("name", ["alpha cache", "beta queue"])
def test_an_edit_made_during_a_run_is_served_by_the_next(root: Path, name: str) -> None:
    """An item file edited while its stage runs, whether it concerns that item or not, is kept and soon served."""
    path = item_file(root, name)
    write(root, {"notes/alpha.md": EDITED})
    with opened(root) as base:
        meddling(base, lambda: path.write_text(path.read_text().replace(f"The {name}", f"Each {name}")))
        compile_all(base)
    build(root)
    with opened(root) as base:
        assert base.search(name).hits[0].text.startswith(f"Each {name}")
        assert not base.stale()


@pytest.mark.parametrize("name", ["alpha cache", "beta queue"])
def test_a_file_removed_during_a_run_is_a_persons_removal(root: Path, name: str) -> None:
    """An item file that vanishes while its stage runs hides its item from the next build on at the latest."""
    path = item_file(root, name)
    write(root, {"notes/alpha.md": EDITED})
    with opened(root) as base:
        meddling(base, path.unlink)
        compile_all(base)
    build(root)
    assert not path.exists()
    with opened(root) as base:
        assert not base.stale()
        base.restore(path.stem)
    build(root)
    assert path.is_file()
