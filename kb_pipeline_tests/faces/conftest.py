"""What tests of faces share."""

import shutil
from pathlib import Path

import pytest

from kb_pipeline_tests import two_projects


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two projects, compiled once; not to be changed."""
    return two_projects.build(tmp_path_factory.mktemp("two") / "base")


@pytest.fixture
def root(compiled: Path, tmp_path: Path) -> Path:
    """Two projects of one's own, in which nothing was asked yet."""
    return Path(shutil.copytree(compiled, tmp_path / "base", ignore=shutil.ignore_patterns("queries", "answers")))
