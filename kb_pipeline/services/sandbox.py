"""The converter made safe: risky formats in worker processes with limits, the others in the pool. Knows no format.

One thread drives all workers, and only while results are asked for: no lock, no queue, nothing to leave behind.
"""

import json
import selectors
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kb_pipeline.convert import convert, is_risky
from kb_pipeline.errors import ConversionError
from kb_pipeline.records import Converted, RawDoc
from kb_pipeline.services.conversion import ANSWER, REQUEST
from kb_pipeline.services.processes import Child, HasChildren
from kb_pipeline.world import Here, Pool

# A worker is replaced after so many documents, or once its memory reached half its limit: parsers leak.
_DOCUMENTS_A_WORKER: Final = 200
# How far the documents are read ahead of the result that is asked for.
_AHEAD_A_WORKER: Final = 4
_AHEAD_BYTES: Final = 64 * 1024 * 1024
_PART: Final = 64  # documents that are not risky: 10 ms of work
_EXCLUDE: Final = "or exclude it in sources.yaml."


class SandboxConverter(HasChildren):
    """``world.Converter`` over ``convert.convert``.

    ``memory_mb`` and ``seconds`` (wall clock, a document) bound a worker; at most ``workers`` work at a time. None is
    started before the first risky document. ``close`` (or leaving a ``with``) ends them; they end by themselves when
    this process does, however it ends. What is not risky goes to ``pool``, which is its owner's to close.
    """

    def __init__(self, memory_mb: int, seconds: float, workers: int = 2, pool: Pool | None = None) -> None:
        self._limits = _Limits(memory_mb, seconds)
        self._workers = workers
        self._pool = pool or Here()
        self._idle: list[_Worker] = []
        self.peak_mb = 0
        """The largest resident memory that any worker reached so far."""

    def convert(self, docs: Sequence[RawDoc]) -> Generator[Converted | Exception, None, None]:
        """One result a document, in order, as they are asked for; ``ConversionError`` for one that failed.

        Workers are given at most 4 documents each, or 64 MB, ahead of the result that is asked for. A document that
        kills or stalls its worker fails alone: the others go on beside it.
        """
        risky = [is_risky(doc) for doc in docs]
        safe = self._pool.map(_converted, [doc for doc, apart in zip(docs, risky, strict=True) if not apart], _PART)
        return self._in_order(risky, [doc for doc, apart in zip(docs, risky, strict=True) if apart], safe)

    def _in_order(
        self, risky: Sequence[bool], docs: Sequence[RawDoc], safe: Iterator[Converted | Exception]
    ) -> Generator[Converted | Exception, None, None]:
        batch = _Batch(self._take, self._give, self._workers)
        apart = batch.run(iter(docs))
        try:
            yield from (next(apart if is_apart else safe) for is_apart in risky)
        finally:
            batch.abandon()

    def close(self) -> None:
        """End the worker processes; none is left when this returns."""
        while self._idle:
            self._idle.pop().end()

    def _take(self) -> "_Worker":
        return self._idle.pop() if self._idle else _Worker(self._limits)

    def _give(self, worker: "_Worker") -> None:
        self.peak_mb = max(self.peak_mb, worker.peak_mb)
        if worker.is_worn or len(self._idle) >= self._workers:
            worker.end()
        else:
            self._idle.append(worker)


@dataclass(frozen=True)
class _Limits:
    memory_mb: int
    seconds: float


@dataclass(eq=False)
class _Slot:
    """A document on its way and, in the end, its result; ``doc`` is let go once there is one."""

    doc: RawDoc
    result: Converted | Exception | None = None
    retried: bool = False


