"""Asking a model: kept replies first, then the endpoint, within limits of rate, time and money.

Owns the course of a question; how one is put and read is ``ladder``, sent ``wire``, paced ``limits``, paid ``ledger``.
Knows no task: prompts and shapes come from the engine.
"""

import asyncio
import json
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Event
from typing import Any, TypeVar, cast

from kb_pipeline.errors import EndpointUnusable, KbError, ModelError, RunStopped, SettingsError
from kb_pipeline.prompts import render
from kb_pipeline.records import Ask, Record
from kb_pipeline.rules.ids import digest_json
from kb_pipeline.services.background import Background
from kb_pipeline.services.forms import Forms, Memory
from kb_pipeline.services.kept import facts, model_error, replayed, written
from kb_pipeline.services.ladder import Form, Heard, Outcome, Turn, hear, request, strict_schema
from kb_pipeline.services.ledger import Ledger, Tokens, estimate
from kb_pipeline.services.limits import Pace
from kb_pipeline.services.patience import tried
from kb_pipeline.services.wire import Failed, Wire, tokens_of
from kb_pipeline.settings import Endpoint
from kb_pipeline.world import Clock, Replies

R = TypeVar("R", bound=Record)
Result = Record | ModelError
Line = Mapping[str, Any]

_LOG = logging.getLogger(__name__)
_SLOW = 30.0  # s after which a request is named in the log
_PATIENCE = 5  # questions in a row that nobody answered, after which nobody is asked any more
_TOKENS_A_MESSAGE = 16
# Failures that asking again would not mend.
_FINAL: Mapping[str, Outcome] = {"long": "cut", "filtered": "refused", "empty": "invalid"}
_DOWN = "Check that it runs, KB_LLM_BASE_URL (most end in /v1), KB_LLM_API_KEY and KB_LLM_MODEL; then build again."
_ENDED = {
    "timeout": "Raise KB_LLM_TIMEOUT or lower KB_LLM_CONCURRENCY; then build again.",
    "busy": "Lower KB_LLM_CONCURRENCY or set KB_LLM_RPM; then build again.",
}


@dataclass
class _Job:
    """The questions of one ``ask`` that no kept reply answers."""

    shape: type[Record]
    todo: deque[tuple[str, Ask]]
    results: dict[str, "Future[Result]"]
    ended: Event = field(default_factory=Event)


