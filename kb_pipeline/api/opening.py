"""The World made real from the settings: which engine, which embedder, and what both leave on disk. Runs nothing."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Self

from kb_pipeline.engines import open_engine
from kb_pipeline.records import Spent
from kb_pipeline.services.caching import CachedEmbedder
from kb_pipeline.services.embedder import embedder_of, open_embedder
from kb_pipeline.services.fetcher import HttpFetcher
from kb_pipeline.services.pool import WorkerPool, processors
from kb_pipeline.services.sandbox import SandboxConverter
from kb_pipeline.settings import Settings
from kb_pipeline.store.index import LocalIndex
from kb_pipeline.store.kb import Kb
from kb_pipeline.store.logs import Log
from kb_pipeline.store.replies import Replies
from kb_pipeline.store.vectors import VectorCache
from kb_pipeline.world import World

if TYPE_CHECKING:
    from kb_pipeline.services.endpoint import OpenEndpoint

LEDGER, REJECTS = "ledger.jsonl", "rejects.jsonl"


class SystemClock:
    """The time of this machine."""

    def now(self) -> datetime:
        """The current time in UTC."""
        return datetime.now(UTC)


@dataclass
class Opened:
    """What was opened for one knowledge base."""

    settings: Settings
    kb: Kb

    @cached_property
    def endpoint(self) -> "OpenEndpoint | None":
        """The endpoint that the settings name; nothing is sent before the first question."""
        if self.settings.endpoint is None:
            return None
        from kb_pipeline.services.endpoint import open_endpoint  # of no use, and 20 ms, to who asks no model

        return open_endpoint(
            self.settings.endpoint,
            replies=Replies(self.kb.folder / "replies"),
            memory=self.kb,
            clock=SystemClock(),
            ledger=self.log(LEDGER).append,
            rejects=self.log(REJECTS).append,
        )

    def log(self, name: str) -> Log:
        """A log under ``kb/logs/``."""
        return Log(self.kb.folder / "logs" / name)

    @cached_property
    def world(self) -> World:
        """The world of one who builds."""
        options = self.settings.options
        endpoint = self.endpoint
        return World(
            settings=self.settings,
            engine=open_engine(self.settings, self._writer, endpoint.client if endpoint else None, self._pool),
            embedder=self._writer,
            converter=SandboxConverter(options.convert_memory_mb, options.convert_seconds, pool=self._pool),
            fetcher=HttpFetcher(),
            index=self._index,
            clock=SystemClock(),
            spent=endpoint.spent if endpoint else Spent,
            pool=self._pool,
        )

    @cached_property
    def _pool(self) -> WorkerPool:
        wanted = self.settings.options.workers
        return WorkerPool(processors() if wanted is None else wanted)

    @cached_property
    def _index(self) -> LocalIndex:
        return LocalIndex(
            self.kb.folder / "index",
            embedder=self._writer.name,
            dim=self._writer.dim,
            retained=self.settings.options.retained_generations,
            given=self.kb.evaluated,
            pool=self._pool,
        )

    @cached_property
    def _writer(self) -> CachedEmbedder:
        return self._embedder(read_only=False)

    @cached_property
    def reader(self) -> World:
        """The world of one who only asks: a query's vector leaves no trace on disk."""
        return replace(self.world, embedder=self._embedder(read_only=True))

    def within(self, settings: Settings) -> Self:
        """The same, opened once, for one who may read the sources of ``settings`` alone."""
        index = self._index.within(frozenset(source.id for source in settings.sources))
        seen = replace(self, settings=settings)
        vars(seen)["endpoint"] = self.endpoint
        vars(seen)["world"] = replace(self.world, settings=settings, index=index)
        vars(seen)["reader"] = replace(self.reader, settings=settings, index=index)
        return seen

    def warm(self) -> None:
        """Start loading the model for what will be built."""
        self._writer.warm()

    def _embedder(self, *, read_only: bool) -> CachedEmbedder:
        def cache(dim: int) -> VectorCache:
            return VectorCache(self.kb.cache / "vectors", dim, read_only=read_only)

        made = self.endpoint.embedder if self.endpoint else None
        return open_embedder(embedder_of(self.settings), cache, made)

    def close(self) -> None:
        """End worker processes, inference threads and connections."""
        closers: list[Callable[[], None]] = []
        if "world" in vars(self):
            closers += [self.world.fetcher.close, self.world.converter.close, self.world.embedder.close]
            closers.append(self.world.pool.close)
        if "reader" in vars(self):
            closers.append(self.reader.embedder.close)
        if vars(self).get("endpoint") is not None:
            closers.append(self.endpoint.close)  # type: ignore[union-attr]
        for close in closers:
            close()