class _Batch:
    """One call of ``convert``: a window of slots in order, the workers that are busy for it."""

    def __init__(self, take: "Callable[[], _Worker]", give: "Callable[[_Worker], None]", workers: int) -> None:
        self._take, self._give, self._workers = take, give, workers
        self._window: deque[_Slot] = deque()
        self._waiting: deque[_Slot] = deque()
        self._busy: dict[_Worker, _Slot] = {}
        self._bytes = 0

    def run(self, docs: Iterator[RawDoc]) -> Iterator[Converted | Exception]:
        """The results in order."""
        more = True
        while more or self._window:
            while more and self._has_room():
                doc = next(docs, None)
                more = doc is not None
                if doc is not None:
                    self._admit(doc)
            while self._window and (result := self._window[0].result) is not None:
                self._bytes -= len(self._window.popleft().doc.content)
                yield result
            if self._window and not (more and self._has_room()):
                self._collect()

    def abandon(self) -> None:
        """End the workers that are still busy: nobody waits for their answers."""
        for worker in self._busy:
            worker.end()
        self._busy.clear()

    def _has_room(self) -> bool:
        return not self._window or (len(self._window) < _AHEAD_A_WORKER * self._workers and self._bytes < _AHEAD_BYTES)

    def _admit(self, doc: RawDoc) -> None:
        """Queue a document."""
        slot = _Slot(doc)
        self._window.append(slot)
        self._bytes += len(doc.content)
        self._waiting.append(slot)
        self._dispatch()

    def _dispatch(self) -> None:
        while self._waiting and len(self._busy) < self._workers:
            slot = self._waiting.popleft()
            worker = self._take()
            self._busy[worker] = slot
            worker.send(slot.doc)

    def _collect(self) -> None:
        """Wait for the next answer and hand out the next document."""
        with selectors.DefaultSelector() as selector:
            for worker in self._busy:
                selector.register(worker.answers, selectors.EVENT_READ, worker)
            ready = [key.data for key, _ in selector.select()]
        for worker in ready:
            slot = self._busy.pop(worker)
            answer = worker.receive()
            if answer is None and worker.may_be_worn_out and not slot.retried:
                # It died of what earlier documents left in it, perhaps: this one gets a fresh worker, once.
                slot.retried = True
                self._waiting.appendleft(slot)
            else:
                slot.result = worker.death(slot.doc) if answer is None else _result(answer, slot.doc)
            if answer is not None:
                self._give(worker)
        self._dispatch()


class _Worker:
    """One process of ``conversion.py`` and the pipes to it."""

    def __init__(self, limits: _Limits) -> None:
        self._limits = limits
        self.served = 0
        self.peak_mb = 0
        self._process = Child("kb_pipeline.services.conversion", str(limits.memory_mb), str(limits.seconds))
        self.answers = self._process.answers

    @property
    def is_worn(self) -> bool:
        """Whether it has done its share or holds too much memory to be given another document."""
        return self.served >= _DOCUMENTS_A_WORKER or self.peak_mb > self._limits.memory_mb // 2

    @property
    def may_be_worn_out(self) -> bool:
        """Whether an earlier document may be to blame for its death: it served some, and time was not the cause."""
        return self.served > 0 and self._process.returncode != -signal.SIGALRM

    def send(self, doc: RawDoc) -> None:
        """Hand over a document; a worker that is dead already is noticed when its answer is read."""
        about = doc.model_dump_json(exclude={"content"}).encode()
        try:
            self._process.requests.write(REQUEST.pack(len(about), len(doc.content)) + about)
            self._process.requests.write(doc.content)
            self._process.requests.flush()
        except OSError:
            return

    def receive(self) -> dict[str, Any] | None:
        """The answer, or ``None`` where the worker died instead; it is waited for then."""
        head = self.answers.read(ANSWER.size)
        payload = self.answers.read(*ANSWER.unpack(head)) if len(head) == ANSWER.size else b""
        try:
            answer: dict[str, Any] = json.loads(payload)
        except ValueError:
            self.end()
            return None
        self.served += 1
        self.peak_mb = answer["peak_mb"]
        return answer

    def death(self, doc: RawDoc) -> ConversionError:
        """Why the worker died over ``doc``."""
        code = self._process.returncode
        if code == -signal.SIGALRM:
            what = f"it took longer than {self._limits.seconds:g} s to convert."
            cure = f"Raise convert_seconds if you trust it, {_EXCLUDE}"
        else:
            what = f"its conversion crashed ({_cause(code)}), most likely at the limit of {self._limits.memory_mb} MB."
            cure = f"Raise convert_memory_mb if you trust it, {_EXCLUDE}"
        return ConversionError(what, where=doc.doc_id, cure=cure)

    def end(self) -> None:
        """Kill the process, wait for it, close the pipes."""
        self._process.end()


def _cause(code: int | None) -> str:
    try:
        return signal.Signals(-(code or 0)).name
    except ValueError:
        return f"exit {code}"


def _converted(doc: RawDoc) -> Converted | Exception:
    try:
        return convert(doc)
    except ConversionError as error:
        return error
    except Exception as error:  # noqa: BLE001 (one document fails alone)
        return _fault(type(error).__name__, doc)


def _result(answer: dict[str, Any], doc: RawDoc) -> Converted | ConversionError:
    if "converted" in answer:
        return Converted.model_validate(answer["converted"])
    if "refused" in answer:
        return ConversionError(**answer["refused"])
    return _fault(answer["failed"], doc)


def _fault(name: str, doc: RawDoc) -> ConversionError:
    what, cure = f"its content broke the converter ({name}).", f"Open it and save it again, {_EXCLUDE}"
    if name == "MemoryError":
        what, cure = (
            "it needs more memory than a conversion may use.",
            f"Raise convert_memory_mb if you trust it, {_EXCLUDE}",
        )
    return ConversionError(what, where=doc.doc_id, cure=cure)
