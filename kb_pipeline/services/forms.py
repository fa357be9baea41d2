"""Which form of request an endpoint takes, tried once and remembered. Asks nothing itself."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any, Protocol

from kb_pipeline.records import Record
from kb_pipeline.rules.ids import digest_json
from kb_pipeline.services.ladder import RUNGS, Form, strict_schema

_NAME = "endpoint"
_HOPELESS = 3


class Memory(Protocol):
    """Values that this machine keeps by name; losing them costs a few requests."""

    def state(self, name: str) -> Any:
        """A value, or what is false where there is none."""

    def keep_state(self, name: str, value: Any) -> None:
        """Keep a value."""


class Forms:
    """The form that each model of one endpoint takes; a shape that needs another one has its own entry."""

    def __init__(self, base_url: str, memory: Memory) -> None:
        self._base_url, self._memory = base_url, memory
        self._forms: dict[str, Form] = {}
        for name, value in dict(memory.state(_NAME) or {}).items():
            form = _form(value)
            if form is not None:
                self._forms[name] = form
        self._missed: Counter[str] = Counter()
        self._learning: dict[str, asyncio.Lock] = {}

    def known(self, model: str) -> bool:
        """Whether a form of the model is known."""
        return self._general(model) in self._forms

    def of(self, model: str, shape: type[Record]) -> Form:
        """The form to ask with: the strictest one where none is known."""
        return self._forms.get(self._special(model, shape)) or self._forms.get(self._general(model)) or Form()

    def learning(self, model: str) -> asyncio.Lock:
        """Held by the one who finds out, so that not everybody does."""
        return self._learning.setdefault(model, asyncio.Lock())

    def learn(self, model: str, shape: type[Record], form: Form) -> None:
        """Remember that a form was answered."""
        if form == self.of(model, shape) and self.known(model):
            return
        self._forms[self._special(model, shape) if self.known(model) else self._general(model)] = form
        self._memory.keep_state(_NAME, {name: vars(form) for name, form in sorted(self._forms.items())})

    def missed(self, model: str) -> None:
        """Count a question that no form got an answer to. After three of them the loosest form is taken, as long as
        this process lives, so that not every question climbs down the whole ladder alone."""
        self._missed[model] += 1
        if self._missed[model] >= _HOPELESS:
            self._forms.setdefault(self._general(model), Form(RUNGS[-1]))

    def _general(self, model: str) -> str:
        return f"{self._base_url} {model}"

    def _special(self, model: str, shape: type[Record]) -> str:
        return f"{self._base_url} {model} {digest_json(strict_schema(shape))}"


def _form(value: Any) -> Form | None:
    """A form as it was kept; None for what another release may have kept."""
    try:
        return Form(**value) if isinstance(value, Mapping) and value.get("rung") in RUNGS else None
    except TypeError:
        return None
