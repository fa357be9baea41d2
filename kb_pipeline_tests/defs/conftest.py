"""A small knowledge base of two sources, and a daemon over it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from dagster import DagsterInstance

from kb_pipeline_tests.defs.ticking import Daemon
from kb_pipeline_tests.driving import new_root

DOCUMENTS = {
    "notes/paging.md": "# Paging\n\nThe default block size is 16 tokens. A table maps logical to physical blocks.\n",
    "book/quotas.md": "# Quotas\n\nThe gateway allows 600 requests a minute. A burst may reach 900 requests.\n",
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A knowledge base of the sources ``notes`` and ``book``, with hashed embeddings, as the working folder."""
    monkeypatch.setenv("KB_EMBEDDER", "hashing")
    folder = new_root(tmp_path / "root", DOCUMENTS, notes="notes", book="book")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def instance() -> Iterator[DagsterInstance]:
    """An instance that lives as long as the test."""
    with DagsterInstance.ephemeral() as made:
        yield made


@pytest.fixture
def daemon(root: Path, instance: DagsterInstance) -> Daemon:
    """A daemon over ``root`` that has not looked yet."""
    return Daemon(root, instance)
