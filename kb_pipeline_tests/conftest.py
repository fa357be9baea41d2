"""Fixtures that many tests share."""

from pathlib import Path

import pytest

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real files beside the checkout; a test that needs it skips where it is absent."""
    if not CORPUS.is_dir():
        pytest.skip("the shared corpus is not beside this checkout")
    return CORPUS
