"""Runs the look-ups of a plan side by side, each within its time; what fails is a result that says so.

A look-up that hangs is left behind in its own thread: it holds up neither the others nor the end of the process.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextvars import copy_context
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread

from kb_pipeline.errors import KbError
from kb_pipeline.query.tools import Desk, Lookup
from kb_pipeline.records import Tool, ToolCall, ToolResult


def carried_out(
    calls: Sequence[ToolCall], tools: Mapping[Tool, Lookup], desk: Desk, seconds: float
) -> Iterator[ToolResult]:
    """One result a call, in the order in which they are done; ``seconds`` is the time that each may take."""
    done: SimpleQueue[tuple[int, ToolResult]] = SimpleQueue()
    waiting = dict(enumerate(calls))
    for n, call in waiting.items():
        work = partial(copy_context().run, _put, done, n, call, tools, desk)
        Thread(target=work, daemon=True).start()
    until = time.monotonic() + seconds
    while waiting:
        try:
            n, result = done.get(timeout=max(until - time.monotonic(), 0))
        except Empty:
            break
        del waiting[n]
        yield result
    for call in waiting.values():
        yield ToolResult(call=call, failed=f"took longer than {seconds:g} s", ms=seconds * 1000)


def _put(
    done: "SimpleQueue[tuple[int, ToolResult]]", n: int, call: ToolCall, tools: Mapping[Tool, Lookup], desk: Desk
) -> None:
    done.put((n, _run(call, tools, desk)))


def _run(call: ToolCall, tools: Mapping[Tool, Lookup], desk: Desk) -> ToolResult:
    started = time.perf_counter()
    try:
        found = tuple(e.model_copy(update={"tool": call.tool}) for e in tools[call.tool](call, desk))
        failed = ""
    except KbError as error:
        found, failed = (), str(error).removeprefix(f"{call.tool}: ")  # the answer names the tool
    except Exception as error:  # noqa: BLE001 - one tool that breaks must not take the answer with it
        found, failed = (), f"{type(error).__name__}: {error}"
    return ToolResult(
        call=call,
        evidence=found,
        failed=failed,
        note=desk.notes.get(call, ""),
        ms=round((time.perf_counter() - started) * 1000, 3),
    )
