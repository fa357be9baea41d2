"""The wiki over a real history: four releases of a library's documentation, with people's edits after each."""

import random
from pathlib import Path

from kb_pipeline.records import Item
from kb_pipeline.rules.ids import canonical
from kb_pipeline.rules.pages.reading import read
from kb_pipeline.rules.pages.rendering import HISTORY
from kb_pipeline_tests.driving import Cli, compile_all, new_root, opened
from kb_pipeline_tests.promises.test_real_history import RELEASES, play


def test_edits_survive_and_nothing_superseded_is_stated(corpus: Path, tmp_path: Path) -> None:
    """After each release no page states as current what was superseded or retired, and every sentence that a person
    wrote into a page stands there until the end, on its page or on what is left of it."""
    root = new_root(tmp_path / "history", {}, docs="docs")
    chance, mine = random.Random(5), list[str]()
    for release in RELEASES:
        play(root, corpus / "starlette-docs" / release)
        with opened(root) as base:
            compile_all(base)
            assert [finding for finding in base.check() if finding.blocking and not finding.ok] == []
        assert _stale(root) == []
        text = "\n".join(path.read_text() for path in sorted((root / "kb/wiki").glob("*/*.md")))
        assert [sentence for sentence in mine if sentence not in text] == []
        mine += [_edited(path, chance, release) for path in chance.sample(_pages(root), 5)]
    with opened(root) as base:
        compile_all(base)
        again, _ = compile_all(base, full=True)
    assert {r.stage: r.files_written for r in again if r.files_written and r.stage in {"pages", "wiki"}} == {}
    text = "\n".join(path.read_text() for path in sorted((root / "kb/wiki").glob("*/*.md")))
    assert [sentence for sentence in mine if sentence not in text] == []


def _pages(root: Path) -> list[Path]:
    return sorted(path for path in (root / "kb/wiki").glob("*/*.md") if path.name != "index.md")


def _edited(path: Path, chance: random.Random, release: str) -> str:
    """Put a sentence of a person in place of one of the machine, or add a section; what he wrote."""
    words = f"By hand in {release}, on {path.stem}."
    text = path.read_text()
    lines = [line.raw for line in read(text) if line.kind == "sentence" and line.cites and line.section != HISTORY]
    plain = [line for line in lines if line[:1].isalpha() and not line.startswith("By hand")]
    if plain and chance.random() < 0.7:
        line = chance.choice(plain)
        text = text.replace(f"\n{line}\n", f"\n{words}{line[line.index('[^') :]}\n", 1)
    else:
        text += f"\n## Notes of {release}\n\n{words}\n"
    path.write_text(text)
    return words


def _stale(root: Path) -> list[str]:
    """Sentences of the machine that no active item states."""
    items = {key: Item.model_validate(item) for key, item in Cli(root).items().items()}
    return [
        line.raw
        for path in _pages(root)
        for line in read(path.read_text())
        if line.kind == "sentence" and line.ours and not line.by_hand and line.section != HISTORY
        for key in line.cites
        if items[key].status != "active" or not canonical(items[key].statement)
    ]
