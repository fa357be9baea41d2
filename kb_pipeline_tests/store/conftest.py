"""Fixtures of the store's tests."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kb_pipeline.world import Index
from kb_pipeline_tests.store.backends import BACKENDS


@pytest.fixture(params=BACKENDS)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Index]:
    """Opens the same index for an embedder's name."""
    backend = BACKENDS[request.param]
    return lambda embedder: backend(tmp_path, embedder)


@pytest.fixture
def index(make: Callable[[str], Index]) -> Index:
    """A new index."""
    return make("unit-8")
