"""Recipes: what counts as a change of how a stage makes things."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kb_pipeline
from kb_pipeline.recipes import recipe

PRINT = "from kb_pipeline.recipes import recipe; print(recipe(['kb_pipeline.stages.chunks'], ['pydantic'], {'n': 1}))"

# Prints the recipe, and what it is where a process was told a false hash: of the same file, of others.
TELL = """
from kb_pipeline import recipes
def of(**told):
    recipes._TREES.clear()
    recipes.recall({name: tree._replace(hash="false", **told)})
    return recipes.recipe([name], [], {})
name = "kb_pipeline.rules.ids"
print(recipes.recipe([name], [], {}))
tree = recipes.known()[name]
print(of(), of(mtime=tree.mtime - 1), of(python="2.7"))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package whose code a test may edit."""
    copied = tmp_path / "kb_pipeline"
    shutil.copytree(Path(kb_pipeline.__file__).parent, copied, ignore=shutil.ignore_patterns("__pycache__"))
    return copied


def of(package: Path) -> str:
    run = [sys.executable, "-c", PRINT]
    return subprocess.run(run, cwd=package.parent, capture_output=True, text=True, check=True).stdout


def test_comments_formatting_and_docstrings_do_not_count(package: Path) -> None:
    """An edited comment, docstring or line break re-runs nothing."""
    before = of(package)
    path = package / "rules" / "chunking.py"
    path.write_text("# a comment\n" + path.read_text().replace('"""', '"""Reworded. ', 1) + "\n\n")
    assert of(package) == before


def test_code_that_is_reached_through_imports_counts(package: Path) -> None:
    """An edited line of a module that the stage imports, at any distance, changes the recipe."""
    before = of(package)
    path = package / "rules" / "ids.py"
    path.write_text(path.read_text().replace("[:32]", "[:31]", 1))
    assert of(package) != before


def test_a_process_knows_when_its_code_is_outdated(package: Path) -> None:
    """A module that was edited since it was read is named; a touched or reformatted one is not."""
    code = """
from pathlib import Path
from kb_pipeline import recipes
recipes.recipe(['kb_pipeline.stages.chunks'], ['pydantic'], {})
path = Path('kb_pipeline/rules/ids.py')
print(recipes.outdated())
path.write_text('# touched' + chr(10) + path.read_text())
print(recipes.outdated())
path.write_text(path.read_text().replace('[:32]', '[:31]', 1))
recipes._VERSIONS['pydantic'] = '0.1'
print(recipes.outdated())
"""
    run = [sys.executable, "-c", code]
    told = subprocess.run(run, cwd=package.parent, capture_output=True, text=True, check=True).stdout
    assert told.splitlines() == ["[]", "[]", "['kb_pipeline.rules.ids', 'pydantic']"]


def test_code_elsewhere_does_not_count(package: Path) -> None:
    """An edited module that the stage does not reach changes nothing."""
    before = of(package)
    path = package / "faces" / "cli.py"
    path.write_text(path.read_text() + "\nX = 1\n")
    assert of(package) == before


def test_what_another_process_knew_counts_while_a_file_is_the_same(package: Path) -> None:
    """A tree is taken over from another process only with the size, mtime and Python that it was read with."""
    told = subprocess.run(
        [sys.executable, "-c", TELL], cwd=package.parent, capture_output=True, text=True, check=True
    ).stdout.split()
    equal, from_cache, touched, other_python = told
    assert equal != from_cache
    assert [touched, other_python] == [equal, equal]


def test_facts_and_libraries_count() -> None:
    """Settings and versions of named libraries are part of the recipe."""
    base = recipe(["kb_pipeline.rules.ids"], [], {"n": 1})
    assert recipe(["kb_pipeline.rules.ids"], [], {"n": 2}) != base
    assert recipe(["kb_pipeline.rules.ids"], ["pydantic"], {"n": 1}) != base
    assert recipe(["kb_pipeline.rules.ids"], [], {"n": 1}) == base
