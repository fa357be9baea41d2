"""Vectors from an endpoint, over real sockets."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kb_pipeline.errors import BudgetSpent, EndpointUnusable
from kb_pipeline.services.caching import CachedEmbedder
from kb_pipeline.services.embedder import embedder_of, open_embedder
from kb_pipeline.services.endpoint import OpenEndpoint, open_endpoint
from kb_pipeline.settings import Endpoint, Settings
from kb_pipeline.store.replies import Replies
from kb_pipeline.store.vectors import VectorCache
from kb_pipeline_tests.driving import compile_all, new_root
from kb_pipeline_tests.driving import opened as driven
from kb_pipeline_tests.endpoint import FakeEndpoint, hashed_vectors, serve
from kb_pipeline_tests.fakes import FixedClock
from kb_pipeline_tests.services.asking import Kept


@pytest.fixture
def server() -> Iterator[FakeEndpoint]:
    """A running endpoint."""
    with serve() as endpoint:
        yield endpoint


@contextmanager
def opened(
    server: FakeEndpoint, folder: Path, memory: Kept, **settings: Any
) -> Iterator[tuple[CachedEmbedder, OpenEndpoint]]:
    """An embedder over vectors kept in ``folder``, and the endpoint it asks."""
    told: dict[str, Any] = {"base_url": server.url, "embed_model": "vectors-1"} | settings
    asked = open_endpoint(
        Endpoint(**told),
        replies=Replies(folder / "replies"),
        memory=memory,
        clock=FixedClock(),
        ledger=memory.values.setdefault("lines", []).append,
        rejects=lambda _: None,
    )
    with open_embedder("endpoint", lambda dim: VectorCache(folder / "vectors", dim), asked.embedder) as embedder:
        yield embedder, asked


def test_each_text_gets_its_vector(server: FakeEndpoint, tmp_path: Path) -> None:
    """Vectors come back as unit vectors in the order of the texts, however many batches they took."""
    texts = [f"text {n}" for n in range(150)]
    with opened(server, tmp_path, Kept()) as (embedder, asked):
        vectors = embedder.embed(texts)
        assert asked.spent().calls == server.count() == 1 + 3
    expected = np.array(hashed_vectors(texts, 16))
    assert np.allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)


def test_what_is_cached_is_not_asked_for(server: FakeEndpoint, tmp_path: Path) -> None:
    """A second process that remembers the length asks for nothing that the first one embedded."""
    memory = Kept()
    with opened(server, tmp_path, memory) as (embedder, _):
        embedder.embed(["a", "b"])
    before = server.count()
    with opened(server, tmp_path, memory) as (embedder, _):
        assert embedder.dim == 16
        embedder.embed(["b", "a"])
        assert server.count() == before
        embedder.embed(["c"])
    assert server.count() == before + 1


def test_another_model_has_vectors_of_its_own(server: FakeEndpoint, tmp_path: Path) -> None:
    """Vectors of two models, even of two lengths, share one cache and are never mixed up."""
    memory = Kept()
    with opened(server, tmp_path, memory) as (embedder, _):
        first, name = embedder.embed(["a"]), embedder.name
    server.set(dim=24)
    with opened(server, tmp_path, memory, embed_model="vectors-2") as (embedder, _):
        assert embedder.embed(["a"]).shape == (1, 24)
        assert embedder.name != name
    with opened(server, tmp_path, memory) as (embedder, _):
        assert np.array_equal(embedder.embed(["a"]), first)


def test_a_model_that_changed_its_length_is_refused(server: FakeEndpoint, tmp_path: Path) -> None:
    """Another model behind the same name is not mixed with the vectors of the first."""
    with opened(server, tmp_path, Kept()) as (embedder, _):
        server.set(dim=24)
        with pytest.raises(EndpointUnusable, match="24 numbers now, not of 16"):
            embedder.embed(["a"])


@pytest.mark.parametrize("fault", ["429", "500", "reset", "truncated_body", "no_data"])
def test_trouble_that_passes_is_tried_again(server: FakeEndpoint, tmp_path: Path, fault: str) -> None:
    """A fault of the moment costs a second request."""
    with opened(server, tmp_path, Kept()) as (embedder, _):
        server.fault(fault)
        assert embedder.embed(["a"]).shape == (1, 16)
    assert server.count() == 3


def test_an_endpoint_without_embeddings_is_named(server: FakeEndpoint, tmp_path: Path) -> None:
    """Where the model is unknown, opening says so with the variable to look at."""
    server.fault("404", times=9)
    with pytest.raises(EndpointUnusable, match="KB_EMBED_MODEL"), opened(server, tmp_path, Kept()):
        pass


def test_the_budget_holds_for_vectors(server: FakeEndpoint, tmp_path: Path) -> None:
    """No request for vectors is sent that could exceed the budget."""
    with opened(server, tmp_path, Kept(), budget_tokens=100) as (embedder, _):
        embedder.embed(["a"])
        before = server.count()
        with pytest.raises(BudgetSpent):
            embedder.embed(["a long text " * 50])
        assert server.count() == before


def test_the_settings_choose_the_embedder() -> None:
    """``KB_EMBED_MODEL`` chooses the endpoint's vectors; without it the option does."""
    endpoint = Endpoint(base_url="http://localhost:1/v1", model="m")
    assert embedder_of(Settings(Path(), endpoint=endpoint)) == "minilm"
    assert embedder_of(Settings(Path(), endpoint=endpoint.model_copy(update={"embed_model": "v"}))) == "endpoint"


NOTES = {
    "notes/queue.md": "# Queue\n\nThe ingest queue holds at most 500 jobs. A job waits 30 seconds before a retry.\n",
    "notes/limits.md": "# Limits\n\nThe API allows 60 requests per minute per key. Uploads over 20 MB are refused.\n",
}


def test_another_embedding_model_embeds_anew_and_nothing_else(server: FakeEndpoint, tmp_path: Path) -> None:
    """A change of ``KB_EMBED_MODEL`` reads no document again and asks no other model; its index answers with the new
    vectors, and what every request cost stands in the stages' reports.
    """
    root = new_root(tmp_path / "base", NOTES)
    environ = {"KB_LLM_BASE_URL": server.url, "KB_ENGINE": "extractive"}
    for model in ("vectors-1", "vectors-2"):
        before = server.count()
        with driven(root, KB_EMBED_MODEL=model, **environ) as base:
            reports, stale = compile_all(base)
            assert bool(stale.sources) == (model == "vectors-1")
            assert sum(report.calls for report in reports) == server.count() - before - 1
            assert base.search("requests per minute").hits
    assert {report.stage for report in reports} == {"dedup", "tags", "pages", "wiki", "index", "eval", "live"}
    assert {(call["path"], call["model"]) for call in server.calls()[before:]} == {("/v1/embeddings", "vectors-2")}
    with driven(root, KB_EMBED_MODEL="vectors-1", **environ) as base:
        before = server.count()
        compile_all(base)
        assert server.count() == before
