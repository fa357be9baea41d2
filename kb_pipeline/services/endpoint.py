"""An endpoint opened: the client, the embedder and the ledger that both share. Knows no place on disk."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kb_pipeline.records import Spent
from kb_pipeline.services.endpoint_embedder import EndpointEmbedder
from kb_pipeline.services.forms import Memory
from kb_pipeline.services.ledger import Ledger
from kb_pipeline.services.model import ModelClient
from kb_pipeline.services.prices import prices
from kb_pipeline.settings import Endpoint
from kb_pipeline.world import Clock, Replies

Append = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True)
class OpenEndpoint:
    """What asks one endpoint, within one budget. ``embedder`` makes the embedder when it is first needed."""

    client: ModelClient
    embedder: Callable[[], EndpointEmbedder]
    spent: Callable[[], Spent]

    def close(self) -> None:
        """End connections and threads; the embedder belongs to whoever had it made."""
        self.client.close()


def open_endpoint(
    endpoint: Endpoint, *, replies: Replies, memory: Memory, clock: Clock, ledger: Append, rejects: Append
) -> OpenEndpoint:
    """``endpoint`` opened; nothing is sent before the first question.

    ``ledger`` keeps one line a request, ``rejects`` the replies that could not be used.
    """
    book = Ledger(endpoint, ledger, prices(endpoint.base_url))
    client = ModelClient(endpoint, replies=replies, ledger=book, memory=memory, clock=clock, reject=rejects)

    def embedder() -> EndpointEmbedder:
        return EndpointEmbedder(endpoint, ledger=book, memory=memory, clock=clock)

    return OpenEndpoint(client, embedder, book.totals)
