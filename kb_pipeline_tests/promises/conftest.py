"""One knowledge base built through the command line, copied for each test: a first build costs seconds."""

import shutil
from pathlib import Path

import pytest

from kb_pipeline_tests.driving import Cli, new_root
from kb_pipeline_tests.promises.documents import DOCUMENTS, TAXONOMY


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built knowledge base over ``DOCUMENTS``, not to be changed."""
    folder = tmp_path_factory.mktemp("pristine") / "base"
    root = new_root(folder, DOCUMENTS, notes="notes", handbook="handbook")
    (root / "taxonomy.yaml").write_text(TAXONOMY)
    Cli(root).build()
    return root


@pytest.fixture
def cli(pristine: Path, tmp_path: Path) -> Cli:
    """The command line over a copy of the built knowledge base, times of change kept."""
    return Cli(Path(shutil.copytree(pristine, tmp_path / "base")))