class ModelClient:
    """A ``world.ChatClient`` over ``endpoint``. Safe for threads, which share its limits.

    ``reject`` is told of each reply that could not be used. ``first_wait`` is the first pause after a fault, in s.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        replies: Replies,
        ledger: Ledger,
        memory: Memory,
        clock: Clock,
        reject: Callable[[Line], None],
        first_wait: float = 0.5,
    ) -> None:
        self._endpoint, self._replies, self.ledger, self._clock = endpoint, replies, ledger, clock
        self._reject, self._first_wait = reject, first_wait
        self._wire, self._forms = Wire(endpoint), Forms(endpoint.base_url, memory)
        self._pace = Pace(endpoint.rpm, endpoint.tpm)
        self._slots = asyncio.Semaphore(endpoint.concurrency)
        self._background = Background("kb-model")
        self._unanswered, self._patience = 0, 1

    def model(self, task: str) -> str:
        """The model that answers ``task``. Raises ``SettingsError`` where none is named."""
        model = self._endpoint.model_of(task)
        if not model:
            cure = f"Set KB_LLM_MODEL, or KB_LLM_MODEL_{task.upper()}."
            raise SettingsError(f"no model is named for {task}.", where="KB_LLM_MODEL", cure=cure)
        return model

    def key(self, ask: Ask, shape: type[Record]) -> str:
        """What a reply is kept under: prompt, model, parameters and schema; neither source nor document."""
        return digest_json(
            {
                "model": self.model(ask.task),
                "system": ask.system,
                "user": ask.user,
                "max_tokens": ask.max_tokens,
                "temperature": 0,
                "schema": strict_schema(shape),
            }
        )

    def kept(self, ask: Ask, shape: type[R]) -> R | ModelError | None:
        """The kept reply to ``ask``, or None where it would be sent."""
        text = self._replies.get(self.key(ask, shape))
        return replayed(text, ask, shape) if text is not None else None

    def ask(self, asks: Sequence[Ask], shape: type[R]) -> Iterator[R | ModelError]:
        """One validated reply an ask, in order, asked side by side; a ``ModelError`` in place of one that failed.

        Replies that are kept cost nothing; a final failure (``cut``, ``refused``, ``invalid``) is kept like a reply.
        Raises ``RunStopped`` (``BudgetSpent``, ``EndpointUnusable``) in place of the first question that nobody
        answers any more; what was under way has been waited for and kept by then.
        """
        keys = [self.key(ask, shape) for ask in asks]
        known: dict[str, R | ModelError] = {}
        todo: dict[str, Ask] = {}
        for key, ask in zip(keys, asks, strict=True):
            if key not in known and key not in todo:
                text = self._replies.get(key)
                result = replayed(text, ask, shape) if text is not None else None
                if result is None:
                    todo[key] = ask
                else:
                    known[key] = result
        job = _Job(shape, deque(todo.items()), {key: Future() for key in todo})
        running = self._background.submit(self._serve(job)) if todo else None
        last = {key: n for n, key in enumerate(keys)}
        try:
            for n, key in enumerate(keys):
                yield known[key] if key in known else cast(R | ModelError, job.results[key].result())
                if n == last[key]:  # what was handed over is not held any more
                    known.pop(key, None)
                    job.results.pop(key, None)
        finally:
            if running is not None and not job.ended.is_set():
                running.cancel()
                job.ended.wait(5)

    def close(self) -> None:
        """End connections and the thread; requests under way are dropped."""
        self._background.close(self._wire.close)

    # --- in the event loop ---------------------------------------------------------------------------------------

    async def _serve(self, job: _Job) -> None:
        """Answer all questions of ``job``, as many side by side as the endpoint may be asked."""
        stopped: list[Exception] = []

        async def work() -> None:
            while job.todo and not stopped:
                async with self._slots:
                    if not job.todo or stopped:
                        return
                    key, ask = job.todo.popleft()
                    try:
                        job.results[key].set_result(await self._answer(key, ask, job.shape))
                    except KbError as error:  # no money, no endpoint, no disk: what is under way may finish
                        stopped.append(error)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self._endpoint.concurrency, len(job.todo))):
                    group.create_task(work())
        except BaseExceptionGroup as errors:
            stopped.append(cast(Exception, errors.exceptions[0]))
        finally:
            for result in list(job.results.values()):
                if not result.done():
                    result.set_exception(stopped[0] if stopped else RunStopped("the build was interrupted."))
            job.ended.set()

    async def _answer(self, key: str, ask: Ask, shape: type[Record]) -> Result:
        """The reply to one question, kept."""
        model = self.model(ask.task)
        try:
            if not self._forms.known(model):
                async with self._forms.learning(model):
                    if not self._forms.known(model):
                        return await self._settled(key, ask, shape)
            return await self._settled(key, ask, shape)
        except Failed as failed:
            return self._given_up(ask, failed)

    async def _settled(self, key: str, ask: Ask, shape: type[Record]) -> Result:
        try:
            heard = await self._converse(ask, shape)
        except Failed as failed:
            if failed.kind not in _FINAL:
                raise
            heard = Heard(_FINAL[failed.kind], "", detail=failed.detail)
        told = facts(heard, ask, self.model(ask.task))
        if heard.outcome in {"refused", "invalid"}:  # who asked for what was cut may halve the question
            self._reject({**self._about(ask), **told, "key": key, "reply": heard.text})
        await asyncio.to_thread(self._replies.put, key, written(told))
        return heard.record if heard.record is not None else model_error(heard.outcome, heard.detail, ask)

    def _given_up(self, ask: Ask, failed: Failed) -> ModelError:
        """Why a question has no reply. Raises ``EndpointUnusable`` where the next one would have none either."""
        if failed.kind in {"unsupported", "parameter"}:  # not kept: another release of the server may take it
            return model_error("invalid", failed.detail, ask)
        self._unanswered += 1
        if failed.kind == "unusable" or self._unanswered >= self._patience:
            what = f"the endpoint does not answer: {failed.detail}."
            raise EndpointUnusable(what, where=self._endpoint.base_url, cure=_ENDED.get(failed.kind, _DOWN))
        return model_error("unavailable", failed.detail, ask)

    async def _converse(self, ask: Ask, shape: type[Record]) -> Heard:
        """Ask in the form that the endpoint takes, finding it out where it is not known; one repair turn."""
        model = self.model(ask.task)
        messages = ({"role": "system", "content": ask.system}, {"role": "user", "content": ask.user})
        turn = Turn(model, messages, shape, ask.max_tokens)
        form, proven = self._forms.of(model, shape), self._forms.known(model)
        while True:
            try:
                heard = await self._tried(ask, turn, form)
            except Failed as failed:
                other = _other(form, failed, proven)
                if other is None:
                    raise
                form, proven = other, False
                continue
            if heard.outcome != "invalid" or proven or form.below is None:
                break
            form = form.below  # a server that does not know a form often ignores it
        if heard.outcome == "invalid":
            heard = await self._repaired(ask, turn, form, heard)
        if heard.record is not None:
            self._forms.learn(model, shape, form)
        elif heard.outcome == "invalid" and not proven:
            self._forms.missed(model)
        return heard

    async def _repaired(self, ask: Ask, turn: Turn, form: Form, heard: Heard) -> Heard:
        """One turn more, with what was wrong."""
        prompt = render("repair", error=heard.detail)
        ask = ask.model_copy(update={"version": f"{ask.version}+{prompt.version}"})
        return await self._tried(ask, turn.after(heard.text, f"{prompt.system}\n\n{prompt.user}"), form)

    async def _tried(self, ask: Ask, turn: Turn, form: Form) -> Heard:
        """One turn, tried again through trouble that passes. Raises ``Failed``."""
        heard = await tried(lambda: self._once(ask, turn, form), self._pace, self._first_wait)
        self._unanswered, self._patience = 0, _PATIENCE
        return heard

    async def _once(self, ask: Ask, turn: Turn, form: Form) -> Heard:
        """One request and its line in the ledger. Raises ``Failed`` and ``BudgetSpent``."""
        body = request(turn, form)
        most = Tokens(estimate(json.dumps(body, ensure_ascii=False)) + _TOKENS_A_MESSAGE, turn.max_tokens)
        await self._pace.turn(most.total)
        held = await self.ledger.room(turn.model, most)
        began = time.monotonic()
        slow = asyncio.get_running_loop().call_later(_SLOW, self._name_slow, ask, turn.model)
        outcome, detail, spent = "cancelled", "", Tokens(most.sent)
        try:
            reply = await self._wire.chat(body)
            spent = tokens_of(reply) or Tokens(most.sent, estimate(json.dumps(reply.get("choices"))))
            outcome = "empty"
            heard = hear(reply, turn.shape)
            outcome, detail = heard.outcome, heard.detail
            return heard
        except Failed as failed:
            if failed.kind not in {"timeout", "empty"}:  # who hung may have thought, and what was thought is paid
                spent = Tokens()
            outcome, detail = failed.kind, failed.detail
            raise
        finally:
            slow.cancel()
            self._pace.correct(most.total, spent.total)
            line = {
                "rung": form.rung,
                "seconds": round(time.monotonic() - began, 3),
                "outcome": outcome,
                "detail": detail,
            }
            held.settle(spent, {**self._about(ask), **line})

    def _name_slow(self, ask: Ask, model: str) -> None:
        _LOG.warning("%s of %s: %s has not replied for %g s", ask.task, ask.doc_id or "a pair", model, _SLOW)

    def _about(self, ask: Ask) -> dict[str, Any]:
        at = self._clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
        about = {"task": ask.task, "source": ask.source_id, "document": ask.doc_id, "prompt": ask.version}
        return {"at": at, **about}


def _other(form: Form, failed: Failed, proven: bool) -> Form | None:
    """Another form to ask in where this one may be what failed."""
    if failed.kind == "parameter":
        return form.without(failed.parameter) or form.below
    crashed = failed.kind == "fault" and not proven and failed.detail.startswith("HTTP 500")
    return form.below if failed.kind == "unsupported" or crashed else None
