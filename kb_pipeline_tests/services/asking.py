"""A model client over a fake endpoint, with everything it leaves behind in sight."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from kb_pipeline.errors import ModelError
from kb_pipeline.records import Ask, Record
from kb_pipeline.services.ledger import Ledger
from kb_pipeline.services.model import ModelClient
from kb_pipeline.services.prices import prices
from kb_pipeline.settings import Endpoint
from kb_pipeline.store.replies import Replies
from kb_pipeline_tests.endpoint import FakeEndpoint, serve
from kb_pipeline_tests.fakes import FixedClock

KEY = "sk-not-to-be-seen"


class Echo(Record):
    """What the rule ``echo`` says."""

    text: str
    length: int


@dataclass
class Kept:
    """Values by name, as long as a test lasts."""

    values: dict[str, Any] = field(default_factory=dict)

    def state(self, name: str) -> Any:
        """A value, or None."""
        return self.values.get(name)

    def keep_state(self, name: str, value: Any) -> None:
        """Keep a value."""
        self.values[name] = value


@dataclass
class Desk:
    """A client, the endpoint it asks, and what came of it."""

    endpoint: FakeEndpoint
    folder: Path
    memory: Kept = field(default_factory=Kept)
    lines: list[dict[str, Any]] = field(default_factory=list)
    rejects: list[dict[str, Any]] = field(default_factory=list)

    @contextmanager
    def client(self, **settings: Any) -> Iterator[ModelClient]:
        """A client with these settings of ``Endpoint``, over the same kept replies and memory."""
        told: dict[str, Any] = {"base_url": self.endpoint.url, "model": "gpt-4o-mini", "timeout": 10.0} | settings
        endpoint = Endpoint(api_key=SecretStr(KEY), **told)
        client = ModelClient(
            endpoint,
            replies=Replies(self.folder / "replies"),
            ledger=Ledger(endpoint, lambda line: self.lines.append(dict(line)), prices(endpoint.base_url)),
            memory=self.memory,
            clock=FixedClock(),
            reject=lambda line: self.rejects.append(dict(line)),
            first_wait=0.001,
        )
        try:
            yield client
        finally:
            client.close()

    def ask(self, *texts: str, **settings: Any) -> list[Echo | ModelError]:
        """What a fresh client answers."""
        with self.client(**settings) as client:
            return list(client.ask(asks(texts), Echo))

    def warm(self) -> None:
        """Ask once, so that the endpoint's form is known."""
        self.ask("warm")

    def outcomes(self) -> list[str]:
        """The outcome of every request so far."""
        return [line["outcome"] for line in self.lines]


def asks(texts: Sequence[str], task: str = "extract") -> list[Ask]:
    """A question for each text, of a document of that name."""
    return [
        Ask(
            task=task,
            version="v1",
            system="Echo.",
            user=text,
            max_tokens=100,
            source_id="notes",
            doc_id=f"notes/{text}",
        )
        for text in texts
    ]


@contextmanager
def desk(folder: Path, **settings: Any) -> Iterator[Desk]:
    """A desk at an endpoint of its own."""
    with serve(**settings) as endpoint:
        yield Desk(endpoint, folder)
