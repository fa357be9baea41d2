"""Vectors from an endpoint's ``/v1/embeddings``. Owns batches and the vectors' length; caches nothing."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from kb_pipeline.errors import EndpointUnusable, KbError, ModelError
from kb_pipeline.services.background import Background
from kb_pipeline.services.forms import Memory
from kb_pipeline.services.ledger import Ledger, Tokens, estimate
from kb_pipeline.services.limits import Pace
from kb_pipeline.services.patience import tried
from kb_pipeline.services.wire import Failed, Wire, tokens_of
from kb_pipeline.settings import Endpoint
from kb_pipeline.world import Clock, Vectors

_BATCH = 64  # texts a request: every server takes as many, and hosted ones answer more no faster
_NAME = "embeddings"
_PROBE = "length"
_CURE = "Check KB_EMBED_MODEL and that the endpoint serves embeddings; then build again."


class EndpointEmbedder:
    """A ``services.caching.Model`` over ``KB_EMBED_MODEL`` of ``endpoint``.

    The vectors' length is asked for once, by one text, and remembered. Raises ``EndpointUnusable`` where nobody
    answers, ``BudgetSpent`` before a request that could exceed the budget.
    """

    def __init__(
        self, endpoint: Endpoint, *, ledger: Ledger, memory: Memory, clock: Clock, first_wait: float = 0.5
    ) -> None:
        self.name = f"endpoint:{endpoint.embed_model}"
        self._endpoint, self._ledger, self._memory, self._clock = endpoint, ledger, memory, clock
        self._wire, self._pace, self._first_wait = Wire(endpoint), Pace(endpoint.rpm, endpoint.tpm), first_wait
        self._slots = asyncio.Semaphore(endpoint.concurrency)
        self._background = Background("kb-embeddings")
        try:
            self.dim = self._known_dim() or self._find_dim()
        except BaseException:
            self.close()
            raise

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape ``(len(texts), dim)``, batches side by side."""
        if not texts:
            return np.zeros((0, self.dim), dtype=np.float32)
        vectors = self._background.submit(self._all(texts)).result()
        if vectors.shape[1] != self.dim:
            raise EndpointUnusable(
                f"{self.name} gives vectors of {vectors.shape[1]} numbers now, not of {self.dim}.",
                where=self._endpoint.base_url,
                cure="Name the new model in KB_EMBED_MODEL, or delete kb/cache to embed everything anew.",
            )
        return vectors

    def warm(self) -> None:
        """Nothing is loaded here."""

    def close(self) -> None:
        """End connections and the thread."""
        self._background.close(self._wire.close)

    def _known_dim(self) -> int:
        return int(dict(self._memory.state(_NAME) or {}).get(self.name, 0))

    def _find_dim(self) -> int:
        dim = int(self._background.submit(self._all([_PROBE])).result().shape[1])
        self._memory.keep_state(_NAME, {**dict(self._memory.state(_NAME) or {}), self.name: dim})
        return dim

    async def _all(self, texts: Sequence[str]) -> Vectors:
        batches = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
        found = await asyncio.gather(*(self._batch(batch) for batch in batches), return_exceptions=True)
        for result in found:
            if isinstance(result, BaseException):
                raise result
        return np.concatenate([result for result in found if not isinstance(result, BaseException)])

    async def _batch(self, texts: Sequence[str]) -> Vectors:
        async with self._slots:
            try:
                return await tried(lambda: self._once(texts), self._pace, self._first_wait)
            except Failed as failed:
                raise self._error(failed) from failed

    async def _once(self, texts: Sequence[str]) -> Vectors:
        most = Tokens(sum(map(estimate, texts)))
        await self._pace.turn(most.total)
        held = await self._ledger.room(self._endpoint.embed_model, most)
        began, outcome, detail, spent = time.monotonic(), "cancelled", "", Tokens()
        try:
            # An empty text is refused by some servers; its vector means nothing anyway.
            request = {"model": self._endpoint.embed_model, "input": [text or " " for text in texts]}
            body = await self._wire.embeddings(request | {"encoding_format": "float"})
            spent = tokens_of(body) or most
            vectors = _vectors(body, len(texts))
            outcome = "ok"
            return vectors
        except Failed as failed:
            outcome, detail = failed.kind, failed.detail
            raise
        finally:
            self._pace.correct(most.total, spent.total)
            at = self._clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
            line: dict[str, Any] = {"at": at, "task": "embed", "source": "", "document": "", "prompt": "", "rung": ""}
            line |= {"seconds": round(time.monotonic() - began, 3), "outcome": outcome, "detail": detail}
            held.settle(spent, line)

    def _error(self, failed: Failed) -> KbError:
        if failed.kind in {"long", "filtered"}:
            return ModelError(f"cannot embed: {failed.detail}.", where=self.name, cure=_CURE, code="invalid")
        what = f"the endpoint gives no vectors: {failed.detail}."
        return EndpointUnusable(what, where=self._endpoint.base_url, cure=_CURE)


def _vectors(body: Any, count: int) -> Vectors:
    """The unit vectors of a reply in the order asked. Raises ``Failed`` where they are not one a text, all as long."""
    try:
        data = sorted(body["data"], key=lambda row: row["index"])
        vectors = np.array([row["embedding"] for row in data], dtype=np.float32)
    except (KeyError, TypeError, ValueError) as error:
        raise Failed("fault", "the reply holds no vectors") from error
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True) if vectors.ndim == 2 else np.zeros(0)
    if len(lengths) != count or not np.isfinite(lengths).all() or not lengths.all():
        raise Failed("fault", "the reply holds no vector for each text")
    return np.asarray(vectors / lengths, dtype=np.float32)
