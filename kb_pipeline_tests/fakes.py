"""Fakes that implement the protocols of ``kb_pipeline.world``."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from kb_pipeline.errors import ModelError
from kb_pipeline.records import Ask, Record
from kb_pipeline.settings import Settings
from kb_pipeline.world import Embedder, Index, World
from kb_pipeline_tests.honest import answer

R = TypeVar("R", bound=Record)


@dataclass(frozen=True)
class FixedClock:
    """A clock that stands still."""

    at: datetime = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    def now(self) -> datetime:
        """The fixed time."""
        return self.at


def reading_world(index: Index, embedder: Embedder) -> World:
    """A world that can be searched and nothing else: whatever else it is asked for is missing."""
    absent: Any = None
    return World(Settings(Path()), absent, embedder, absent, absent, index, FixedClock())


@dataclass
class ScriptedChat:
    """A ``ChatClient`` in this process: ``script`` gives each reply as a JSON value, or the error in its place.

    Like the real one it validates shapes and keeps replies; ``asked`` are the questions that none was kept for.
    """

    script: Callable[[Ask], Any]
    models: Mapping[str, str] = field(default_factory=dict)
    asked: list[Ask] = field(default_factory=list)
    replies: dict[tuple[str, str, str, str], Any] = field(default_factory=dict)

    def model(self, task: str) -> str:
        """The model of a task: ``fake`` by default."""
        return self.models.get(task, "fake")

    def ask(self, asks: Sequence[Ask], shape: type[R]) -> Iterator[R | ModelError]:
        """One reply an ask, in order."""
        for ask in asks:
            reply = self.kept(ask, shape)
            if reply is None:
                self.asked.append(ask)
                reply = self._reply(ask, shape)
            if not isinstance(reply, ModelError) or reply.code != "unavailable":
                self.replies[self._key(ask, shape)] = reply
            yield reply

    def kept(self, ask: Ask, shape: type[R]) -> R | ModelError | None:
        """The reply that was kept, if one was."""
        return cast(R | ModelError | None, self.replies.get(self._key(ask, shape)))

    def _key(self, ask: Ask, shape: type[R]) -> tuple[str, str, str, str]:
        return self.model(ask.task), ask.system, ask.user, shape.__name__

    def _reply(self, ask: Ask, shape: type[R]) -> R | ModelError:
        found = self.script(ask)
        if isinstance(found, ModelError):
            return found
        try:
            return shape.model_validate_json(json.dumps(found))
        except ValidationError as error:
            return ModelError(str(error), code="invalid")

    def tasks(self) -> Counter[str]:
        """How often each task was asked."""
        return Counter(ask.task for ask in self.asked)


def honestly(ask: Ask) -> Any:
    """The honest model's reply."""
    return answer(ask.system, ask.user)
